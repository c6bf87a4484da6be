/** Starts the workers of a server, replaces those that exit, and stops them together. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Snapshot from "../../telemetry/Snapshot.ts"
import type * as AdminServer from "../AdminServer.ts"
import * as Backoff from "./Backoff.ts"
import type * as Message from "./Message.ts"
import * as MetricsSum from "./MetricsSum.ts"
import * as WorkerProcess from "./WorkerProcess.ts"

/** Timeout for a page from a worker. By default, a worker whose database is slow responds after one second, in time. */
const PAGE_TIMEOUT = "2 seconds"

/**
 * Milliseconds from the end of the drain until workers that still run are killed: ten seconds for the server, ten for
 * requests in flight, and some time for exporters and the database.
 */
const END_MS = 25_000

/** The settings of a pool. */
export interface Settings {
  readonly count: number
  /** The port of the service; 0 chooses a free port, which all workers share. */
  readonly port: number
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean
  readonly log: WorkerProcess.Outlets["log"]
  /** Prints a notice to the operator. */
  readonly notice: (message: string, level: "info" | "warn") => Effect.Effect<void>
}

/** The reason why a worker did not start. */
export interface StartFailure {
  readonly message: string
}

export interface WorkerPool {
  /** Completes with the port when all workers listen, or fails with the first worker that does not start. */
  readonly started: Effect.Effect<number, StartFailure>
  /** Returns the pages of the workers that respond in time. */
  readonly pages: (path: Message.Path) => Effect.Effect<ReadonlyArray<AdminServer.Page>>
  /** Returns the metrics of all workers, running and exited. */
  readonly metrics: Effect.Effect<string>
  /** Returns a sample of the metrics by place; counts include those of earlier workers. */
  readonly samples: Effect.Effect<ReadonlyMap<number, Snapshot.Snapshot>>
  /** Drains all workers and waits until they have exited; the drain ends early when `early` completes. */
  readonly stop: (drainMs: number, early: Effect.Effect<void>) => Effect.Effect<void>
}

