/** Starts a worker from the primary process, and exchanges messages with it. */
import cluster, { type Worker } from "node:cluster"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as AdminServer from "../AdminServer.ts"
import * as HandOff from "./HandOff.ts"
import * as Message from "./Message.ts"
import * as WorkerExit from "./WorkerExit.ts"

/** The environment variable that makes a process a worker; its value is a `Message.Start`. */
export const VARIABLE = "ANIMAL_STORE_WORKER_START"

/** How a process exited. */
export interface End {
  readonly code: number | null
  readonly signal: string | null
  /** Why startup failed, if the worker reported it. */
  readonly startFailure: string | undefined
}

export interface WorkerProcess {
  readonly pid: number
  readonly send: (message: Message.ToWorker) => void
  /** Completes with the port when the worker listens. */
  readonly listening: Effect.Effect<number>
  /** Completes when the process has exited. */
  readonly ended: Effect.Effect<End>
  /** Gets a page from the worker; never completes if the worker does not respond. */
  readonly page: (path: Message.Path) => Effect.Effect<AdminServer.Page>
  /** Kills the process with SIGKILL. */
  readonly kill: () => void
}

/** The receivers of a worker's log and metrics. */
export interface Outlets {
  readonly log: (stream: NonNullable<Worker["process"]["stderr"]>) => void
  /** Receives metrics or a sample of them, even if they arrive after the timeout. */
  readonly metrics: (text: string, path: "/metrics" | "/sample") => void
}

/** Starts a worker, which runs the command line of this process. */
export const fork = (start: Message.Start, outlets: Outlets): WorkerProcess => {
  // Standard input and output belong to the primary. The `ipc` channel transports messages and connections.
  cluster.setupPrimary({ stdio: ["ignore", "ignore", "pipe", "ipc"] })
  const worker = cluster.fork({ [VARIABLE]: JSON.stringify(start) })
  HandOff.returnUnconfirmed(worker)
  if (worker.process.stderr !== null) outlets.log(worker.process.stderr)

  const listening = Deferred.makeUnsafe<number>()
  const ended = Deferred.makeUnsafe<End>()
  /** The requested pages that the worker has not sent yet. Each is requested only once, so that messages do not pile up. */
  const pages = new Map<Message.Path, Deferred.Deferred<AdminServer.Page>>()
  let startFailure: string | undefined

  const receive = (message: Message.ToPrimary): void => {
    switch (message._tag) {
      case "Listening":
        Deferred.doneUnsafe(listening, Effect.succeed(message.port))
        return
      case "StartFailed":
        startFailure = message.message
        return
      case "LastMetrics":
        outlets.metrics(message.text, "/metrics")
        outlets.metrics(message.text, "/sample")
        return
      case "PageMade": {
        const { body, path, status } = message
        if ((path === "/metrics" || path === "/sample") && status === 200) outlets.metrics(body, path)
        const pending = pages.get(path)
        pages.delete(path)
        if (pending !== undefined) Deferred.doneUnsafe(pending, Effect.succeed({ status, body }))
      }
    }
  }
  worker.on("message", (message) => Option.map(Message.decodeToPrimary(message), receive))
  // The channel breaks when the worker is killed; a failed message then emits an error, which would crash the primary.
  worker.on("error", () => undefined)
  const end = (code: number | null, signal: string | null): void =>
    void Deferred.doneUnsafe(ended, Effect.succeed({ code, signal, startFailure }))
  // A process that cannot be started emits only `error`.
  worker.process.once("error", () => {
    if (worker.process.pid === undefined) end(null, null)
  })
  WorkerExit.once(worker, end)

  const send = (message: Message.ToWorker): void => {
    if (worker.isConnected()) worker.send(message, () => undefined)
  }
  return {
    pid: worker.process.pid ?? 0,
    send,
    listening: Deferred.await(listening),
    ended: Deferred.await(ended),
    page: (path) =>
      Effect.suspend(() => {
        const pending = pages.get(path) ?? Deferred.makeUnsafe<AdminServer.Page>()
        if (!pages.has(path)) {
          pages.set(path, pending)
          send({ _tag: "PageWanted", path })
        }
        return Deferred.await(pending)
      }),
    kill: () => void worker.process.kill("SIGKILL")
  }
}
