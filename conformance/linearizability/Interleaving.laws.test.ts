import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
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

/** Runs fibers that increment a counter concurrently, and returns its final value. */
const finalCount = (increment: Increment, seed: number, fibers = 3): Promise<number> => {
  const program = Effect.gen(function* () {
    const counter = yield* Ref.make(0)
    const increments = Array.from({ length: fibers }, () =>
      Effect.yieldNow.pipe(Effect.andThen(increment(counter)))
    )
    yield* Effect.all(increments, { concurrency: "unbounded" })
    return yield* Ref.get(counter)
  })
  return Effect.runPromise(Interleaving.run(seed, program))
}

/** Asserts a law for arbitrary seeds, because it must hold for every order. */
const forEachSeed = (law: (seed: number) => Promise<void>, numRuns = 50) =>
  fc.assert(fc.asyncProperty(fc.integer(), law), { numRuns })

const expectExit = <A, E>(program: Effect.Effect<A, E>, exit: Exit.Exit<A, E>, numRuns?: number) =>
  forEachSeed(async (seed) => {
    expect(await Effect.runPromiseExit(Interleaving.run(seed, program))).toEqual(exit)
  }, numRuns)

describe("Interleaving.run", () => {
  it.each([
    ["between read and write", racy],
    ["nowhere", racyWithoutYield]
  ])("loses an update with one of 20 consecutive seeds if the program yields %s", (_, increment) =>
    forEachSeed(async (seed) => {
      const runs = Array.from({ length: 20 }, (_, index) => finalCount(increment, seed + index))
      expect(Math.min(...(await Promise.all(runs)))).toBeLessThan(3)
    })
  )

  it("tries each final value that is possible", async () => {
    const seen = new Set(await Promise.all(Array.from({ length: 200 }, (_, seed) => finalCount(racy, seed))))
    expect(seen).toEqual(new Set([1, 2, 3]))
  })

  it("loses no atomic update", () =>
    fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 2, max: 4 }), async (seed, fibers) => {
        expect(await finalCount(atomic, seed, fibers)).toBe(fibers)
      })
    ))

  it("runs fibers in the same order for the same seed, also if they wait for promises", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.array(fc.array(fc.nat(2), { maxLength: 4 }), { maxLength: 4 }),
        async (seed, programs) => {
          const trace = async () => {
            const seen: Array<string> = []
            const fibers = programs.map((waits, fiber) =>
              Effect.forEach(waits, (yields) =>
                Effect.sync(() => seen.push(`${fiber}`)).pipe(
                  Effect.andThen(Effect.repeat(Effect.yieldNow, { times: yields })),
                  Effect.andThen(Effect.promise(async () => seen.push(`promise of ${fiber}`)))
                )
              )
            )
            await Effect.runPromise(Interleaving.run(seed, Effect.all(fibers, { concurrency: "unbounded" })))
            return seen
          }
          expect(await trace()).toEqual(await trace())
        }
      ),
      { numRuns: 50 }
    ))
})

describe("the result of Interleaving.run", () => {
  it("is the failure or the defect of the program or of one of its fibers", async () => {
    await expectExit(Effect.yieldNow.pipe(Effect.andThen(Effect.die("broken"))), Exit.die("broken"))
    const failing = Effect.yieldNow.pipe(Effect.andThen(Effect.fail("no")))
    await expectExit(Effect.all([Effect.never, failing], { concurrency: "unbounded" }), Exit.fail("no"))
  })

  it("is an interruption after the program's finalizers if the run is interrupted", () =>
    forEachSeed(async (seed) => {
      const started = Deferred.makeUnsafe<void>()
      let released = false
      const waiting = Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Effect.yieldNow.pipe(Effect.andThen(Effect.sync(() => (released = true)))))
      )
      const fiber = Effect.runFork(Interleaving.run(seed, waiting))
      await Effect.runPromise(Effect.andThen(Deferred.await(started), Fiber.interrupt(fiber)))
      expect(released).toBe(true)
    }))
})

describe("Interleaving.run with external events", () => {
  const after1ms = Effect.callback<string>((resume) => {
    const timer = setTimeout(() => resume(Effect.succeed("rang")), 1)
    return Effect.sync(() => clearTimeout(timer))
  })

  it("resumes fibers that wait for a timer or a promise, together with fibers that do not wait", () => {
    const steps = Effect.repeat(Effect.yieldNow, { times: 5 })
    const rejected = Effect.tryPromise({ try: () => Promise.reject(new Error("no")), catch: () => "no" })
    const programs = [
      after1ms.pipe(Effect.tap(steps)),
      steps.pipe(Effect.as("stepped")),
      Effect.sleep(1).pipe(Effect.as("slept")),
      Effect.flip(rejected)
    ]
    const expected = Exit.succeed(["rang", "stepped", "slept", "no"])
    return expectExit(Effect.all(programs, { concurrency: "unbounded" }), expected, 5)
  })

  it("lets a timer fire while a fiber polls without a pause", () => {
    const polling = Effect.gen(function* () {
      let rang = false
      yield* Effect.forkChild(after1ms.pipe(Effect.andThen(Effect.sync(() => (rang = true)))))
      while (!rang) yield* Effect.yieldNow
      return "seen"
    })
    return expectExit(polling, Exit.succeed("seen"), 3)
  })

  it("also runs a fiber that outlives the program", () =>
    forEachSeed(async (seed) => {
      const ended = Deferred.makeUnsafe<void>()
      const steps = Effect.repeat(Effect.yieldNow, { times: 20 })
      const detached = Effect.forkDetach(Effect.andThen(steps, Deferred.succeed(ended, undefined)))
      await Effect.runPromise(Interleaving.run(seed, detached))
      await Effect.runPromise(Deferred.await(ended))
    }))
})

describe("Effect's guarantees under Interleaving.run", () => {
  it("hold for a semaphore: it admits one fiber at a time", () => {
    const program = Effect.gen(function* () {
      const semaphore = yield* Semaphore.make(1)
      let inside = 0
      let maxInside = 0
      const enter = semaphore.withPermits(1)(
        Effect.gen(function* () {
          maxInside = Math.max(maxInside, ++inside)
          yield* Effect.yieldNow
          inside--
        })
      )
      yield* Effect.all([enter, enter, enter], { concurrency: "unbounded" })
      return maxInside
    })
    return expectExit(program, Exit.succeed(1))
  })

  it("hold for a queue and for children: messages and starts keep their order", () => {
    const program = Effect.gen(function* () {
      const queue = yield* Queue.bounded<number>(1)
      yield* Effect.forkChild(Effect.forEach([1, 2, 3], (message) => Queue.offer(queue, message)))
      const taken = yield* Effect.all([1, 2, 3].map(() => Queue.take(queue)))
      const children = yield* Effect.forEach([4, 5, 6], (child) =>
        Effect.forkChild(Effect.sync(() => taken.push(child)))
      )
      yield* Effect.forEach(children, Fiber.join)
      return taken
    })
    return expectExit(program, Exit.succeed([1, 2, 3, 4, 5, 6]))
  })
})
