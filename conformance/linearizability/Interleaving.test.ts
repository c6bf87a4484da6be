import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Interleaving from "./Interleaving.ts"

/** Asserts a law for arbitrary schedulers, because it must hold for every choice. */
const anyScheduler = (law: (scheduler: fc.Scheduler) => Promise<void>, numRuns = 20) =>
  fc.assert(fc.asyncProperty(Interleaving.scheduler(), law), { numRuns })

const expectExit = <A, E>(effect: Effect.Effect<A, E>, exit: Exit.Exit<A, E>, numRuns?: number) =>
  anyScheduler(async (scheduler) => {
    expect(await Interleaving.run(scheduler, effect)).toEqual(exit)
  }, numRuns)

describe("Interleaving.run with a program that succeeds, fails or is interrupted", () => {
  it("returns the value of a program that never yields", () => expectExit(Effect.succeed(1), Exit.succeed(1)))

  it("returns the failure or the defect of the program or of one of its fibers", async () => {
    await expectExit(Effect.fail("no"), Exit.fail("no"))
    await expectExit(Effect.yieldNow.pipe(Effect.andThen(Effect.die("broken"))), Exit.die("broken"))
    const failing = Effect.yieldNow.pipe(Effect.andThen(Effect.fail("no")))
    await expectExit(Effect.all([Effect.never, failing], { concurrency: "unbounded" }), Exit.fail("no"))
  })

  it("supports a program that interrupts itself or a fiber, and an interruption by a signal", async () => {
    await anyScheduler(async (scheduler) => {
      const exit = await Interleaving.run(scheduler, Effect.interrupt)
      expect(Exit.hasInterrupts(exit)).toBe(true)
    })
    const interrupted = Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.never)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      return Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    })
    await expectExit(interrupted, Exit.succeed(true))
    await anyScheduler(async (scheduler) => {
      const controller = new AbortController()
      let released = false
      const waiting = Effect.never.pipe(
        Effect.onInterrupt(() => Effect.yieldNow.pipe(Effect.andThen(Effect.sync(() => (released = true)))))
      )
      const exit = Interleaving.run(scheduler, waiting, { signal: controller.signal })
      controller.abort()
      expect(Exit.hasInterrupts(await exit)).toBe(true)
      expect(released).toBe(true)
    })
  })
})

describe("Interleaving.run with external events", () => {
  const after1ms = Effect.callback<string>((resume) => {
    const timer = setTimeout(() => resume(Effect.succeed("rang")), 1)
    return Effect.sync(() => clearTimeout(timer))
  })

  it("resumes a fiber when a timer fires", () => expectExit(after1ms, Exit.succeed("rang"), 5))

  it("resumes a fiber when a timer of Effect's own clock fires", () =>
    expectExit(Effect.sleep(1).pipe(Effect.as("slept")), Exit.succeed("slept"), 5))

  it("resumes a fiber when a promise, a long chain of promises or a rejected promise settles", async () => {
    await expectExit(
      Effect.promise(async () => "resolved"),
      Exit.succeed("resolved")
    )
    const long = Effect.promise(async () => {
      for (let tick = 0; tick < 500; tick++) await Promise.resolve()
      return "resolved"
    })
    await expectExit(long, Exit.succeed("resolved"))
    const rejected = Effect.tryPromise({
      try: () => Promise.reject(new Error("no")),
      catch: () => "rejected"
    })
    await expectExit(rejected, Exit.fail("rejected"))
  })

  it("runs fibers that wait for a timer together with fibers that do not wait", () => {
    const steps = Effect.repeat(Effect.yieldNow, { times: 5 })
    const programs = [after1ms.pipe(Effect.tap(steps)), steps.pipe(Effect.as("stepped")), after1ms]
    return expectExit(
      Effect.all(programs, { concurrency: "unbounded" }),
      Exit.succeed(["rang", "stepped", "rang"]),
      5
    )
  })

  it("lets a timer fire while a fiber polls without a pause", () => {
    let rang = false
    const polling = Effect.gen(function* () {
      rang = false
      yield* Effect.forkChild(after1ms.pipe(Effect.andThen(Effect.sync(() => (rang = true)))))
      while (!rang) yield* Effect.yieldNow
      return "seen"
    })
    return expectExit(polling, Exit.succeed("seen"), 3)
  })

  it("runs several programs on the same scheduler", () =>
    anyScheduler(async (scheduler) => {
      const program = Effect.repeat(Effect.yieldNow, { times: 3 }).pipe(Effect.andThen(after1ms))
      const exits = await Promise.all([
        Interleaving.run(scheduler, program),
        Interleaving.run(scheduler, program),
        Interleaving.run(scheduler, Effect.succeed("immediate"))
      ])
      expect(exits).toEqual(["rang", "rang", "immediate"].map(Exit.succeed))
    }, 5))
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
    return expectExit(program, Exit.succeed(1), 100)
  })

  it("hold for a queue: it delivers messages in order", () => {
    const program = Effect.gen(function* () {
      const queue = yield* Queue.bounded<number>(1)
      const gate = yield* Deferred.make<void>()
      const takes = yield* Effect.forkChild(
        Deferred.await(gate).pipe(Effect.andThen(Effect.all([1, 2, 3].map(() => Queue.take(queue)))))
      )
      yield* Effect.forkChild(Effect.forEach([1, 2, 3], (message) => Queue.offer(queue, message)))
      yield* Deferred.succeed(gate, undefined)
      return yield* Fiber.join(takes)
    })
    return expectExit(program, Exit.succeed([1, 2, 3]), 50)
  })

  it("hold for the children of a fiber: they start in the order in which they were forked", () => {
    const program = Effect.gen(function* () {
      const started: Array<number> = []
      const children = yield* Effect.forEach([1, 2, 3], (child) =>
        Effect.forkChild(Effect.sync(() => started.push(child)))
      )
      yield* Effect.forEach(children, Fiber.join)
      return started
    })
    return expectExit(program, Exit.succeed([1, 2, 3]), 50)
  })

  it("hold for the test clock: it wakes all sleeping fibers", () => {
    const program = Effect.gen(function* () {
      const woken: Array<number> = []
      const sleepers = yield* Effect.forEach([30, 10, 20], (ms) =>
        Effect.forkChild(Effect.sleep(ms).pipe(Effect.andThen(Effect.sync(() => woken.push(ms)))))
      )
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      yield* TestClock.adjust(30)
      yield* Effect.forEach(sleepers, Fiber.join)
      return woken.toSorted()
    })
    return expectExit(program.pipe(Effect.provide(TestClock.layer())), Exit.succeed([10, 20, 30]), 10)
  })
})

