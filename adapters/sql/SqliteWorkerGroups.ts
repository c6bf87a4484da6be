/**
 * Group commit in the thread that writes to SQLite: writes that arrive while a group is under way go in the next one, and
 * so wait for the disk once. A lone write goes at once.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import { CallObserver } from "../storage/CallObserver.ts"
import type { Submit } from "./GroupCommit.ts"
import type { Synchronous } from "./SqliteConnection.ts"
import { Claim, MAX_GROUP, type Writes } from "./SqliteWorkerJobs.ts"
import type { SqliteWorkerThread } from "./SqliteWorkerThread.ts"

/** How writes of one kind cross the boundary of the thread. */
export interface Codec<Write, A> {
  readonly encode: (writes: ReadonlyArray<Write>) => Writes
  /** The result of a write, from the results of its group and its index among them. */
  readonly decode: (results: ReadonlyArray<unknown>, index: number, write: Write) => A
}

interface Member<Write, A> {
  readonly write: Write
  readonly done: (exit: Exit.Exit<A, SqlError>) => void
  /** Withdraws the write from the group under way, if there it has not begun. */
  withdraw: () => void
}

/** Results of the writes with these indices in a group; the others were withdrawn. */
interface Committed {
  readonly indices: ReadonlyArray<number>
  readonly results: ReadonlyArray<unknown>
}

/** Creates a submit function; a withdrawn write whose group has not begun is never executed. */
export const make = <Write, A>(
  thread: SqliteWorkerThread,
  synchronous: Synchronous,
  codec: Codec<Write, A>
): Effect.Effect<Submit<Write, A>> =>
  Effect.map(CallObserver, (observer) => {
    const claimsFrom = thread.reserveClaims()
    const waiting = new Set<Member<Write, A>>()
    let isUnderWay = false
    let latestSize = 1

    const take = (): ReadonlyArray<Member<Write, A>> => {
      const group: Array<Member<Write, A>> = []
      for (const member of waiting) {
        if (group.push(member) === MAX_GROUP) break
      }
      for (const member of group) waiting.delete(member)
      return group
    }

    const next = (): void => {
      if (waiting.size === 0) {
        isUnderWay = false
        return
      }
      const group = take()
      latestSize = group.length
      const claims = thread.claims()
      for (const [index, member] of group.entries()) {
        const at = claimsFrom + index
        Atomics.store(claims, at, Claim.waiting)
        member.withdraw = () => Atomics.compareExchange(claims, at, Claim.waiting, Claim.withdrawn)
      }
      const writes = codec.encode(group.map(({ write }) => write))
      thread.submit({ kind: "group", claimsFrom, synchronous, writes }, (result) => {
        // The claims belong to the next group from here on.
        for (const member of group) member.withdraw = nothing
        if ("error" in result) for (const { done } of group) done(Exit.fail(result.error))
        else {
          // The worker returns this for a group.
          const { indices, results } = result.value as Committed
          if (indices.length > 0) observer?.committed(indices.length)
          for (const [index, of] of indices.entries()) {
            const member = group[of]
            member?.done(exitOf(() => codec.decode(results, index, member.write)))
          }
        }
        next()
      })
    }

    return (write, done) => {
      const member: Member<Write, A> = { write, done, withdraw: nothing }
      waiting.add(member)
      if (!isUnderWay) {
        isUnderWay = true
        // Under load, it includes the writes of all requests that have arrived now. A lone write need not wait for them.
        if (latestSize === 1) next()
        else setImmediate(next)
      }
      return () => {
        if (!waiting.delete(member)) member.withdraw()
      }
    }
  })

const nothing = (): void => {}

const exitOf = <A>(result: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(result())
  } catch (defect) {
    return Exit.die(defect)
  }
}
