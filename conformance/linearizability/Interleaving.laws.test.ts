import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Interleaving from "./Interleaving.ts"

type Increment = (counter: Ref.Ref<number>) => Effect.Effect<void>

const racy: Increment = (counter) =>
  Effect.gen(function* () {
    const seen = yield* Ref.get(counter)
    yield* Effect.yieldNow
    yield* Ref.set(counter, seen + 1)
  })

/** Increments without yielding, so that only the scheduler can make the fiber yield between read and write. */
const racyWithoutYield: Increment = (counter) =>
  Ref.get(counter).pipe(Effect.flatMap((seen) => Effect.suspend(() => Ref.set(counter, seen + 1))))

const atomic: Increment = (counter) =>
  Effect.yieldNow.pipe(Effect.andThen(Ref.update(counter, (value) => value + 1)))

/** Runs several fibers that increment a counter concurrently, and returns its final value. */
const finalCount = (increment: Increment, fibers: number): Effect.Effect<number> =>
  Effect.gen(function* () {
    const counter = yield* Ref.make(0)
    const increments = Array.from({ length: fibers }, () =>
      Effect.yieldNow.pipe(Effect.andThen(increment(counter)))
    )
    yield* Effect.all(increments, { concurrency: "unbounded" })
    return yield* Ref.get(counter)
  })

const losesNoUpdate = (increment: Increment, options?: Interleaving.RunOptions) =>
  fc.asyncProperty(Interleaving.scheduler(), fc.integer({ min: 2, max: 4 }), async (scheduler, fibers) => {
    const exit = await Interleaving.run(scheduler, finalCount(increment, fibers), options)
    expect(exit).toEqual(Exit.succeed(fibers))
  })

describe("Interleaving.run", () => {
  it("finds a lost update within 100 runs, with each of 20 seeds", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const details = await fc.check(losesNoUpdate(racy), { seed, numRuns: 100 })
      expect(details.failed).toBe(true)
    }
  })

  it("finds a lost update even if the program never yields between read and write", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const details = await fc.check(losesNoUpdate(racyWithoutYield), { seed, numRuns: 100 })
      expect(details.failed).toBe(true)
    }
    const unforced = losesNoUpdate(racyWithoutYield, { opsBeforeYield: Number.POSITIVE_INFINITY })
    expect((await fc.check(unforced, { numRuns: 50 })).failed).toBe(false)
  })

  it("also tries orders in which no update is lost", async () => {
    const seen = new Set<unknown>()
    await fc.check(
      fc.asyncProperty(Interleaving.scheduler(), async (scheduler) => {
        seen.add(JSON.stringify(await Interleaving.run(scheduler, finalCount(racy, 3))))
      }),
      { numRuns: 200 }
    )
    expect(seen).toEqual(new Set([1, 2, 3].map((count) => JSON.stringify(Exit.succeed(count)))))
  })

  it("finds no failure with an atomic update", () => fc.assert(losesNoUpdate(atomic), { numRuns: 200 }))

  it("reproduces a failure from the seed and the path, with or without shrinking", async () => {
    let shrunk = 0
    for (let seed = 0; seed < 60; seed++) {
      const first = await fc.check(losesNoUpdate(racy), { seed })
      expect(first.failed).toBe(true)
      const { counterexamplePath } = first
      if (counterexamplePath === null) throw new Error("the failure has no path")
      if (first.numShrinks > 0) shrunk++
      const again = await fc.check(losesNoUpdate(racy), {
        seed,
        path: counterexamplePath,
        endOnFailure: true
      })
      expect(again.numRuns).toBe(1)
      // The counterexample lists every choice.
      expect(fc.stringify(again.counterexample)).toContain("fiber 2")
      expect(fc.stringify(again.counterexample)).toBe(fc.stringify(first.counterexample))
      expect(String(again.errorInstance)).toBe(String(first.errorInstance))
    }
    expect(shrunk).toBeGreaterThan(20)
  })

  it("runs fibers in the same order for the same choices", () =>
    fc.assert(
      fc.asyncProperty(
        Interleaving.scheduler(),
        fc.array(fc.array(fc.nat(2), { maxLength: 4 }), { maxLength: 4 }),
        async (scheduler, programs) => {
          const trace = async (scheduler: fc.Scheduler) => {
            const seen: Array<string> = []
            const fibers = programs.map((waits, fiber) =>
              Effect.forEach(waits, (yields) =>
                Effect.sync(() => seen.push(`${fiber}`)).pipe(
                  Effect.andThen(Effect.repeat(Effect.yieldNow, { times: yields })),
                  Effect.andThen(Effect.promise(async () => seen.push(`promise of ${fiber}`)))
                )
              )
            )
            await Interleaving.run(scheduler, Effect.all(fibers, { concurrency: "unbounded" }))
            return seen
          }
          const first = await trace(scheduler)
          const order = scheduler.report().map(({ taskId }) => taskId)
          expect(await trace(fc.schedulerFor(order))).toEqual(first)
        }
      ),
      { numRuns: 50 }
    ))
})