describe("a fiber that outlives the program of Interleaving.run", () => {
  it("continues to run after the end of the program", () =>
    anyScheduler(async (scheduler) => {
      const ended = Deferred.makeUnsafe<void>()
      const detached = Effect.andThen(
        Effect.repeat(Effect.yieldNow, { times: 20 }),
        Deferred.succeed(ended, undefined)
      )
      await Interleaving.run(scheduler, Effect.forkDetach(detached))
      await Effect.runPromise(Deferred.await(ended))
    }))
})

describe("Interleaving.run with the option opsBeforeYield", () => {
  const countChoices = async (opsBeforeYield: number | undefined) => {
    const scheduler = fc.schedulerFor(Array.from({ length: 1000 }, (_, index) => index + 1))
    const program = Effect.forEach(Array.from({ length: 40 }), () => Effect.suspend(() => Effect.void))
    const options = opsBeforeYield === undefined ? {} : { opsBeforeYield }
    expect(Exit.isSuccess(await Interleaving.run(scheduler, program, options))).toBe(true)
    return scheduler.report().length
  }

  it("offers more choices for smaller values, and none for Infinity; the default is 3", async () => {
    expect(await countChoices(undefined)).toBe(await countChoices(3))
    expect(await countChoices(3)).toBeGreaterThan(await countChoices(10))
    expect(await countChoices(10)).toBeGreaterThan(0)
    expect(await countChoices(Number.POSITIVE_INFINITY)).toBe(0)
  })

  it("throws a RangeError for NaN and for values below 3, with which no fiber would make progress", () => {
    for (const opsBeforeYield of [2, 0, -1, Number.NaN]) {
      const scheduler = fc.schedulerFor([])
      expect(() => Interleaving.run(scheduler, Effect.void, { opsBeforeYield })).toThrow(RangeError)
    }
  })
})

describe("Interleaving.make", () => {
  it("runs the tasks of a dispatcher by priority, then in the order of scheduling; a flush runs all of them", () =>
    anyScheduler(async (scheduler) => {
      const dispatcher = Interleaving.make(scheduler).makeDispatcher()
      const ran: Array<string> = []
      const schedule = () => {
        for (const [name, priority] of [
          ["a", 1],
          ["b", 0],
          ["c", 1],
          ["d", 0],
          ["e", -1]
        ] as const) {
          dispatcher.scheduleTask(() => ran.push(name), priority)
        }
      }
      schedule()
      expect(ran).toEqual([])
      await scheduler.waitIdle()
      expect(ran.splice(0)).toEqual(["e", "b", "d", "a", "c"])
      schedule()
      dispatcher.flush()
      expect(ran).toEqual(["e", "b", "d", "a", "c"])
      await scheduler.waitIdle()
      expect(ran.length).toBe(5)
    }))

  it("runs one task of a dispatcher for each choice of the scheduler", () =>
    anyScheduler(async (scheduler) => {
      const dispatcher = Interleaving.make(scheduler).makeDispatcher()
      let ran = 0
      for (let task = 0; task < 3; task++) dispatcher.scheduleTask(() => ran++, 0)
      for (const expected of [1, 2, 3]) {
        await scheduler.waitNext(1)
        expect(ran).toBe(expected)
      }
    }))
})
