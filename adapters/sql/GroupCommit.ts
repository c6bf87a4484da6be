/**
 * Group commit: writes that arrive during a transaction share the next one, and so wait for the disk once. Made for
 * SQLite, which runs one write transaction at a time.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { CallObserver } from "../storage/CallObserver.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Maximum number of writes in one transaction: all of them wait for its end. */
const MAX_GROUP = 512

interface Waiting<Write, A> {
  readonly write: Write
  readonly done: (exit: Exit.Exit<A, SqlError>) => void
}

/**
 * Submits a write and calls `done` at the end of its group. The returned function withdraws the write, if its group has
 * not begun yet.
 */
export type Submit<Write, A> = (write: Write, done: (exit: Exit.Exit<A, SqlError>) => void) => () => void

/**
 * Creates a submit function. `commit` executes a group of writes in one transaction and returns an exit for each, in
 * order; if it fails, no write of the group is stored and each of them fails. A group waits while another process holds
 * the lock; writes withdrawn meanwhile are not executed.
 */
export const make = <Write, A>(
  sql: SqlClient.SqlClient,
  commit: (writes: ReadonlyArray<Write>) => WriteTransaction.Steps<ReadonlyArray<Exit.Exit<A>>>
): Effect.Effect<Submit<Write, A>> =>
  Effect.map(Effect.context<never>(), (context) => {
    const runFork = Effect.runForkWith(context)
    const observer = Context.get(context, CallObserver)
    const waiting = new Set<Waiting<Write, A>>()
    let running = false
    const next = () => [...waiting].slice(0, MAX_GROUP)

    const drain = Effect.gen(function* () {
      let pauseMs: number = WriteTransaction.lockedPauseMs.first
      while (waiting.size > 0) {
        // Includes the writes of all fibers that are ready to run now.
        yield* Effect.yieldNow
        let group = next()
        const exit = yield* Effect.exit(
          WriteTransaction.steps(sql, () => {
            // Again, because writes may have been withdrawn or submitted before the transaction began.
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
        if (Exit.isSuccess(exit)) observer?.committed(group.length)
        for (const [index, member] of group.entries()) {
          waiting.delete(member)
          member.done(Exit.isFailure(exit) ? Exit.failCause(exit.cause) : (exit.value[index] ?? missingExit))
        }
      }
      running = false
    })

    return (write, done) => {
      const member = { write, done }
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

const missingExit = Exit.die(new Error("a commit returned fewer exits than it had writes"))
