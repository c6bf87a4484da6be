/** Defines the messages between the thread that serves requests and the thread that writes to SQLite. */
import type { MessagePort } from "node:worker_threads"
import type { Synchronous, Values } from "./SqliteConnection.ts"
import * as SqliteCounting from "./SqliteCounting.ts"
import * as SqlScript from "./SqlScript.ts"

/** The transactions that the worker runs, each for several calls; the results are in the order of the calls. */
export const transactions = {
  /** Executes the statement `sql` with the parameters of each call, and returns the rows of each. */
  statements: function* (
    calls: ReadonlyArray<ReadonlyArray<unknown>>,
    sql: string
  ): SqlScript.Steps<ReadonlyArray<Values>> {
    const results: Array<Values> = []
    for (const params of calls) results.push(yield [sql, params])
    return results
  },
  scripts: function* (
    scripts: ReadonlyArray<SqlScript.Script>
  ): SqlScript.Steps<ReadonlyArray<SqlScript.Outcome>> {
    const outcomes: Array<SqlScript.Outcome> = []
    for (const script of scripts) outcomes.push(yield* SqlScript.steps(script))
    return outcomes
  },
  counts: SqliteCounting.steps
}

export type Transactions = typeof transactions

/** The name of a transaction. */
export type Name = keyof Transactions

/** A call of a transaction. */
export type Call<N extends Name> = Parameters<Transactions[N]>[0][number]

/** The results of all calls of a transaction. */
export type Results<N extends Name> = ReturnType<Transactions[N]> extends SqlScript.Steps<infer A> ? A : never

/** Returns the steps of a transaction for some of its calls. */
export const stepsOf = <N extends Name>(
  name: N,
  calls: ReadonlyArray<Call<N>>,
  sql: string
): SqlScript.Steps<Results<N>> => {
  // TypeScript does not relate the parameters and the results of one member of a union.
  const steps = transactions[name] as unknown as (
    calls: ReadonlyArray<Call<N>>,
    sql: string
  ) => SqlScript.Steps<Results<N>>
  return steps(calls, sql)
}

/** The data with which the worker thread starts. */
export interface WorkerData {
  readonly filename: string
  /** The claims of the calls of each group in progress, `MAX_GROUP` for each queue. */
  readonly claims: Int32Array<SharedArrayBuffer>
  /** One number that changes with each message; the worker sleeps until it changes. */
  readonly signal: Int32Array<SharedArrayBuffer>
  /** Receives messages. A separate port, because Deno's `receiveMessageOnPort` does not accept `parentPort`. */
  readonly messages: MessagePort
}

/** Maximum number of calls in one group, because all of them wait for its end. */
export const MAX_GROUP = 512

/**
 * The state of a call in a group: the worker claims a call when its transaction has started, unless the call was
 * withdrawn before. Both threads change a waiting call with an atomic exchange, so exactly one of them succeeds.
 */
export const Claim = { waiting: 0, begun: 1, withdrawn: 2 } as const

/** Calls that share a transaction; the worker executes the calls that it claims. */
export interface Group<N extends Name = Name> {
  readonly kind: "group"
  /** The queue of the calls; at most one group of each queue is in progress. */
  readonly queue: number
  readonly name: N
  readonly calls: ReadonlyArray<Call<N>>
  /** The statement of `statements`. */
  readonly sql: string
  readonly synchronous: Synchronous
  /** Whether the transaction is only tried, and rolled back. */
  readonly isRehearsal: boolean
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
  readonly code?: unknown
  readonly errcode?: unknown
}

/** The end of a group. */
export type Reply = { readonly queue: number } & (
  | {
      readonly results: unknown
      /** The positions of the executed calls; absent if no call was withdrawn. */
      readonly executed?: ReadonlyArray<number>
    }
  | { readonly thrown: Thrown }
)

/** The result of opening the database, which the worker sends first. */
export type Opened = { readonly opened: true } | { readonly opened: false; readonly thrown: Thrown }

/** Creates the exception that `thrown` describes. */
export const errorOf = ({ code, errcode, message }: Thrown): Error =>
  Object.assign(new Error(message), {
    ...(code === undefined ? {} : { code }),
    ...(errcode === undefined ? {} : { errcode })
  })
