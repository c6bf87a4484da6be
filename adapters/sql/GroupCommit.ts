/**
 * Group commit: writes that arrive while others are being written share one transaction, and with it one wait for the
 * disk. Made for SQLite, where one transaction writes at a time.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Most writes of one transaction: they all wait for its end. */
const MAX_GROUP = 512

interface Waiting<Write, A> {
  readonly write: Write
  readonly answer: (exit: Exit.Exit<A, SqlError>) => void
}

/** Submits a write and calls `answer` when its group has ended. Withdrawn, by what this returns, before that begins, it is not written. */
export type Submit<Write, A> = (write: Write, answer: (exit: Exit.Exit<A, SqlError>) => void) => () => void

/**
 * Makes the function that takes writes. `commit` carries out a group of writes within one transaction and answers
 * with an exit for each, in order; when it fails, nothing of the group is stored and each of its writes fails.
 * While another process holds the lock a group waits, and what is withdrawn stays unwritten.
 */
export const make = <Write, A>(
  sql: SqlClient.SqlClient,
  commit: (writes: ReadonlyArray<Write>) => WriteTransaction.Steps<ReadonlyArray<Exit.Exit<A>>>
): Effect.Effect<Submit<Write, A>> =>
  Effect.map(Effect.context<never>(), (context) => {
    const runFork = Effect.runForkWith(context)
    const waiting = new Set<Waiting<Write, A>>()
    let running = false
    const next = () => [...waiting].slice(0, MAX_GROUP)

    const drain = Effect.gen(function* () {
      let pauseMs: number = WriteTransaction.lockedPauseMs.first
      while (waiting.size > 0) {
        // Whoever is ready to write now comes along.
        yield* Effect.yieldNow
        let group = next()
        const exit = yield* Effect.exit(
          WriteTransaction.steps(sql, () => {
            // Once more: until it has begun some may have gone, and others have come.
            group = next()
            return commit(group.map(({ write }) => write))
          })
        )
        if (Exit.isFailure(exit) && isLocked(exit)) {
          yield* Effect.sleep(pauseMs)
          pauseMs = Math.min(pauseMs * 2, WriteTransaction.lockedPauseMs.longest)
          continue
        }
        pauseMs = WriteTransaction.lockedPauseMs.first
        for (const [index, member] of group.entries()) {
          waiting.delete(member)
          member.answer(Exit.isFailure(exit) ? Exit.failCause(exit.cause) : (exit.value[index] ?? unanswered))
        }
      }
      running = false
    })

    return (write, answer) => {
      const member = { write, answer }
      waiting.add(member)
      if (!running) {
        running = true
        runFork(drain)
      }
      return () => {
        waiting.delete(member)
      }
    }
  })

const isLocked = ({ cause }: Exit.Failure<unknown, SqlError>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && WriteTransaction.isLocked(reason.error))

const unanswered = Exit.die(new Error("a commit answered with fewer exits than it had writes"))
