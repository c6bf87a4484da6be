/** Manages a queue for each key; a queue exists only while it has members. */
import type * as Batch from "./Batch.ts"

/** Functions that determine the key of a member and create a queue. */
export interface Options<Member, A, E> {
  readonly keyOf: (member: Member) => string
  /** Creates the queue of a key. */
  readonly create: () => Batch.Submit<Member, A, E>
}

/** Queues by key. */
export interface KeyedQueues<Member, A, E> {
  /** Whether the key has a queue. */
  readonly has: (key: string) => boolean
  /** Submits a member to the queue of its key. */
  readonly submit: Batch.Submit<Member, A, E>
}

interface Queue<Member, A, E> {
  readonly submit: Batch.Submit<Member, A, E>
  members: number
}

/** Creates an empty set of queues. */
export const make = <Member, A, E>({ create, keyOf }: Options<Member, A, E>): KeyedQueues<Member, A, E> => {
  const queues = new Map<string, Queue<Member, A, E>>()

  const queueOf = (key: string): Queue<Member, A, E> => {
    const known = queues.get(key)
    if (known !== undefined) return known
    const queue = { submit: create(), members: 0 }
    queues.set(key, queue)
    return queue
  }

  const submit: Batch.Submit<Member, A, E> = (member, done) => {
    const key = keyOf(member)
    const queue = queueOf(key)
    queue.members++
    let isOver = false
    const leave = () => {
      isOver = true
      if (--queue.members === 0) queues.delete(key)
    }
    const withdraw = queue.submit(member, (exit) => {
      leave()
      done(exit)
    })
    return () => {
      if (isOver) return
      leave()
      withdraw()
    }
  }

  return { has: (key) => queues.has(key), submit }
}
