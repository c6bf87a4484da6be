import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { AdmissionTurns } from "./AdmissionTurns.ts"

const MAX = 3

/** Runs an admission in turn, as the pipeline does. */
const run = <A>(turns: AdmissionTurns, caller: string, admission: Effect.Effect<A>, isOutage = false) =>
  Effect.suspend(() => {
    const turn = turns.enter(() => caller)
    const admitted = turn.hasCome ? admission : Effect.andThen(turns.wait(turn), admission)
    return Effect.onExit(admitted, () => Effect.sync(() => turns.leave(turn, isOutage)))
  })

/** Requests of callers that all arrive before the first one ends; some clients disconnect while they wait. */
const arrivals = fc.array(fc.record({ caller: fc.constantFrom("a", "b", "c"), disconnects: fc.boolean() }), {
  maxLength: 30
})

describe("AdmissionTurns", () => {
  it("runs every admission, at most so many at a time, in the order of callers that take turns", () =>
    fc.assert(
      fc.asyncProperty(arrivals, async (given) => {
        const turns = new AdmissionTurns(MAX)
        const started: Array<number> = []
        let inProgress = 0
        const latch = Latch.makeUnsafe()
        const admission = (index: number) =>
          Effect.gen(function* () {
            started.push(index)
            inProgress++
            expect(inProgress).toBeLessThanOrEqual(MAX)
            yield* latch.await
            inProgress--
          })
        const fibers = given.map(({ caller }, index) => Effect.runFork(run(turns, caller, admission(index))))
        expect(started).toEqual(given.map((_, index) => index).slice(0, MAX))
        const waiting = given
          .map(({ caller, disconnects }, index) => ({ caller, disconnects, index }))
          .slice(MAX)
        for (const { disconnects, index } of waiting) {
          const fiber = fibers[index]
          if (disconnects && fiber !== undefined) await Effect.runPromise(Fiber.interrupt(fiber))
        }
        latch.openUnsafe()
        await Effect.runPromise(Fiber.awaitAll(fibers))

        const left = waiting.filter(({ disconnects }) => !disconnects)
        expect(started.slice(MAX)).toEqual(inTurns(left, waiting))
        expect(inProgress).toBe(0)
      })
    ))

  it("starts all that wait once a store is unavailable, so that none waits for the deadlines of others", async () => {
    const turns = new AdmissionTurns(1)
    const latches = ["a", "a", "b"].map(() => Latch.makeUnsafe())
    let started = 0
    const fibers = latches.map((latch, index) => {
      const admission = Effect.suspend(() => {
        started++
        return latch.await
      })
      return Effect.runFork(run(turns, index < 2 ? "a" : "b", admission, true))
    })
    expect(started).toBe(1)
    latches[0]?.openUnsafe()
    await expect.poll(() => started).toBe(3)
    for (const latch of latches) latch.openUnsafe()
    await Effect.runPromise(Fiber.awaitAll(fibers))
    expect(await Effect.runPromise(run(turns, "c", Effect.succeed("next")))).toBe("next")
  })
})

interface Waiting {
  readonly caller: string
  readonly index: number
}

/** The order in which requests start: one of each caller in turn, and the callers in the order in which they came. */
const inTurns = (left: ReadonlyArray<Waiting>, arrived: ReadonlyArray<Waiting>): ReadonlyArray<number> => {
  const order: Array<number> = []
  let callers = [...new Set(arrived.map(({ caller }) => caller))]
  const queues = new Map(
    callers.map((caller) => [caller, left.filter((other) => other.caller === caller)] as const)
  )
  while (callers.length > 0) {
    callers = callers.filter((caller) => (queues.get(caller) ?? []).length > 0)
    for (const caller of callers) {
      const next = queues.get(caller)?.shift()
      if (next !== undefined) order.push(next.index)
    }
  }
  return order
}
