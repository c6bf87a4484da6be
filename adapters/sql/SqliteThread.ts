/**
 * Starts the thread that writes to a SQLite file, and sends it groups of calls: calls that arrive while a group is in
 * progress form the next group, which shares a transaction and its wait for the disk. If the thread ends unexpectedly,
 * the calls in progress fail and the thread is restarted.
 */
import { MessageChannel, Worker } from "node:worker_threads"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Batch from "../storage/Batch.ts"
import { CallObserver } from "../storage/CallObserver.ts"
import * as SqliteClient from "./SqliteClient.ts"
import * as SqliteJobs from "./SqliteJobs.ts"

/** Pauses between failed attempts to restart the thread: doubled each time, up to the maximum. */
const RESTART = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")])

/** Pause before the first attempt to restart a thread that has ended. */
const RESTART_PAUSE = "50 millis"

type Submit<N extends SqliteJobs.Name> = Batch.Submit<SqliteJobs.Call<N>, SqliteJobs.Result<N>, SqlError>

export interface SqliteThread {
  /**
   * Submits a call. Without load, it is sent immediately. A call that is withdrawn before its transaction starts is never
   * executed.
   */
  readonly submit: { readonly [N in SqliteJobs.Name]: Submit<N> }
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

type Ended = Exit.Exit<ReadonlyArray<unknown>, SqlError>

/** A thread from its start to its end. */
type Running = ReturnType<typeof launchThread>

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
    const claims = shared(SqliteJobs.names.length * SqliteJobs.MAX_GROUP)
    const launch = () => launchThread(filename, claims, startWorker)
    let current = yield* Effect.try({
      try: launch,
      catch: (cause) => threadError("cannot be started", cause)
    })
    const observer = yield* CallObserver

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        const { ended, isUsable, send, worker } = current
        worker.ref()
        if (isUsable) send({ kind: "close" })
        else void worker.terminate()
        return Deferred.await(ended)
      })
    )
    yield* Deferred.await(current.opened)

    const restart = Effect.suspend(() => {
      checkFiles()
      current = launch()
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

    const queue = <N extends SqliteJobs.Name>(name: N) => makeQueue(name, claims, () => current, observer)
    return {
      submit: {
        counts: queue("counts"),
        groups: queue("groups"),
        scripts: queue("scripts"),
        quickScripts: queue("quickScripts"),
        rehearsals: queue("rehearsals")
      },
      check: () => {
        if (current.isUsable) current.send({ kind: "check" })
      }
    }
  })

interface Member<Call> {
  readonly call: Call
  /** The index of the call's claim while its group is in progress, otherwise `undefined`. */
  claim: number | undefined
}

const makeQueue = <N extends SqliteJobs.Name>(
  queue: N,
  claims: Int32Array,
  current: () => Running,
  observer: CallObserver | undefined
): Submit<N> => {
  const { waiting, withdrawn } = SqliteJobs.Claim
  const firstClaim = SqliteJobs.firstClaim(queue)
  let latestSize = 1

  const submit = Batch.makeWithCallbacks<Member<SqliteJobs.Call<N>>, SqliteJobs.Result<N>, SqlError>({
    maxSize: SqliteJobs.queues[queue].maxGroup,
    concurrency: 1,
    run: ({ take }, end) => {
      const sendGroup = (): void => {
        const members = take()
        latestSize = members.length
        if (members.length === 0) return void end(Exit.succeed([]))
        for (const [index, member] of members.entries()) {
          member.claim = firstClaim + index
          Atomics.store(claims, member.claim, waiting)
        }
        submitTo(current(), { kind: "group", queue, calls: members.map(({ call }) => call) }, (ended) => {
          // From now on, the next group uses these claims.
          for (const member of members) member.claim = undefined
          end(
            Exit.map(ended, (given) => {
              // The worker returns the results of this queue.
              const results = given as ReadonlyArray<SqliteJobs.Result<N>>
              const executed = results.filter((result) => result !== undefined).length
              if (executed > 0) observer?.committed(executed)
              return results.map((result) => Exit.succeed(result))
            })
          )
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
      if (member.claim !== undefined) Atomics.compareExchange(claims, member.claim, waiting, withdrawn)
    }
  }
}

const submitTo = (running: Running, group: SqliteJobs.Group, end: (ended: Ended) => void): void => {
  if (!running.isUsable) return void end(Exit.fail(threadError("has ended")))
  try {
    running.send(group)
    running.inProgress[group.queue] = end
    // Calls in progress keep the process alive.
    running.worker.ref()
  } catch (thrown) {
    // A parameter that cannot be sent to another thread.
    end(Exit.fail(SqliteClient.errorOf(thrown, "execute")))
  }
}

/** Allocates numbers in memory that threads share. */
const shared = (length: number): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT))

const launchThread = (filename: string, claims: Int32Array<SharedArrayBuffer>, startWorker: Start) => {
  const signal = shared(1)
  const { port1, port2 } = new MessageChannel()
  const worker = startWorker({ filename, claims, signal, messages: port2 })
  const opened = Deferred.makeUnsafe<void, SqlError>()
  const ended = Deferred.makeUnsafe<void>()
  /** What to call at the end of the group in progress of each queue. */
  const inProgress: { [queue in SqliteJobs.Name]?: ((ended: Ended) => void) | undefined } = {}
  const send = (message: SqliteJobs.Message): void => {
    port1.postMessage(message)
    Atomics.add(signal, 0, 1)
    Atomics.notify(signal, 0)
  }
  /** Usable while the thread has opened the file and has not ended. */
  const running = { worker, send, inProgress, opened, ended, isUsable: false }
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
    if (Object.values(inProgress).every((other) => other === undefined)) worker.unref()
    end?.("thrown" in message ? Exit.fail(sqlErrorOf(message.thrown)) : Exit.succeed(message.results))
  })
  worker.on("error", (thrown) => {
    reason = thrown
  })
  worker.on("exit", () => {
    running.isUsable = false
    const error = Exit.fail(threadError("has ended", reason))
    Deferred.doneUnsafe(opened, error)
    for (const end of Object.values(inProgress)) end?.(error)
    Deferred.doneUnsafe(ended, Effect.void)
  })
  return running
}

const sqlErrorOf = ({ message, operation, properties }: SqliteJobs.Thrown): SqlError =>
  SqliteClient.errorOf(Object.assign(new Error(message), properties), operation)

/** Creates the error for a thread that has ended, or cannot be started, as in a bundle that lacks its program. */
const threadError = (what: "has ended" | "cannot be started", cause?: unknown): SqlError => {
  const message = `the thread that writes to SQLite ${what}`
  return new SqlError({ reason: new ConnectionError({ message, operation: "worker", cause }) })
}
