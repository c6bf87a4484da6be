/**
 * Starts the thread that writes to a SQLite file, and sends jobs to it. If the thread ends unexpectedly, the calls in
 * progress fail and the thread is restarted.
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as SqliteClient from "./SqliteClient.ts"
import * as SqliteWorkerFile from "./SqliteWorkerFile.ts"
import {
  errorOf,
  type GroupJob,
  MAX_GROUP,
  type Message,
  type Opened,
  type Reply,
  type StatementJob,
  type Thrown,
  type WorkerData
} from "./SqliteWorkerJobs.ts"

/** Maximum number of group kinds; at most one group of each kind is in progress. */
const GROUPS = 8

/** Pauses between failed attempts to restart the thread: doubled each time, up to the maximum. */
const RESTART = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")])

/** A job without its id, which `submit` assigns. */
export type Job = Omit<StatementJob, "id"> | Omit<GroupJob, "id">

/** The result of a job. */
export type Result = { readonly isTransaction: boolean } & (
  | { readonly value: unknown }
  | { readonly error: SqlError }
)

export interface SqliteWorkerThread {
  /**
   * Submits a job and calls `done` once. The returned function withdraws the job: `done` is not called, and a job that
   * has not started is not run.
   */
  readonly submit: (job: Job, done: (result: Result) => void) => () => void
  /** Checks the files of the database in the thread. */
  readonly check: () => void
  /** The claims of the groups; they are replaced when the thread is restarted. */
  readonly claims: () => Int32Array
  /** Reserves the claims of a new kind of group; returns the index of the first claim. */
  readonly reserveClaims: () => number
  /** Its only permit is taken while a transaction is open. */
  readonly transaction: Semaphore.Semaphore
}

/** A function that starts the worker; tests replace it. */
export type Start = (data: WorkerData) => Worker

export const start: Start = (workerData) =>
  new Worker(SqliteWorkerFile.address(), {
    name: "animal-store: SQLite",
    workerData,
    transferList: [workerData.messages],
    // The host's options are not used: for example, its preloaded modules would also run in this thread.
    env: {},
    execArgv: ["--no-warnings"],
    // Objects live for one group; without a limit, Node allows up to 100 MB for them on a machine with a lot of memory.
    resourceLimits: { maxYoungGenerationSizeMb: 8 }
  })

/** Pause before the first attempt to restart a thread that has ended. */
const RESTART_PAUSE = "50 millis"

/** The id of a job in progress, and the function for its result. */
interface Pending {
  readonly id: number
  done: (result: Result) => void
}

/** A thread from its start to its end. */
interface Running {
  readonly worker: Worker
  /** Sends messages to the worker. */
  readonly messages: MessagePort
  readonly claims: Int32Array
  readonly signal: Int32Array
  /**
   * The jobs in progress, at most one group of each kind and a few statements. It is an array, because a `Map` would
   * keep later jobs from being freed (see `LinkedQueue`).
   */
  readonly pending: Array<Pending>
  readonly opened: Deferred.Deferred<void, SqlError>
  readonly ended: Deferred.Deferred<void>
  /** Whether the thread has opened the file and has not ended. */
  isUsable: boolean
}

/**
 * Starts the thread, which opens the file. When the scope closes, the thread ends after the jobs that were submitted
 * earlier. `checkFiles` throws while the file must not be opened again.
 */
