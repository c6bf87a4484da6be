/** Runs `serve` in a worker of `node:cluster`, which the primary process started. */
import cluster from "node:cluster"
import type * as CliError from "effect/cli/CliError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AnimalStore, AnimalStoreOptions } from "../../embed/index.ts"
import * as AdminServer from "../AdminServer.ts"
import * as CommandExit from "../CommandExit.ts"
import * as Database from "../Database.ts"
import * as Failure from "../Failure.ts"
import { Host } from "../Host.ts"
import * as ServeFlags from "../ServeFlags.ts"
import * as StopSignal from "../StopSignal.ts"
import * as Message from "./Message.ts"
import * as WorkerProcess from "./WorkerProcess.ts"

/** Maximum drain in milliseconds of a worker whose primary has exited; it gets no new connections. */
const ORPHAN_DRAIN_MS = 5_000

/** Returns the start parameters of this process if it is a worker. */
export const start = (): Option.Option<Message.Start> =>
  cluster.isWorker ? Message.decodeStart(process.env[WorkerProcess.VARIABLE]) : Option.none()

/** Serves until the primary stops this worker or exits, or until SIGTERM. */
export const run = Effect.fnUntraced(function* (
  flags: ServeFlags.Values,
  otlp: AnimalStoreOptions["otlp"],
  start: Message.Start
): Effect.fn.Return<void, CliError.UserError | CommandExit.CommandExit> {
  leaveToPrimary("SIGINT")
  leaveToPrimary("SIGHUP")
  const orders = receiveOrders(flags.drainMs)
  const lastMetrics = Effect.suspend(() =>
    orders.store === undefined || flags.adminPort === undefined
      ? Effect.void
      : sendToPrimary({ _tag: "LastMetrics", text: JSON.stringify(orders.store.readMetrics()) })
  )
  return yield* Effect.ensuring(Effect.scoped(serve(flags, otlp, start, orders)), lastMetrics)
})

const serve = Effect.fnUntraced(function* (
  flags: ServeFlags.Values,
  otlp: AnimalStoreOptions["otlp"],
  start: Message.Start,
  orders: Orders
) {
  const host = yield* Host
  const options = ServeFlags.storeOptions(flags, otlp, start.isTerminal)
  const store = yield* reportFailure(Database.open(options))
  orders.store = store
  const { port } = yield* reportFailure(
    Failure.attempt(() => store.listen({ ...flags.listen, port: start.port }))
  )
  yield* sendToPrimary({ _tag: "Listening", port })
  return yield* Effect.onInterrupt(Effect.never, () =>
    Effect.raceFirst(
      Effect.promise(() => store.drain(orders.drainMs)),
      Effect.raceFirst(Deferred.await(orders.stopNow), StopSignal.secondTerm(host))
    )
  )
})

/** Sends the reason for a failed startup to the primary, which prints it once for all workers. */
const reportFailure = <A, R>(
  effect: Effect.Effect<A, CliError.UserError, R>
): Effect.Effect<A, CommandExit.CommandExit, R> =>
  Effect.catch(effect, (error) =>
    Effect.andThen(
      sendToPrimary({ _tag: "StartFailed", message: error.userMessage ?? error.message }),
      Effect.fail(new CommandExit.CommandExit({ code: 1 }))
    )
  )

/**
 * Ignores a signal that a terminal sends to all processes of the command. Only the primary handles it, and stops its
 * workers in order.
 */
const leaveToPrimary = (signal: NodeJS.Signals): void => {
  process.removeAllListeners(signal)
  process.on(signal, () => undefined)
}

/** The orders from the primary. */
interface Orders {
  drainMs: number
  readonly stopNow: Deferred.Deferred<void>
  /** The store, once it is open. */
  store: AnimalStore | undefined
}

const receiveOrders = (drainMs: number): Orders => {
  const orders: Orders = { drainMs, stopNow: Deferred.makeUnsafe(), store: undefined }
  let isStopping = false
  process.once("SIGTERM", () => {
    isStopping = true
  })
  const stop = (ms: number): void => {
    // A supervisor may have sent SIGTERM to every process; a second one would end the drain.
    if (isStopping) return
    orders.drainMs = ms
    process.emit("SIGTERM", "SIGTERM")
  }
  const receive = (message: Message.ToWorker): void => {
    switch (message._tag) {
      case "Stop":
        stop(message.drainMs)
        break
      case "StopNow":
        Deferred.doneUnsafe(orders.stopNow, Effect.void)
        break
      case "PageWanted":
        respond(orders, message)
    }
  }
  process.on("message", (message) => void Option.map(Message.decodeToWorker(message), receive))
  cluster.worker?.once("disconnect", () => {
    // Otherwise Node would end this process immediately, and abort the requests in flight.
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
    stop(Math.min(drainMs, ORPHAN_DRAIN_MS))
    // Ends a longer drain that is already in progress.
    setTimeout(() => Deferred.doneUnsafe(orders.stopNow, Effect.void), ORPHAN_DRAIN_MS).unref()
  })
  return orders
}

const respond = async (
  { store }: Orders,
  { path }: Extract<Message.ToWorker, { readonly _tag: "PageWanted" }>
): Promise<void> => {
  if (store === undefined) return
  const page = await pageOf(store, path).catch(() => ({ status: 500, body: "" }))
  Effect.runFork(sendToPrimary({ _tag: "PageMade", path, ...page }))
}

/** Returns a page; of the metrics, the values as JSON. */
const pageOf = async (store: AnimalStore, path: Message.Path): Promise<AdminServer.Page> =>
  path === "/metrics" || path === "/sample"
    ? { status: 200, body: JSON.stringify(store.readMetrics(path === "/sample")) }
    : AdminServer.probe(store, path)

/** Sends a message and waits until it is written; discards it if the primary has exited. */
const sendToPrimary = (message: Message.ToPrimary): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const done = (): void => resume(Effect.void)
    if (process.connected && process.send !== undefined) process.send(message, undefined, undefined, done)
    else done()
  })
