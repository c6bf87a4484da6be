import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { VirtualTime } from "./VirtualTime.ts"

it("virtual time runs actions in order of time, and actions for the same time in the order in which they were added", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(0, 0.5, 1, 1.25, 7), fc.constantFrom(0, 0.25, 3))),
      (delays) => {
        const time = new VirtualTime(0)
        const ran: Array<readonly [at: number, added: number]> = []
        let added = 0
        const add = (afterMs: number, then?: () => void): void => {
          const order = added++
          time.after(afterMs, () => {
            ran.push([time.now, order])
            then?.()
          })
        }
        // Each action adds another action when it runs.
        for (const [first, second] of delays) add(first, () => add(second))
        time.run()
        expect(ran).toHaveLength(2 * delays.length)
        expect(ran).toEqual(ran.toSorted(([at, order], [otherAt, other]) => at - otherAt || order - other))
      }
    )
  )
})

it("virtual time wakes each sleeping fiber exactly at its time, the earliest first", () => {
  const time = new VirtualTime(1_000)
  const seen: Array<readonly [name: string, at: number]> = []
  const sleeper = (name: string, ms: number) =>
    Effect.gen(function* () {
      yield* Effect.sleep(ms)
      seen.push([name, yield* Clock.currentTimeMillis])
      yield* Effect.sleep(ms)
      seen.push([name, yield* Clock.currentTimeMillis])
    })
  for (const [name, ms] of [
    ["slow", 60_000],
    ["fast", 5],
    ["middle", 7.5]
  ] as const)
    Effect.runForkWith(time.context)(sleeper(name, ms))
  time.run()
  expect(seen).toEqual([
    ["fast", 1_005],
    ["middle", 1_007],
    ["fast", 1_010],
    ["middle", 1_015],
    ["slow", 61_000],
    ["slow", 121_000]
  ])
})

it("virtual time does not wake a fiber that was interrupted while it slept", () => {
  const time = new VirtualTime(0)
  const woken: Array<string> = []
  const sleeper = Effect.runForkWith(time.context)(
    Effect.andThen(
      Effect.sleep(10),
      Effect.sync(() => woken.push("sleeper"))
    )
  )
  time.after(5, () => sleeper.interruptUnsafe())
  time.after(20, () => woken.push("end"))
  time.run()
  expect(woken).toEqual(["end"])
  expect(time.now).toBe(20)
})

it("virtual time runs all ready fibers before the next event, even if that event has the same time", () => {
  const time = new VirtualTime(0)
  const order: Array<string> = []
  time.after(1, () => {
    const child = Effect.runForkWith(time.context)(
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => order.push("child"))
      )
    )
    Effect.runForkWith(time.context)(
      Effect.andThen(
        Fiber.await(child),
        Effect.sync(() => order.push("parent"))
      )
    )
  })
  time.after(1, () => order.push("next"))
  time.run()
  expect(order).toEqual(["child", "parent", "next"])
})
