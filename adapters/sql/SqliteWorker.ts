/** Runs in the worker thread: opens the process's only write connection to SQLite, and executes jobs. */
import type { DatabaseSync } from "node:sqlite"
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads"
import * as SqliteConnection from "./SqliteConnection.ts"
import type { Message, Opened, WorkerData } from "./SqliteWorkerJobs.ts"
import * as SqliteWorkerQueue from "./SqliteWorkerQueue.ts"

/** Maximum time for which `initialize` is retried while the database is locked, and the pause before a retry, in ms. */
const OPEN_MS = 4_000
const OPEN_PAUSE_MS = 20

const port = parentPort
if (port === null) throw new Error("SqliteWorker must run in a worker thread")
const { claims, filename, messages, signal }: WorkerData = workerData

const open = (database: DatabaseSync): SqliteConnection.SqliteConnection => {
  for (const startedAt = performance.now(); ; ) {
    try {
      return SqliteConnection.initialize(database, { filename })
    } catch (thrown) {
      if (!SqliteWorkerQueue.isLocked(thrown) || performance.now() - startedAt > OPEN_MS) throw thrown
      Atomics.wait(signal, 0, Atomics.load(signal, 0), OPEN_PAUSE_MS)
    }
  }
}

interface Timer {
  readonly dueAt: number
  readonly resume: () => void
}

/**
 * Executes messages until the queue is closed. The thread sleeps on `signal` instead of in an event loop, which would
 * take a third more CPU time for each message.
 */
const work = (database: DatabaseSync, connection: SqliteConnection.SqliteConnection): void => {
  const timers = new Set<Timer>()
  let isClosed = false
  const receive = SqliteWorkerQueue.make({
    connection,
    claims,
    post: (reply) => port.postMessage(reply),
    callAfter: (ms, resume) => {
      const timer = { dueAt: performance.now() + ms, resume }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    onClosed: () => {
      isClosed = true
    }
  })
  const sleep = (seen: number): void => {
    const next = Math.min(...[...timers].map(({ dueAt }) => dueAt))
    Atomics.wait(signal, 0, seen, Math.max(next - performance.now(), 0))
    for (const timer of timers) {
      if (timer.dueAt <= performance.now() && timers.delete(timer)) timer.resume()
    }
  }
  while (!isClosed) {
    // Reads the signal before the messages: a later message changes the signal, which ends the sleep immediately.
    const seen = Atomics.load(signal, 0)
    let received = receiveMessageOnPort(messages)
    if (received === undefined) sleep(seen)
    while (received !== undefined) {
      const message: Message = received.message
      receive(message)
      received = receiveMessageOnPort(messages)
    }
  }
  database.close()
}

const report = (opened: Opened): void => port.postMessage(opened)

const start = (): (() => void) => {
  try {
    const database = SqliteConnection.open({ filename })
    const connection = open(database)
    report({ opened: true })
    return () => work(database, connection)
  } catch (thrown) {
    report({ opened: false, thrown: SqliteWorkerQueue.encode(thrown) })
    return () => {}
  }
}

// An exception from here on ends the thread, which is then restarted.
start()()
