/** Executes jobs in sequence on the connection that writes, in the worker thread. */
import type { SqliteConnection } from "./SqliteConnection.ts"
import { SqliteFailure } from "./SqliteConnection.ts"
import * as SqliteWorkerCounting from "./SqliteWorkerCounting.ts"
import {
  Claim,
  type GroupJob,
  type Message,
  type Reply,
  type StatementJob,
  type Thrown
} from "./SqliteWorkerJobs.ts"
import type * as WriteTransaction from "./WriteTransaction.ts"

/** Pauses before a locked database is retried, in milliseconds: the first pause, and the maximum. */
const LOCKED_PAUSE_MS = { first: 1, longest: 25 }

/**
 * Milliseconds without a statement after which an open transaction is rolled back, because a serving thread that is
 * busy with other work must not lock the database for other processes.
 */
export const IDLE_TRANSACTION_MS = 2_000

/** The connection and the callbacks of a queue. */
export interface QueueOptions {
  readonly connection: SqliteConnection
  readonly claims: Int32Array
  readonly post: (reply: Reply) => void
  /** Calls `resume` after `ms` milliseconds, unless the returned function is called first. */
  readonly callAfter: (ms: number, resume: () => void) => () => void
  /** Called once, after the last job. */
  readonly onClosed: () => void
}

type Job = StatementJob | GroupJob

/** Creates a queue, and returns the function that receives its messages. */
export const make = ({
  callAfter,
  claims,
  connection,
  onClosed,
  post
}: QueueOptions): ((message: Message) => void) => {
  const jobs: Array<Job> = []
  let isPaused = false
  let isClosing = false
  let pauseMs = LOCKED_PAUSE_MS.first
  let cancelRollback = (): void => {}

  const reply = (id: number, result: { readonly value: unknown } | { readonly thrown: Thrown }): void => {
    const isTransaction = connection.isTransaction()
    if (isTransaction) cancelRollback = callAfter(IDLE_TRANSACTION_MS, abandonTransaction)
    post({ id, isTransaction, ...result })
  }

  const rollBack = (): void => {
    try {
      connection.run("ROLLBACK", [])
    } catch {
      // The transaction is still open, and its next statement reports the error.
    }
  }

  const abandonTransaction = (): void => {
    rollBack()
    // If the rollback failed, it is retried, because no other job runs while the transaction is open.
    if (connection.isTransaction()) cancelRollback = callAfter(IDLE_TRANSACTION_MS, abandonTransaction)
    runJobs()
  }

  /** Removes and returns the next job that may run, if any; during a transaction, only a statement of it may run. */
  const takeNext = (): Job | undefined => {
    if (!connection.isTransaction()) return jobs.shift()
    const index = jobs.findIndex((job) => job.kind === "statement" && job.isInTransaction)
    return index === -1 ? undefined : jobs.splice(index, 1)[0]
  }

  const runJobs = (): void => {
    while (!isPaused) {
      const job = takeNext()
      if (job === undefined) break
      if (execute(job)) {
        pauseMs = LOCKED_PAUSE_MS.first
        continue
      }
      // Another process is writing.
      jobs.unshift(job)
      isPaused = true
      callAfter(pauseMs, () => {
        isPaused = false
        runJobs()
      })
      pauseMs = Math.min(pauseMs * 2, LOCKED_PAUSE_MS.longest)
    }
    if (isClosing && !isPaused) finish()
  }

  const finish = (): void => {
    cancelRollback()
    if (connection.isTransaction()) {
      rollBack()
      // First runs the jobs that waited for the end of the transaction.
      if (!connection.isTransaction()) {
        runJobs()
        return
      }
    }
    isClosing = false
    onClosed()
  }

  /** Executes a job; returns false if it has to wait, because another process holds the lock. */
  const execute = (job: Job): boolean => {
    try {
      connection.recover()
      const value = job.kind === "group" ? runGroup(job) : runStatement(job)
      reply(job.id, { value })
      return true
    } catch (thrown) {
      if (isLocked(thrown) && !isClosing && !connection.isTransaction()) return false
      reply(job.id, { thrown: encode(thrown) })
      return true
    }
  }

  const runStatement = (job: StatementJob): unknown => {
    cancelRollback()
    if (!job.isInTransaction) {
      connection.synchronize(job.synchronous)
      connection.files.check()
    } else if (!connection.isTransaction()) {
      // Nothing is left to roll back; other statements must not run outside of the transaction.
      if (job.sql === "ROLLBACK") return []
      throw new Error(
        `the transaction was rolled back: after an error, or after ${IDLE_TRANSACTION_MS} ms without a statement`
      )
    }
    if (job.isRehearsal) return rehearse(job)
    return connection[job.returns](job.sql, job.params, job)
  }

  const rehearse = (job: StatementJob): unknown => {
    const done = Symbol("rehearsed")
    try {
      connection.transact((run) => {
        run(job.sql, job.params)
        throw done
      })
    } catch (thrown) {
      if (thrown !== done) throw thrown
    }
    return []
  }

  const runGroup = (job: GroupJob): unknown => {
    const size = job.writes.kind === "count" ? job.writes.keys.length : job.writes.params.length
    const isWithdrawn = (index: number): boolean =>
      Atomics.load(claims, job.claimsFrom + index) === Claim.withdrawn
    const members = Array.from({ length: size }, (_, index) => index)
    if (members.every(isWithdrawn)) return { indices: [], results: [] }
    connection.synchronize(job.synchronous)
    return connection.transact((run) => {
      const indices = members.filter(
        (index) =>
          Atomics.compareExchange(claims, job.claimsFrom + index, Claim.waiting, Claim.begun) ===
          Claim.waiting
      )
      const transaction = stepsOf(job, indices)
      let step = transaction.next()
      while (step.done !== true) step = transaction.next(run(...step.value))
      return { indices, results: step.value }
    })
  }

  return (message) => {
    switch (message.kind) {
      case "statement":
      case "group":
        jobs.push(message)
        break
      case "cancel": {
        const index = jobs.findIndex(({ id }) => id === message.id)
        if (index === -1) break
        jobs.splice(index, 1)
        post({ id: message.id, isTransaction: connection.isTransaction(), value: [] })
        break
      }
      case "check":
        try {
          connection.files.check()
        } catch {
          // The next transaction reports the error.
        }
        break
      case "close":
        isClosing = true
    }
    runJobs()
  }
}

