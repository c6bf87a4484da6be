/** Runs in the worker thread: opens the process's only write connection to SQLite, and runs groups of calls on it. */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads"
import * as SqliteConnection from "./SqliteConnection.ts"
import * as SqliteJobs from "./SqliteJobs.ts"

/** Maximum time for which opening is retried while the database is locked, and the pause before a retry, in ms. */
const OPEN_MS = 4_000
const OPEN_PAUSE_MS = 20

/** Pauses before a group is retried while another process writes, in milliseconds: the first pause, and the maximum. */
const LOCKED_PAUSE_MS = { first: 1, longest: 25 }

/** SQLITE_BUSY and SQLITE_LOCKED. */
const LOCKED: ReadonlyArray<number> = [5, 6]

const port = parentPort
if (port === null) throw new Error("SqliteWorker must run in a worker thread")
const { claims, filename, messages, signal }: SqliteJobs.WorkerData = workerData
const { begun, waiting, withdrawn } = SqliteJobs.Claim

const inbox: Array<SqliteJobs.Message> = []

/**
 * Sleeps until the next message, but at most `maxMs` milliseconds, and moves all messages to the inbox. The thread
 * sleeps on `signal` instead of in an event loop, which would take a third more CPU time for each message.
 */
const receive = (maxMs = Number.POSITIVE_INFINITY): void => {
  // Reads the signal before the messages: a later message changes the signal, which ends the sleep immediately.
  const seen = Atomics.load(signal, 0)
  if (!drain()) {
    Atomics.wait(signal, 0, seen, maxMs)
    drain()
  }
}

const drain = (): boolean => {
  let received = receiveMessageOnPort(messages)
  if (received === undefined) return false
  for (; received !== undefined; received = receiveMessageOnPort(messages)) inbox.push(received.message)
  return true
}

const isClosing = (): boolean => inbox.some(({ kind }) => kind === "close")

const isLocked = (thrown: unknown): boolean =>
  thrown instanceof SqliteConnection.SqliteFailure &&
  thrown.cause instanceof Error &&
  "errcode" in thrown.cause &&
  LOCKED.includes(Number(thrown.cause.errcode) & 0xff)

/** Encodes an exception as data for the other thread. */
const encode = (thrown: unknown): SqliteJobs.Thrown => {
  const failure =
    thrown instanceof SqliteConnection.SqliteFailure
      ? thrown
      : new SqliteConnection.SqliteFailure("execute", thrown)
  const { cause, operation } = failure
  return cause instanceof Error
    ? { operation, message: cause.message, properties: { ...cause } }
    : { operation, message: String(cause), properties: {} }
}

/** Runs a group and returns its results; waits while another process has the write lock. */
const run = (
  connection: SqliteConnection.SqliteConnection,
  { calls, queue }: SqliteJobs.Group
): ReadonlyArray<unknown> => {
  const first = SqliteJobs.firstClaim(queue)
  const isWithdrawn = (_: unknown, index: number): boolean =>
    Atomics.load(claims, first + index) === withdrawn
  for (let pauseMs = LOCKED_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, LOCKED_PAUSE_MS.longest)) {
    if (calls.every(isWithdrawn)) return []
    try {
      connection.recover()
      connection.synchronize(SqliteJobs.queues[queue].synchronous)
      return connection.transact((run) => execute(run, queue, calls), SqliteJobs.queues[queue].isRehearsal)
    } catch (thrown) {
      if (!isLocked(thrown) || isClosing() || connection.isTransaction()) throw thrown
      receive(pauseMs)
    }
  }
}

/** Executes the calls that can be claimed, and returns their results at the positions of the calls. */
const execute = <N extends SqliteJobs.Name>(
  run: SqliteConnection.Run,
  queue: N,
  calls: ReadonlyArray<SqliteJobs.Call<N>>
): ReadonlyArray<unknown> => {
  const first = SqliteJobs.firstClaim(queue)
  const claimed = [...calls.entries()].filter(
    ([index]) => Atomics.compareExchange(claims, first + index, waiting, begun) !== withdrawn
  )
  const steps = SqliteJobs.stepsOf(
    queue,
    claimed.map(([, call]) => call)
  )
  let step = steps.next()
  while (step.done !== true) step = steps.next(run(...step.value))
  const results: Array<unknown> = []
  for (const [nth, [index]] of claimed.entries()) results[index] = step.value[nth]
  return results
}

const reply = (message: SqliteJobs.Reply | SqliteJobs.Opened): void => port.postMessage(message)

const work = (connection: SqliteConnection.SqliteConnection): void => {
  for (;;) {
    const message = inbox.shift()
    switch (message?.kind) {
      case undefined:
        receive()
        break
      case "group":
        try {
          reply({ queue: message.queue, results: run(connection, message) })
        } catch (thrown) {
          reply({ queue: message.queue, thrown: encode(thrown) })
        }
        break
      case "check":
        try {
          connection.files.check()
        } catch {
          // The next transaction reports the error.
        }
        break
      case "close":
        return
    }
  }
}

/** Opens the file, and reports the result to the other thread. */
const open = (): SqliteConnection.SqliteConnection | undefined => {
  for (const startedAt = performance.now(); ; ) {
    try {
      const connection = SqliteConnection.open({ filename })
      reply({ opened: true })
      return connection
    } catch (thrown) {
      if (!isLocked(thrown) || performance.now() - startedAt > OPEN_MS) {
        reply({ opened: false, thrown: encode(thrown) })
        return undefined
      }
      Atomics.wait(signal, 0, Atomics.load(signal, 0), OPEN_PAUSE_MS)
    }
  }
}

const connection = open()
if (connection !== undefined) {
  // An exception from here on ends the thread, which is then restarted.
  work(connection)
  connection.close()
}
