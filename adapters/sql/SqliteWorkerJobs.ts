/** Defines the messages between the thread that serves requests and the thread that writes to SQLite. */
import type { MessagePort } from "node:worker_threads"
import type { Synchronous } from "./SqliteConnection.ts"

/** The data with which the worker thread starts. */
export interface WorkerData {
  readonly filename: string
  /** The claims of the writes of each group in progress, `MAX_GROUP` for each kind of group. */
  readonly claims: Int32Array<SharedArrayBuffer>
  /** One number that changes with each message; the worker sleeps until it changes. */
  readonly signal: Int32Array<SharedArrayBuffer>
  /** Receives messages. A separate port, because Deno's `receiveMessageOnPort` does not accept `parentPort`. */
  readonly messages: MessagePort
}

/** Maximum number of writes in one group, because all of them wait for its end. */
export const MAX_GROUP = 512

/**
 * The state of a write in a group: the worker claims a write when its transaction has started, unless the write was
 * withdrawn before. Both threads change a waiting write with an atomic exchange, so exactly one of them succeeds.
 */
export const Claim = { waiting: 0, begun: 1, withdrawn: 2 } as const

/** One statement, alone or as a part of the open transaction. */
export interface StatementJob {
  readonly kind: "statement"
  readonly id: number
  readonly sql: string
  readonly params: ReadonlyArray<unknown>
  readonly returns: "rows" | "values" | "raw"
  readonly bigints: boolean
  readonly isCached: boolean
  readonly synchronous: Synchronous
  /** Whether the statement belongs to the transaction that is open. */
  readonly isInTransaction: boolean
  /** Whether the statement is only tried, in a separate transaction that is rolled back. */
  readonly isRehearsal?: boolean
}

/** The writes of a group, as data. */
export type Writes =
  /** Executes a statement with the parameters of each write; returns the rows of each execution. */
  | {
      readonly kind: "statement"
      readonly sql: string
      readonly params: ReadonlyArray<ReadonlyArray<unknown>>
    }
  /** Counts a request from each caller; returns numbers, which `SqliteWorkerCounting` decodes. */
  | {
      readonly kind: "count"
      readonly keys: ReadonlyArray<string>
      readonly times: ReadonlyArray<number>
      /** Each policy as numbers, because sending numbers to the thread takes half the time of sending objects. */
      readonly policies: ReadonlyArray<ReadonlyArray<number>>
      /** The index in `policies` of each write. */
      readonly policyOf: ReadonlyArray<number>
    }

/** Writes that share a transaction; the worker executes the writes that it claims. */
export interface GroupJob {
  readonly kind: "group"
  readonly id: number
  /** Index of the first claim of the group. */
  readonly claimsFrom: number
  readonly synchronous: Synchronous
  readonly writes: Writes
}

/** A message to the worker. */
export type Message =
  | StatementJob
  | GroupJob
  /** Withdraws a statement that has not started. */
  | { readonly kind: "cancel"; readonly id: number }
  /** Checks the files of the database, and saves the write-ahead log if it was removed. */
  | { readonly kind: "check" }
  /** Ends the worker after the earlier jobs; jobs that wait for another process fail. */
  | { readonly kind: "close" }

/** An exception of the driver as data, because an error that is sent to another thread keeps only its message. */
export interface Thrown {
  readonly operation: string
  readonly message: string
  readonly code?: unknown
  readonly errcode?: unknown
}

/** The result of a job. `isTransaction` is whether a transaction is open after the job. */
export type Reply = { readonly id: number; readonly isTransaction: boolean } & (
  | { readonly value: unknown }
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
