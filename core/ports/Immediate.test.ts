import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Immediate from "./Immediate.ts"

describe("an effect that need not wait", () => {
  it.effect("does nothing before it is run, and everything each time it is", () =>
    Effect.gen(function* () {
      let count = 0
      const counting = Immediate.sync(() => ++count)
      expect(count).toBe(0)
      expect([yield* counting, yield* counting]).toEqual([1, 2])
      expect([Immediate.start(counting), Immediate.start(counting)]).toEqual([
        Exit.succeed(3),
        Exit.succeed(4)
      ])
      expect(count).toBe(4)
    })
  )

  const bug = new Error("a bug")
  const ends: ReadonlyArray<
    readonly [what: string, Immediate.Immediate<number, string>, Exit.Exit<number, string>]
  > = [
    ["a value", Immediate.sync(() => 7), Exit.succeed(7)],
    ["a failure", new Immediate.Immediate(() => Effect.fail("no")), Exit.fail("no")],
    [
      "what it throws, as a defect",
      Immediate.sync(() => {
        throw bug
      }),
      Exit.die(bug)
    ]
  ]

  it.effect.each(ends)("ends in a fiber as it does without: with %s", ([, effect, exit]) =>
    Effect.gen(function* () {
      expect(yield* Effect.exit(effect)).toEqual(exit)
      const started = Immediate.start(effect)
      expect(Immediate.isDone(started)).toBe(true)
      expect(started).toEqual(exit)
    })
  )

  it.effect("leaves what has to wait to whoever runs it", () =>
    Effect.gen(function* () {
      let begun = 0
      let ended = 0
      const waiting = new Immediate.Immediate(() => {
        begun++
        return Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => ++ended)
        )
      })
      const rest = Immediate.start(waiting)
      expect([Immediate.isDone(rest), begun, ended]).toEqual([false, 1, 0])
      expect(yield* rest).toBe(1)
      expect([begun, ended]).toEqual([1, 1])
    })
  )
})

it("other effects are not started", () => {
  let ran = false
  const effect = Effect.sync(() => {
    ran = true
  })
  expect(Immediate.start(effect)).toBe(effect)
  expect(ran).toBe(false)
})
