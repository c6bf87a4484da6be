/**
 * Starts the thread that writes to a SQLite file, and sends it groups of calls: calls that arrive while a group is in
 * progress form the next group, which shares a transaction and its wait for the disk. If the thread ends unexpectedly,
 * the calls in progress fail and the thread is restarted.
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Batch from "../storage/Batch.ts"
import { CallObserver } from "../storage/CallObserver.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type { Synchronous } from "./SqliteConnection.ts"
import * as SqliteJobs from "./SqliteJobs.ts"

/** Maximum number of queues. */
const QUEUES = 16

/** Pauses between failed attempts to restart the thread: doubled each time, up to the maximum. */
const RESTART = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")])

/** Pause before the first attempt to restart a thread that has ended. */
const RESTART_PAUSE = "50 millis"

/** The calls of a queue. */
export interface QueueOptions<N extends SqliteJobs.Name, A> {
  readonly name: N
  /** The statement of `statements`. */
  readonly sql?: string
  /** Returns the result of a call; `index` is its position in the results of its group. */
  readonly resultOf: (results: SqliteJobs.Results<N>, index: number, call: SqliteJobs.Call<N>) => A
  readonly synchronous: Synchronous
  readonly isRehearsal?: boolean
  /** Maximum number of calls in a group, which succeed or fail together. */
  readonly maxGroup?: number
}

export interface SqliteThread {
  /**
   * Creates a queue, of at most `QUEUES`. Without load, a call is sent immediately. A call that is withdrawn before its
   * transaction starts is never executed.
   */
  readonly queue: <N extends SqliteJobs.Name, A>(
    options: QueueOptions<N, A>
  ) => Batch.Submit<SqliteJobs.Call<N>, A, SqlError>
  /** Checks the files of the database in the thread. */
  readonly check: () => void
}

/** A function that starts the worker; tests replace it. */
export type Start = (data: SqliteJobs.WorkerData) => Worker

export const start: Start = (workerData) =>
  new Worker(programAddress(), {
    name: "animal-store: SQLite",
    workerData,
    transferList: [workerData.messages],
    // The host's options are not used: for example, its preloaded modules would also run in this thread.
    env: {},
    execArgv: ["--no-warnings"],
    // Objects live for one group; without a limit, Node allows up to 100 MB for them on a machine with a lot of memory.
    resourceLimits: { maxYoungGenerationSizeMb: 8 }
  })

const programAddress = (): URL =>
  import.meta.url.endsWith(".ts")
    ? new URL("./SqliteWorker.ts", import.meta.url)
    : // The build merges modules into files with other names, so the program is not next to this module. A bundle also
      // finds the program if the package is installed where the bundle runs.
      new URL("./dist/adapters/sql/SqliteWorker.js", import.meta.resolve("animal-store/package.json"))

/** The end of a group. */
type Ended = Exclude<SqliteJobs.Reply, { readonly thrown: unknown }> | { readonly error: SqlError }

/** A thread from its start to its end. */
interface Running {
  readonly worker: Worker
  /** Sends messages to the worker. */
  readonly messages: MessagePort
  readonly claims: Int32Array
  readonly signal: Int32Array
  /** What to call at the end of the group in progress, by queue. */
  readonly inProgress: Array<((ended: Ended) => void) | undefined>
  readonly opened: Deferred.Deferred<void, SqlError>
  readonly ended: Deferred.Deferred<void>
  /** Whether the thread has opened the file and has not ended. */
  isUsable: boolean
}

/**
 * Starts the thread, which opens the file. When the scope closes, the thread ends after the groups that were sent
 * earlier. `checkFiles` throws while the file must not be opened again.
 */
export const make = (
  filename: string,
  checkFiles: () => void,
  startWorker: Start = start
): Effect.Effect<SqliteThread, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    let current = yield* Effect.try({ try: () => launch(filename, startWorker), catch: startFailed })
    let queues = 0
    const observer = yield* CallObserver

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

    return {
      queue: (options) => makeQueue(queues++, () => current, options, observer),
      check: () => {
        if (current.isUsable) send(current, { kind: "check" })
      }
    }
  })

interface Member<Call> {
  readonly call: Call
  /** The index of the call's claim while its group is in progress, otherwise `undefined`. */
  claim: number | undefined
}

