/** Defines the queues of the thread that writes to SQLite, and the messages between it and the thread that serves. */
import type { MessagePort } from "node:worker_threads"
import type { Synchronous } from "./SqliteConnection.ts"
import * as SqliteCounting from "./SqliteCounting.ts"
import * as SqlScript from "./SqlScript.ts"

/** Maximum number of calls in one group, because all of them wait for its end. */
export const MAX_GROUP = 512

/** How the calls of a queue are executed. */
interface Queue {
  /** The transaction of a group of calls; returns a result for each of them, in order. */
  readonly steps: (calls: ReadonlyArray<never>) => SqlScript.Steps<ReadonlyArray<unknown>>
  readonly synchronous: Synchronous
  /** Maximum number of calls in a group, which succeed or fail together. */
  readonly maxGroup: number
  /** Whether the transaction is only tried, and rolled back. */
  readonly isRehearsal: boolean
}

const scripts = { steps: SqlScript.all, synchronous: "FULL", maxGroup: 1, isRehearsal: false } as const

/** The queues. Calls of one queue that arrive during its transaction share the next one. */
export const queues = {
  /** Requests to count. */
  counts: { ...scripts, steps: SqliteCounting.steps, synchronous: "NORMAL", maxGroup: MAX_GROUP },
  /** Scripts that share transactions. */
  groups: { ...scripts, maxGroup: MAX_GROUP },
  /** Scripts with transactions of their own. */
  scripts,
  /** The same for scripts that may be lost in a power failure. */
  quickScripts: { ...scripts, synchronous: "NORMAL" },
  rehearsals: { ...scripts, isRehearsal: true }
} as const satisfies { readonly [name: string]: Queue }

type Queues = typeof queues

/** The name of a queue. */
export type Name = keyof Queues

/** The names of all queues. */
export const names = Object.keys(queues) as ReadonlyArray<Name> // the table has no other keys

/** A call of a queue. */
export type Call<N extends Name> = Parameters<Queues[N]["steps"]>[0][number]

/** The result of a call. */
export type Result<N extends Name> =
  ReturnType<Queues[N]["steps"]> extends SqlScript.Steps<ReadonlyArray<infer A>> ? A : never

/** Returns the transaction of calls of a queue. */
export const stepsOf = <N extends Name>(
  queue: N,
  calls: ReadonlyArray<Call<N>>
): SqlScript.Steps<ReadonlyArray<Result<N>>> => {
  // TypeScript does not relate the parameters and the results of one member of a union.
  const steps = queues[queue].steps as unknown as (
    calls: ReadonlyArray<Call<N>>
  ) => SqlScript.Steps<ReadonlyArray<Result<N>>>
  return steps(calls)
}

/** The data with which the worker thread starts. */
export interface WorkerData {
  readonly filename: string
  /** The claims of the calls of each group in progress. */
  readonly claims: Int32Array<SharedArrayBuffer>
  /** One number that changes with each message; the worker sleeps until it changes. */
  readonly signal: Int32Array<SharedArrayBuffer>
  /** Receives messages. A separate port, because Deno's `receiveMessageOnPort` does not accept `parentPort`. */
  readonly messages: MessagePort
}

/**
 * The state of a call in a group: the worker claims a call when its transaction has started, unless the call was
 * withdrawn before. Both threads change a waiting call with an atomic exchange, so exactly one of them succeeds.
 */
export const Claim = { waiting: 0, begun: 1, withdrawn: 2 } as const

/** Returns the index of the first claim of a queue, of which at most one group is in progress. */
export const firstClaim = (queue: Name): number => names.indexOf(queue) * MAX_GROUP

/** Calls that share a transaction; the worker executes the calls that it claims. */
export interface Group<N extends Name = Name> {
  readonly kind: "group"
  readonly queue: N
  readonly calls: ReadonlyArray<Call<N>>
}

/** A message to the worker. */
export type Message =
  | Group
  /** Checks the files of the database, and saves the write-ahead log if it was removed. */
  | { readonly kind: "check" }
  /** Ends the worker after the earlier groups; a group that waits for another process fails. */
  | { readonly kind: "close" }

/** An exception of the driver as data, because an error that is sent to another thread keeps only its message. */
export interface Thrown {
  readonly operation: string
  readonly message: string
  /** What the driver adds to the error, such as SQLite's result code. */
  readonly properties: object
}

/** The end of a group: the results in the order of the calls, with gaps for those that were withdrawn. */
export type Reply = { readonly queue: Name } & (
  | { readonly results: ReadonlyArray<unknown> }
  | { readonly thrown: Thrown }
)

/** The result of opening the database, which the worker sends first. */
export type Opened = { readonly opened: true } | { readonly opened: false; readonly thrown: Thrown }
