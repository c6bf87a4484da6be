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
const LOCKED: ReadonlyArray<unknown> = [5, 6]

const port = parentPort
if (port === null) throw new Error("SqliteWorker must run in a worker thread")
const { claims, filename, messages, signal }: SqliteJobs.WorkerData = workerData

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
  LOCKED.includes(Number(propertyOf(thrown.cause, "errcode")) & 0xff)

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/** Encodes an exception as data for the other thread. */
const encode = (thrown: unknown): SqliteJobs.Thrown => {
  const cause = thrown instanceof SqliteConnection.SqliteFailure ? thrown.cause : thrown
  return {
    operation: thrown instanceof SqliteConnection.SqliteFailure ? thrown.operation : "execute",
    message: cause instanceof Error ? cause.message : String(cause),
    code: propertyOf(cause, "code"),
    errcode: propertyOf(cause, "errcode")
  }
}

type Outcome = { readonly results: unknown; readonly executed?: ReadonlyArray<number> }

/** Runs a group; waits while another process has the write lock. */
const run = (connection: SqliteConnection.SqliteConnection, group: SqliteJobs.Group): Outcome => {
  const from = group.queue * SqliteJobs.MAX_GROUP
  const isWithdrawn = (_: unknown, index: number): boolean =>
    Atomics.load(claims, from + index) === SqliteJobs.Claim.withdrawn
  for (let pauseMs = LOCKED_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, LOCKED_PAUSE_MS.longest)) {
    if (group.calls.every(isWithdrawn)) return { results: [], executed: [] }
    try {
      connection.recover()
      connection.synchronize(group.synchronous)
      return transact(connection, group, from)
    } catch (thrown) {
      if (!isLocked(thrown) || isClosing() || connection.isTransaction()) throw thrown
      receive(pauseMs)
    }
  }
}

const transact = (
  connection: SqliteConnection.SqliteConnection,
  { calls, isRehearsal, name, sql }: SqliteJobs.Group,
  from: number
): Outcome => {
  const { begun, waiting, withdrawn } = SqliteJobs.Claim
  return connection.transact((run) => {
    const executed = [...calls.keys()].filter(
      (index) => Atomics.compareExchange(claims, from + index, waiting, begun) !== withdrawn
    )
    const isWhole = executed.length === calls.length
    const claimed = isWhole ? calls : calls.filter((_, index) => executed.includes(index))
    const steps = SqliteJobs.stepsOf(name, claimed, sql)
    let step = steps.next()
    while (step.done !== true) step = steps.next(run(...step.value))
    return { results: step.value, ...(isWhole ? {} : { executed }) }
  }, isRehearsal)
}

const reply = (message: SqliteJobs.Reply | SqliteJobs.Opened): void => port.postMessage(message)

/** Runs groups until the other thread closes the connection. */
const work = (connection: SqliteConnection.SqliteConnection): void => {
  for (;;) {
    const message = inbox.shift()
    switch (message?.kind) {
      case undefined:
        receive()
        break
      case "group":
        try {
          reply({ queue: message.queue, ...run(connection, message) })
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

const start = (): (() => void) => {
  try {
    const database = SqliteConnection.open({ filename })
    for (const startedAt = performance.now(); ; ) {
      try {
        const connection = SqliteConnection.initialize(database, { filename })
        reply({ opened: true })
        return () => {
          work(connection)
          database.close()
        }
      } catch (thrown) {
        if (!isLocked(thrown) || performance.now() - startedAt > OPEN_MS) throw thrown
        Atomics.wait(signal, 0, Atomics.load(signal, 0), OPEN_PAUSE_MS)
      }
    }
  } catch (thrown) {
    reply({ opened: false, thrown: encode(thrown) })
    return () => {}
  }
}

// An exception from here on ends the thread, which is then restarted.
start()()
