/**
 * Runs members in batches, without a timer: a single member runs immediately, and members that arrive while the maximum
 * number of runs is in progress share the next run. The longer a run takes, the more members the next run has.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { LinkedQueue } from "./LinkedQueue.ts"

/** Limits of a batch. */
export interface Limits {
  /** Maximum number of members in one run. */
  readonly maxSize: number
  /** Maximum number of runs in progress. */
  readonly concurrency: number
}

/** Limits, and the effect that runs members. */
export interface Options<Member, A, E> extends Limits {
  /**
   * Runs the members that `take` returns. The result has one exit for each member, in order; if the run fails, all its
   * members fail. The run is interrupted once all its members are withdrawn.
   */
  readonly run: (handle: Handle<Member>) => Effect.Effect<Exits<A, E>, E>
}

/** Limits, and the function that runs members. */
export interface CallbackOptions<Member, A, E> extends Limits {
  /**
   * Like `run` of `Options`. It calls `end` once, also after the returned function, which stops the run, was called;
   * further calls of `end` are ignored.
   */
  readonly run: (handle: Handle<Member>, end: (exit: Exit.Exit<Exits<A, E>, E>) => void) => () => void
}

type Exits<A, E> = ReadonlyArray<Exit.Exit<A, E>>

/** Gives a run access to its members. */
export interface Handle<Member> {
  /**
   * Takes the waiting members, at most `maxSize`. A run calls it as late as possible: members withdrawn before the call
   * are not run, and members that arrive before the call are included. A run that retries calls it again, and receives
   * its members that are not withdrawn, followed by waiting members. If a run fails without calling it, the waiting
   * members fail.
   */
  readonly take: () => ReadonlyArray<Member>
}

/**
 * Submits a member and calls `done` at the end of its run. The returned function withdraws the member: `done` is not
 * called, and a waiting member is not run.
 */
export type Submit<Member, A, E = never> = (
  member: Member,
  done: (exit: Exit.Exit<A, E>) => void
) => () => void

interface Entry<Member, A, E> {
  readonly member: Member
  readonly done: (exit: Exit.Exit<A, E>) => void
  run: Run | undefined
  isWithdrawn: boolean
}

interface Run {
  stop: () => void
  hasEnded: boolean
  /** Number of members that were taken and not withdrawn. */
  wanted: number
}

/**
 * Creates a submit function; runs use the context of the caller of `make`. A run yields first, so that members of all
 * fibers that are ready to run now share the run. A run that is interrupted ends at once, because a driver may need
 * seconds to cancel a statement. Calls `onIdle` when there are neither members nor runs.
 */
export const make = <Member, A, E>(
  { run, ...limits }: Options<Member, A, E>,
  onIdle?: () => void
): Effect.Effect<Submit<Member, A, E>> =>
  Effect.map(Effect.context<never>(), (context) => {
    const runFork = Effect.runForkWith(context)
    return makeWithCallbacks(
      {
        ...limits,
        run: (handle, end) => {
          const fiber = runFork(
            Effect.andThen(
              Effect.yieldNow,
              Effect.suspend(() => run(handle))
            )
          )
          fiber.addObserver(end)
          return () => {
            fiber.interruptUnsafe()
            end(Exit.succeed([]))
          }
        }
      },
      onIdle
    )
  })

/** Creates a submit function whose runs use no effects; calls `onIdle` when it has neither members nor runs. */
export const makeWithCallbacks = <Member, A, E>(
  { concurrency, maxSize, run }: CallbackOptions<Member, A, E>,
  onIdle: () => void = () => {}
): Submit<Member, A, E> => {
  const waiting = new LinkedQueue<Entry<Member, A, E>>()
  let running = 0
  /** The run that has not called `take` yet, if any. Until it does, no other run starts. */
  let opening: Run | undefined

  const start = (): void => {
    if (opening !== undefined || waiting.size === 0 || running === concurrency) return
    const currentRun: Run = { stop: () => {}, hasEnded: false, wanted: 0 }
    let entries: Array<Entry<Member, A, E>> = []
    opening = currentRun
    running++

    const take = () => {
      entries = entries.filter(({ isWithdrawn }) => !isWithdrawn)
      while (entries.length < maxSize) {
        const entry = waiting.shift()
        if (entry === undefined) break
        entry.run = currentRun
        entries.push(entry)
      }
      currentRun.wanted = entries.length
      if (opening === currentRun) {
        opening = undefined
        start()
      }
      return entries.map(({ member }) => member)
    }

    currentRun.stop = run({ take }, (exit) => {
      if (currentRun.hasEnded) return
      currentRun.hasEnded = true
      if (opening === currentRun) take()
      running--
      start()
      if (running === 0) onIdle()
      for (const [index, { done, isWithdrawn }] of entries.entries()) {
        if (isWithdrawn) continue
        done(Exit.isFailure(exit) ? Exit.failCause(exit.cause) : (exit.value[index] ?? missing))
      }
    })
  }

  return (member, done) => {
    const entry: Entry<Member, A, E> = { member, done, run: undefined, isWithdrawn: false }
    const place = waiting.add(entry)
    start()
    return () => {
      if (entry.isWithdrawn) return
      entry.isWithdrawn = true
      if (waiting.remove(place) || entry.run === undefined) return
      if (--entry.run.wanted === 0 && !entry.run.hasEnded) entry.run.stop()
    }
  }
}

const missing = Exit.die(new Error("a batch returned fewer exits than it had members"))
