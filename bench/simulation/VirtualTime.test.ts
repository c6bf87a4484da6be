import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect, it } from "vitest"
import * as VirtualTime from "./VirtualTime.ts"

it("virtual time wakes each sleeping fiber exactly at its time, the earliest first", () => {
  const time = VirtualTime.make(1_000)
  const seen: Array<readonly [name: string, at: number]> = []
  const sleeper = (name: string, ms: number) =>
    Effect.gen(function* () {
      yield* Effect.sleep(ms)
      seen.push([name, yield* Clock.currentTimeMillis])
      yield* Effect.sleep(ms)
      seen.push([name, yield* Clock.currentTimeMillis])
    })
  for (const [name, ms] of [
    ["slow", 3_600_000],
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
    ["slow", 3_601_000],
    ["slow", 7_201_000]
  ])
})

it("virtual time does not wake a fiber that was interrupted while it slept", () => {
  const time = VirtualTime.make(0)
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
  expect(time.now()).toBe(20)
})

it("virtual time runs all ready fibers before the next event, even if that event has the same time", () => {
  const time = VirtualTime.make(0)
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
