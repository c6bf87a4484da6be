/**
 * Commits writes in groups in the worker thread that writes to SQLite. Writes that arrive during the commit of a group
 * form the next group, which is flushed to the disk once. Without load, a single write is submitted immediately.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import { CallObserver } from "../storage/CallObserver.ts"
import { LinkedQueue } from "../storage/LinkedQueue.ts"
import type { Submit } from "./GroupCommit.ts"
import type { Synchronous } from "./SqliteConnection.ts"
import { Claim, MAX_GROUP, type Writes } from "./SqliteWorkerJobs.ts"
import type { SqliteWorkerThread } from "./SqliteWorkerThread.ts"

/** Encodes writes of one kind for the worker thread, and decodes their results. */
export interface Codec<Write, A> {
  readonly encode: (writes: ReadonlyArray<Write>) => Writes
  /** Returns the result of a write; `index` is its position in the results of its group. */
  readonly decode: (results: ReadonlyArray<unknown>, index: number, write: Write) => A
}

interface Member<Write, A> {
  readonly write: Write
  readonly done: (exit: Exit.Exit<A, SqlError>) => void
  /** The write's claim in shared memory, by which it is withdrawn; `undefined` unless its group is submitted. */
  claim: ClaimPosition | undefined
}

/** The position of a write's claim in shared memory. */
interface ClaimPosition {
  readonly claims: Int32Array
  readonly index: number
}

/** The executed writes of a group: their indices in the group, and their results. Other writes were withdrawn. */
interface GroupResult {
  readonly indices: ReadonlyArray<number>
  readonly results: ReadonlyArray<unknown>
}

/** Creates a submit function. A write that is withdrawn before its group starts is never executed. */
export const make = <Write, A>(
  thread: SqliteWorkerThread,
  synchronous: Synchronous,
  codec: Codec<Write, A>
): Effect.Effect<Submit<Write, A>> =>
  Effect.map(CallObserver, (observer) => {
    const claimsFrom = thread.reserveClaims()
    const waiting = new LinkedQueue<Member<Write, A>>()
    let isInProgress = false
    let latestSize = 1

    const take = (): ReadonlyArray<Member<Write, A>> => {
      const group: Array<Member<Write, A>> = []
      while (group.length < MAX_GROUP) {
        const member = waiting.shift()
        if (member === undefined) break
        group.push(member)
      }
      return group
    }

    const submitNext = (): void => {
      if (waiting.size === 0) {
        isInProgress = false
        return
      }
      const group = take()
      latestSize = group.length
      const claims = thread.claims()
      for (const [index, member] of group.entries()) {
        const claimIndex = claimsFrom + index
        Atomics.store(claims, claimIndex, Claim.waiting)
        member.claim = { claims, index: claimIndex }
      }
      const writes = codec.encode(group.map(({ write }) => write))
      thread.submit({ kind: "group", claimsFrom, synchronous, writes }, (result) => {
        // From now on, the next group uses these claims.
        for (const member of group) member.claim = undefined
        if ("error" in result) for (const { done } of group) done(Exit.fail(result.error))
        else {
          // The worker returns a value of this type for every group.
          const { indices, results } = result.value as GroupResult
          if (indices.length > 0) observer?.committed(indices.length)
          for (const [index, memberIndex] of indices.entries()) {
            const member = group[memberIndex]
            member?.done(exitOf(() => codec.decode(results, index, member.write)))
          }
        }
        submitNext()
      })
    }

    return (write, done) => {
      const member: Member<Write, A> = { write, done, claim: undefined }
      const place = waiting.add(member)
      if (!isInProgress) {
        isInProgress = true
        // Under load, submit the group after the pending I/O events, so that it includes the writes of all
        // requests that have already arrived. Otherwise, submit the write immediately.
        if (latestSize === 1) submitNext()
        else setImmediate(submitNext)
      }
      return () => {
        if (!waiting.remove(place)) withdraw(member.claim)
      }
    }
  })

const withdraw = (claim: ClaimPosition | undefined): void => {
  if (claim !== undefined) Atomics.compareExchange(claim.claims, claim.index, Claim.waiting, Claim.withdrawn)
}

const exitOf = <A>(result: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(result())
  } catch (defect) {
    return Exit.die(defect)
  }
}
