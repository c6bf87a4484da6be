/** Manages a queue for each key; a queue exists only until it is idle. */
import type * as Batch from "./Batch.ts"

/** Functions that determine the key of a member and create a queue. */
export interface Options<Member, A, E> {
  readonly keyOf: (member: Member) => string
  /** Creates the queue of a key, which calls `onIdle` when it has no members. */
  readonly create: (onIdle: () => void) => Batch.Submit<Member, A, E>
}

/** Queues by key. */
export interface KeyedQueues<Member, A, E> {
  /** Whether the key has a queue. */
  readonly has: (key: string) => boolean
  /** Submits a member to the queue of its key. */
  readonly submit: Batch.Submit<Member, A, E>
}

/** Creates an empty set of queues. */
export const make = <Member, A, E>({ create, keyOf }: Options<Member, A, E>): KeyedQueues<Member, A, E> => {
  const queues = new Map<string, Batch.Submit<Member, A, E>>()
  return {
    has: (key) => queues.has(key),
    submit: (member, done) => {
      const key = keyOf(member)
      let queue = queues.get(key)
      if (queue === undefined) {
        queue = create(() => queues.delete(key))
        queues.set(key, queue)
      }
      return queue(member, done)
    }
  }
}