const stepsOf = ({ writes }: GroupJob, indices: ReadonlyArray<number>): WriteTransaction.Steps<unknown> =>
  writes.kind === "count"
    ? SqliteWorkerCounting.steps(writes, indices)
    : eachStatement(
        writes.sql,
        indices.map((index) => writes.params[index] ?? [])
      )

const eachStatement = function* (
  sql: string,
  params: ReadonlyArray<ReadonlyArray<unknown>>
): WriteTransaction.Steps<ReadonlyArray<unknown>> {
  const rows: Array<unknown> = []
  for (const values of params) rows.push(yield [sql, values])
  return rows
}

/** SQLITE_BUSY and SQLITE_LOCKED. */
const LOCKED: ReadonlyArray<unknown> = [5, 6]

/** Whether another process holds the lock. */
export const isLocked = (thrown: unknown): boolean =>
  thrown instanceof SqliteFailure && LOCKED.includes(Number(propertyOf(thrown.cause, "errcode")) & 0xff)

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/** Encodes an exception as data for the other thread. */
export const encode = (thrown: unknown): Thrown => {
  const cause = thrown instanceof SqliteFailure ? thrown.cause : thrown
  return {
    operation: thrown instanceof SqliteFailure ? thrown.operation : "execute",
    message: cause instanceof Error ? cause.message : String(cause),
    code: propertyOf(cause, "code"),
    errcode: propertyOf(cause, "errcode")
  }
}
