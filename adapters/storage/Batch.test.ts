import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Batch from "./Batch.ts"
import * as BoundedCall from "./BoundedCall.ts"

interface Run {
  readonly members: ReadonlyArray<number>
  readonly end: (exit: Exit.Exit<ReadonlyArray<Exit.Exit<number, string>>, string>) => void
  /** Ends the run; the result of each member is the member itself. */
  readonly succeed: () => void
}

/** Creates a batch whose runs are ended by the test. */
const setUp = Effect.fnUntraced(function* (options: {
  readonly maxSize: number
  readonly concurrency: number
}) {
  const runs: Array<Run> = []
  const submit = yield* Batch.make<number, number, string>({
    ...options,
    run: ({ take }) =>
      Effect.callback((resume) => {
        const members = take()
        runs.push({
          members,
          end: resume,
          succeed: () => resume(Exit.succeed(members.map((member) => Exit.succeed(member))))
        })
      })
  })
  const call = BoundedCall.make<string>(1_000, (cause) =>
    Effect.fail(new StoreUnavailable({ retryable: true, cause }))
  )
  const fork = (member: number) =>
    Effect.forkChild(
      call.submit<number>((done) => submit(member, done)),
      { startImmediately: true }
    )
  return { fork, runs }
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

it.effect("Batch runs concurrent members together, up to the maximum size and in order of submission", () =>
  Effect.gen(function* () {
    const { fork, runs } = yield* setUp({ maxSize: 4, concurrency: 3 })
    yield* Effect.forEach(numbers(10), fork)
    yield* Effect.yieldNow
    yield* Effect.yieldNow
    yield* Effect.yieldNow
    expect(runs.map(({ members }) => members)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9]
    ])
  })
)

it.effect("members wait while the maximum number of runs is in progress, and then share the next run", () =>
  Effect.gen(function* () {
    const { fork, runs } = yield* setUp({ maxSize: 100, concurrency: 2 })
    yield* fork(0)
    yield* Effect.yieldNow
    yield* fork(1)
    yield* Effect.yieldNow
    const callers = yield* Effect.forEach([2, 3, 4], fork)
    yield* Effect.yieldNow
    expect(runs.map(({ members }) => members)).toEqual([[0], [1]])
    runs[1]?.succeed()
    yield* Effect.yieldNow
    yield* Effect.yieldNow
    expect(runs.map(({ members }) => members)).toEqual([[0], [1], [2, 3, 4]])
    runs[2]?.succeed()
    expect(yield* Effect.forEach(callers, Fiber.join)).toEqual([2, 3, 4])
  })
)

it.effect("a member times out at its own deadline, even while it waits for a run", () =>
  Effect.gen(function* () {
    const { fork, runs } = yield* setUp({ maxSize: 100, concurrency: 1 })
    const early = yield* Effect.forEach([1, 2], fork)
    yield* TestClock.adjust(600)
    const waiting = yield* fork(3)
    yield* TestClock.adjust(399)
    expect(early.map((caller) => caller.pollUnsafe())).toEqual([undefined, undefined])
    yield* TestClock.adjust(1)
    for (const caller of early) expect((yield* Effect.flip(Fiber.join(caller))).retryable).toBe(true)
    // All members of the first run have timed out, so the next run begins.
    yield* Effect.yieldNow
    expect(runs.map(({ members }) => members)).toEqual([[1, 2], [3]])
    runs[1]?.succeed()
    expect(yield* Fiber.join(waiting)).toBe(3)
  })
)

it.effect("the failure of one member does not affect other members of the same run", () =>
  Effect.gen(function* () {
    const { fork, runs } = yield* setUp({ maxSize: 100, concurrency: 1 })
    const callers = yield* Effect.forEach([0, 1, 2, 3], fork)
    yield* Effect.yieldNow
    const bug = new Error("a bug")
    runs[0]?.end(Exit.succeed([Exit.succeed(10), Exit.die(bug), Exit.fail("rejected"), Exit.succeed(13)]))
    const exits = yield* Effect.forEach(callers, Fiber.await)
    expect(exits.map((exit) => (Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)))).toEqual([
      10,
      bug,
      new StoreUnavailable({ retryable: true, cause: "rejected" }),
      13
    ])
  })
)

it.effect("a run that fails before it takes members fails the waiting members", () =>
  Effect.gen(function* () {
    const submit = yield* Batch.make<number, number, string>({
      run: () => Effect.fail("no connection"),
      maxSize: 2,
      concurrency: 1
    })
    const failed: Array<number> = []
    for (const member of [0, 1, 2]) submit(member, (exit) => failed.push(Exit.isFailure(exit) ? member : -1))
    for (let turn = 0; turn < 4; turn++) yield* Effect.yieldNow
    expect(failed).toEqual([0, 1, 2])
  })
)

it.effect("a member without an exit fails with a defect, even if the run never took it", () =>
  Effect.gen(function* () {
    for (const run of [
      ({ take }: Batch.Handle<number>) => Effect.as(Effect.sync(take), []),
      () => Effect.succeed([])
    ]) {
      const submit = yield* Batch.make<number, number, string>({ run, maxSize: 2, concurrency: 1 })
      const outcome = Deferred.makeUnsafe<number, string>()
      submit(1, (exit) => Deferred.doneUnsafe(outcome, exit))
      const exit = yield* Effect.exit(Deferred.await(outcome))
      expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
    }
  })
)
