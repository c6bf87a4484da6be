/**
 * Natural batching: a lone member runs at once, and members that arrive while runs are in progress share the next run.
 * There is no timer: the longer a run takes, the more members the next one has.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"

/** How members are run. */
export interface Options<Member, A, E> {
  /**
   * Runs the members of `taken` and returns an exit for each, in order; if it fails, all of them fail. It is interrupted
   * once all of them are withdrawn.
   */
  readonly run: (taken: Taken<Member>) => Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, E>
  /** Maximum number of members in one run. */
  readonly maxSize: number
  /** Maximum number of runs in progress. */
  readonly concurrency: number
}

/** The members of a run. */
export interface Taken<Member> {
  /**
   * Takes the members that wait. A run calls it as late as it can: members that are withdrawn before are not run, and
   * members that arrive before take part. A run that starts again calls it again, and receives its members that are not
   * withdrawn, followed by those that wait. If a run fails without a call, it fails the members that wait.
   */
  readonly take: () => ReadonlyArray<Member>
  /** Whether any member is taken or waits. */
  readonly isWanted: () => boolean
}

/**
 * Submits a member and calls `done` at the end of its run. The returned function withdraws the member: it is not run
 * if it still waits, and in any case `done` is not called.
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
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  /** Members that were taken and not withdrawn. */
  wanted: number
}

/** Creates a submit function; runs use the context of the caller of `make`. */
export const make = <Member, A, E>({
  concurrency,
  maxSize,
  run
}: Options<Member, A, E>): Effect.Effect<Submit<Member, A, E>> =>
  Effect.map(Effect.context<never>(), (context) => {
    const runFork = Effect.runForkWith(context)
    const waiting = new Set<Entry<Member, A, E>>()
    let running = 0
    /** The run that has not taken members yet; another one would find none. */
    let opening: Run | undefined

    const start = (): void => {
      if (opening !== undefined || waiting.size === 0 || running === concurrency) return
      const own: Run = { fiber: undefined, wanted: 0 }
      let entries: Array<Entry<Member, A, E>> = []
      opening = own
      running++

      const take = () => {
        entries = entries.filter(({ isWithdrawn }) => !isWithdrawn)
        for (const entry of waiting) {
          if (entries.length === maxSize) break
          waiting.delete(entry)
          entry.run = own
          entries.push(entry)
        }
        own.wanted = entries.length
        if (opening === own) {
          opening = undefined
          start()
        }
        return entries.map(({ member }) => member)
      }

      const isWanted = () => own.wanted > 0 || (opening === own && waiting.size > 0)

      const end = (exit: Exit.Exit<ReadonlyArray<Exit.Exit<A, E>>, E>): void => {
        if (opening === own) take()
        running--
        start()
        for (const [index, { done, isWithdrawn }] of entries.entries()) {
          if (isWithdrawn) continue
          done(Exit.isFailure(exit) ? Exit.failCause(exit.cause) : (exit.value[index] ?? missing))
        }
      }

      // Members of all fibers that are ready to run now share the run.
      const fiber = runFork(
        Effect.andThen(
          Effect.yieldNow,
          Effect.suspend(() => run({ take, isWanted }))
        )
      )
      own.fiber = fiber
      fiber.addObserver(end)
    }

    const withdraw = (entry: Entry<Member, A, E>): void => {
      entry.isWithdrawn = true
      if (waiting.delete(entry) || entry.run === undefined) return
      const { run } = entry
      if (--run.wanted === 0) run.fiber?.interruptUnsafe()
    }

    return (member, done) => {
      const entry: Entry<Member, A, E> = { member, done, run: undefined, isWithdrawn: false }
      waiting.add(entry)
      start()
      return () => {
        if (!entry.isWithdrawn) withdraw(entry)
      }
    }
  })

const missing = Exit.die(new Error("a batch returned fewer exits than it had members"))