/** Starts the workers. Closing the scope stops them without a drain. */
export const make = Effect.fnUntraced(function* (
  settings: Settings
): Effect.fn.Return<WorkerPool, never, Scope.Scope> {
  const { count, isTerminal, log, notice } = settings
  const workers = new Map<number, WorkerProcess.WorkerProcess>()
  /** The workers that listen, by place. */
  const listening = new Set<number>()
  const started = Deferred.makeUnsafe<number, StartFailure>()
  const sums = { "/metrics": MetricsSum.empty, "/sample": MetricsSum.empty }
  let exits = 0
  let port: number | undefined
  let hasStarted = false
  let isStopping = false

  const fork = (place: number): WorkerProcess.WorkerProcess => {
    const worker = WorkerProcess.fork(
      {
        // While a worker listens, port 0 means its port; otherwise it would mean another free port.
        port: listening.size > 0 ? settings.port : (port ?? settings.port),
        isTerminal
      },
      {
        log,
        metrics: (text, path) => {
          // The worker is this program, and has sent a snapshot.
          if (workers.get(place) === worker)
            sums[path] = MetricsSum.recordPage(sums[path], place, JSON.parse(text))
        }
      }
    )
    workers.set(place, worker)
    return worker
  }

  /** Records that a worker listens; returns false if its port is not the server's. */
  const join = (place: number, workerPort: number): boolean => {
    port ??= workerPort
    if (workerPort !== port) return false
    listening.add(place)
    if (!hasStarted && listening.size === count) {
      hasStarted = true
      Deferred.doneUnsafe(started, Effect.succeed(port))
    }
    return true
  }

  /** Runs the workers of a place in sequence. */
  const supervise = Effect.fnUntraced(function* (place: number) {
    let backoff = Backoff.initial
    for (let isSuccessor = false; ; isSuccessor = true) {
      const worker = fork(place)
      const workerPort = yield* Effect.raceFirst(worker.listening, Effect.as(worker.ended, undefined))
      const isMember = workerPort !== undefined && join(place, workerPort)
      if (workerPort !== undefined && !isMember) worker.kill()
      const joinedAt = yield* Clock.currentTimeMillis
      if (isMember && isSuccessor) {
        yield* notice(`worker ${place} (process ${worker.pid}) serves again`, "info")
      }
      const end = yield* worker.ended
      const servedMs = isMember ? (yield* Clock.currentTimeMillis) - joinedAt : 0
      listening.delete(place)
      workers.delete(place)
      sums["/metrics"] = MetricsSum.recordExit(sums["/metrics"], place)
      sums["/sample"] = MetricsSum.recordExit(sums["/sample"], place)
      exits++
      if (isStopping) return
      const [delayMs, next] = Backoff.next(backoff, servedMs)
      if (!hasStarted) {
        Deferred.doneUnsafe(started, Effect.fail(failureOf(place, worker, end)))
        return
      }
      backoff = next
      yield* notice(
        `worker ${place} (process ${worker.pid}) ${describeEnd(end)}; another one starts in ${delayMs / 1_000} s`,
        "warn"
      )
      yield* Effect.sleep(delayMs)
      // A worker that starts now would not receive the stop message.
      if (isStopping) return
    }
  })

  const supervisors = yield* Effect.forEach(
    Array.from({ length: count }, (_, index) => index + 1),
    (place) => Effect.forkScoped(supervise(place))
  )

  const allEnded = Effect.suspend(() =>
    Effect.forEach([...workers.values()], ({ ended }) => ended, { concurrency: "unbounded", discard: true })
  )
  const sendToAll = (message: Message.ToWorker): void => {
    for (const worker of workers.values()) worker.send(message)
  }
  const killAll = (): void => {
    for (const worker of workers.values()) worker.kill()
  }
  const killAfter = (afterMs: number): Effect.Effect<void> =>
    Effect.flatMap(Effect.sleep(afterMs), () => {
      killAll()
      return allEnded
    })

  const stop = (drainMs: number, early: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.suspend(() => {
      isStopping = true
      // A second SIGINT ends this process, but the workers ignore it.
      process.once("exit", killAll)
      sendToAll({ _tag: "Stop", drainMs })
      const ended = Effect.raceFirst(allEnded, killAfter(drainMs + END_MS))
      const endedEarly = Effect.flatMap(early, () => {
        sendToAll({ _tag: "StopNow" })
        return Effect.raceFirst(allEnded, killAfter(END_MS))
      })
      return Effect.raceFirst(ended, endedEarly)
    }).pipe(Effect.andThen(Fiber.interruptAll(supervisors)))
  yield* Effect.addFinalizer(() => stop(0, Effect.never))

  const pages = Effect.fnUntraced(function* (path: Message.Path) {
    const members = [...workers].filter(([place]) => listening.has(place))
    const responses = yield* Effect.forEach(
      members,
      ([, worker]) =>
        Effect.timeoutOption(
          Effect.raceFirst(Effect.asSome(worker.page(path)), Effect.as(worker.ended, Option.none())),
          PAGE_TIMEOUT
        ),
      { concurrency: "unbounded" }
    )
    return responses.flatMap((page) => Option.toArray(Option.flatten(page)))
  })

  return {
    started: Deferred.await(started),
    pages,
    metrics: Effect.map(pages("/metrics"), () =>
      Snapshot.format([
        ...MetricsSum.page(sums["/metrics"]),
        {
          ...own,
          id: "animal_store_workers",
          description: "Worker processes that accept connections.",
          type: "Gauge",
          value: listening.size
        },
        {
          ...own,
          id: "animal_store_worker_exits_total",
          description: "Worker processes that exited.",
          type: "Counter",
          value: exits
        }
      ])
    ),
    samples: Effect.map(pages("/sample"), () => MetricsSum.byPlace(sums["/sample"])),
    stop
  }
})

/** What the series of the pool have in common. */
const own = { attributes: {}, sum: 0, buckets: [] }

const describeEnd = ({ code, signal, startFailure }: WorkerProcess.End): string => {
  if (startFailure !== undefined) return `could not start: ${startFailure}`
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`
}

const failureOf = (
  place: number,
  { pid }: WorkerProcess.WorkerProcess,
  end: WorkerProcess.End
): StartFailure =>
  end.startFailure === undefined
    ? { message: `worker ${place} (process ${pid}) ${describeEnd(end)} before it listened` }
    : { message: end.startFailure }