const makeQueue = <N extends SqliteJobs.Name, A>(
  queue: number,
  current: () => Running,
  {
    isRehearsal = false,
    maxGroup = SqliteJobs.MAX_GROUP,
    name,
    resultOf,
    sql = "",
    synchronous
  }: QueueOptions<N, A>,
  observer: CallObserver | undefined
): Batch.Submit<SqliteJobs.Call<N>, A, SqlError> => {
  const { waiting, withdrawn } = SqliteJobs.Claim
  let latestSize = 1
  let claims: Int32Array | undefined

  const submit = Batch.makeWithCallbacks<Member<SqliteJobs.Call<N>>, A, SqlError>({
    maxSize: maxGroup,
    concurrency: 1,
    run: ({ take }, end) => {
      const sendGroup = (): void => {
        const running = current()
        const members = take()
        latestSize = members.length
        if (members.length === 0) return void end(Exit.succeed([]))
        claims = running.claims
        for (const [index, member] of members.entries()) {
          member.claim = queue * SqliteJobs.MAX_GROUP + index
          Atomics.store(claims, member.claim, waiting)
        }
        const calls = members.map(({ call }) => call)
        submitTo(running, { kind: "group", queue, name, calls, sql, synchronous, isRehearsal }, (ended) => {
          // From now on, the next group uses these claims.
          for (const member of members) member.claim = undefined
          if ("error" in ended) return void end(Exit.fail(ended.error))
          // The worker returns the results of this transaction.
          const results = ended.results as SqliteJobs.Results<N>
          const { executed = members.map((_, position) => position) } = ended
          if (executed.length > 0) observer?.committed(executed.length)
          const exits: Array<Exit.Exit<A, SqlError>> = []
          for (const [index, position] of executed.entries()) {
            const call = calls[position]
            if (call !== undefined)
              exits[position] = SqliteClient.exitOf(() => resultOf(results, index, call))
          }
          end(Exit.succeed(exits))
        })
      }
      // Under load, send the group after the pending I/O events, so that it includes the calls of all requests that
      // have already arrived. Otherwise, send the call immediately.
      if (latestSize === 1) sendGroup()
      else setImmediate(sendGroup)
      // Calls are withdrawn one by one.
      return () => {}
    }
  })

  return (call, done) => {
    const member: Member<SqliteJobs.Call<N>> = { call, claim: undefined }
    const leave = submit(member, done)
    return () => {
      leave()
      if (claims !== undefined && member.claim !== undefined) {
        Atomics.compareExchange(claims, member.claim, waiting, withdrawn)
      }
    }
  }
}

const send = ({ messages, signal }: Running, message: SqliteJobs.Message): void => {
  messages.postMessage(message)
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
}

/** Sends a group, and calls `end` at its end. */
const submitTo = (running: Running, group: SqliteJobs.Group, end: (ended: Ended) => void): void => {
  if (running.isUsable) {
    try {
      send(running, group)
      running.inProgress[group.queue] = end
      // Calls in progress keep the process alive.
      running.worker.ref()
    } catch (thrown) {
      // A parameter that cannot be sent to another thread.
      end({ error: SqliteClient.errorOf(thrown, "execute") })
    }
  } else end({ error: endedBecause(undefined) })
}

/** Allocates numbers in memory that threads share. */
const shared = (length: number): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))

const launch = (filename: string, startWorker: Start): Running => {
  const claims = shared(QUEUES * SqliteJobs.MAX_GROUP)
  const signal = shared(1)
  const { port1, port2 } = new MessageChannel()
  const worker = startWorker({ filename, claims, signal, messages: port2 })
  const running: Running = {
    worker,
    messages: port1,
    claims,
    signal,
    inProgress: [],
    opened: Deferred.makeUnsafe(),
    ended: Deferred.makeUnsafe(),
    isUsable: false
  }
  const { ended, inProgress, opened } = running
  let reason: unknown

  worker.on("message", (message: SqliteJobs.Reply | SqliteJobs.Opened) => {
    if ("opened" in message) {
      running.isUsable = message.opened
      Deferred.doneUnsafe(opened, message.opened ? Effect.void : Effect.fail(sqlErrorOf(message.thrown)))
      worker.unref()
      return
    }
    const end = inProgress[message.queue]
    inProgress[message.queue] = undefined
    if (inProgress.every((other) => other === undefined)) worker.unref()
    end?.("thrown" in message ? { error: sqlErrorOf(message.thrown) } : message)
  })
  worker.on("error", (thrown) => {
    reason = thrown
  })
  worker.on("exit", () => {
    running.isUsable = false
    const error = endedBecause(reason)
    Deferred.doneUnsafe(opened, Effect.fail(error))
    for (const end of inProgress.splice(0)) end?.({ error })
    Deferred.doneUnsafe(ended, Effect.void)
  })
  return running
}

const sqlErrorOf = (thrown: SqliteJobs.Thrown): SqlError =>
  SqliteClient.errorOf(SqliteJobs.errorOf(thrown), thrown.operation)

/** Creates the error for a thread that cannot be created, as in a bundle that lacks the thread's program. */
const startFailed = (cause: unknown): SqlError =>
  connectionError("the thread that writes to SQLite cannot be started", cause)

const endedBecause = (cause: unknown): SqlError =>
  connectionError("the thread that writes to SQLite has ended", cause)

const connectionError = (message: string, cause: unknown): SqlError =>
  new SqlError({ reason: new ConnectionError({ message, operation: "worker", cause }) })