export const make = (
  filename: string,
  checkFiles: () => void,
  startWorker: Start = start
): Effect.Effect<SqliteWorkerThread, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    let current = yield* Effect.try({ try: () => launch(filename, startWorker), catch: startFailed })
    let latestId = 0
    let reservedClaims = 0

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        const { ended, isUsable, worker } = current
        worker.ref()
        if (isUsable) send(current, { kind: "close" })
        else void worker.terminate()
        return Deferred.await(ended)
      })
    )
    yield* Deferred.await(current.opened)

    const restart = Effect.suspend(() => {
      checkFiles()
      current = launch(filename, startWorker)
      return Deferred.await(current.opened)
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("the thread that writes to SQLite could not be started", cause)
      )
    )
    const untilUsable = Effect.repeat(restart, { until: () => current.isUsable, schedule: RESTART })
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.gen(function* () {
          yield* Deferred.await(current.ended)
          yield* Effect.logWarning("the thread that writes to SQLite has ended and is being restarted")
          // Otherwise a thread that opens the file and ends immediately would be restarted in a tight loop.
          yield* Effect.sleep(RESTART_PAUSE)
          yield* untilUsable
        })
      )
    )

    const submit: SqliteWorkerThread["submit"] = (job, done) => {
      const running = current
      const { isUsable, pending, worker } = running
      if (!isUsable) {
        done({ isTransaction: false, error: endedBecause(undefined) })
        return () => {}
      }
      const id = latestId++
      try {
        send(running, { ...job, id })
      } catch (thrown) {
        // A parameter that cannot be sent to another thread.
        done({ isTransaction: false, error: SqliteClient.errorOf(thrown, "execute") })
        return () => {}
      }
      // Calls in progress keep the process alive.
      if (pending.length === 0) worker.ref()
      const pendingJob: Pending = { id, done }
      pending.push(pendingJob)
      return () => {
        pendingJob.done = () => {}
        if (pending.includes(pendingJob)) send(running, { kind: "cancel", id })
      }
    }

    return {
      submit,
      check: () => {
        if (current.isUsable) send(current, { kind: "check" })
      },
      claims: () => current.claims,
      reserveClaims: () => MAX_GROUP * reservedClaims++,
      transaction: yield* Semaphore.make(1)
    }
  })

const send = ({ messages, signal }: Running, message: Message): void => {
  messages.postMessage(message)
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
}

/** Allocates numbers in memory that threads share. */
const shared = (length: number): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))

const launch = (filename: string, startWorker: Start): Running => {
  const claims = shared(GROUPS * MAX_GROUP)
  const signal = shared(1)
  const { port1, port2 } = new MessageChannel()
  const worker = startWorker({ filename, claims, signal, messages: port2 })
  const running: Running = {
    worker,
    messages: port1,
    claims,
    signal,
    pending: [],
    opened: Deferred.makeUnsafe(),
    ended: Deferred.makeUnsafe(),
    isUsable: false
  }
  const { ended, opened, pending } = running
  let reason: unknown

  worker.on("message", (message: Reply | Opened) => {
    if ("opened" in message) {
      running.isUsable = message.opened
      Deferred.doneUnsafe(opened, message.opened ? Effect.void : Effect.fail(sqlErrorOf(message.thrown)))
      worker.unref()
      return
    }
    const index = pending.findIndex(({ id }) => id === message.id)
    const [completed] = index < 0 ? [] : pending.splice(index, 1)
    if (pending.length === 0) worker.unref()
    completed?.done(
      "thrown" in message
        ? { isTransaction: message.isTransaction, error: sqlErrorOf(message.thrown) }
        : message
    )
  })
  worker.on("error", (thrown) => {
    reason = thrown
  })
  worker.on("exit", () => {
    running.isUsable = false
    const error = endedBecause(reason)
    Deferred.doneUnsafe(opened, Effect.fail(error))
    for (const { done } of pending.splice(0)) done({ isTransaction: false, error })
    Deferred.doneUnsafe(ended, Effect.void)
  })
  return running
}

const sqlErrorOf = (thrown: Thrown): SqlError => SqliteClient.errorOf(errorOf(thrown), thrown.operation)

/** Creates the error for a thread that cannot be created, as in a bundle that lacks the thread's program. */
const startFailed = (cause: unknown): SqlError =>
  new SqlError({
    reason: new ConnectionError({
      message: "the thread that writes to SQLite cannot be started",
      operation: "worker",
      cause
    })
  })

const endedBecause = (cause: unknown): SqlError =>
  new SqlError({
    reason: new ConnectionError({
      message: "the thread that writes to SQLite has ended",
      operation: "worker",
      cause
    })
  })
