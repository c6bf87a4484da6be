/** `animal-store serve`: runs the reference server. */

import cluster from "node:cluster"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AnimalStoreOptions } from "../embed/index.ts"
import * as AdminServer from "./AdminServer.ts"
import * as Announcement from "./Announcement.ts"
import * as Database from "./Database.ts"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"
import * as Notice from "./Notice.ts"
import * as OtelVariables from "./OtelVariables.ts"
import * as Pretenuring from "./Pretenuring.ts"
import * as ProcessLimits from "./ProcessLimits.ts"
import * as ServeFlags from "./ServeFlags.ts"
import * as StopSignal from "./StopSignal.ts"
import * as StoreFlags from "./StoreFlags.ts"
import * as TestClock from "./TestClock.ts"
import * as Variables from "./Variables.ts"
import * as WorkerCount from "./workers/WorkerCount.ts"

/** Serves in this process or, with `--workers`, in several processes, until the command is interrupted. */
export const serve = Command.make(
  "serve",
  ServeFlags.flags,
  Effect.fn("serve")(function* (flags) {
    Pretenuring.disable()
    const { env } = yield* Host
    const { otlp, warnings } = yield* Effect.mapError(
      Effect.fromResult(OtelVariables.resolve(flags.store.otlp, env)),
      (message) => Failure.userError(new Error(message))
    )
    // Checked before anything is opened or started.
    yield* ServeFlags.issueKeysOf(flags)
    const count = yield* WorkerCount.resolve(flags.workers, flags)
    if (cluster.isPrimary) yield* warn(flags, count, warnings)
    if (count === 1) return yield* serveAlone(flags, otlp)
    // Imported on demand, because most servers run as one process.
    const Worker = yield* Effect.promise(() => import("./workers/Worker.ts"))
    const start = Worker.start()
    if (Option.isSome(start)) return yield* Worker.run(flags, otlp, start.value)
    const Primary = yield* Effect.promise(() => import("./workers/Primary.ts"))
    return yield* Primary.run(flags, count)
  }, Effect.scoped)
).pipe(Command.withDescription("Run the animal store over HTTP."))

/** Prints `warnings`, and one for each variable without effect and each limit of the system that is too small. */
const warn = Effect.fnUntraced(function* (
  { listen, store }: ServeFlags.Values,
  processes: number,
  warnings: ReadonlyArray<string>
) {
  const { env, limits } = yield* Host
  const needs = {
    processes,
    connections: StoreFlags.listenTable.maxConnections.default,
    databaseConnections: store.databaseConnections,
    bytesInFlight: listen.maxBytesInFlight
  }
  const found = [
    ...warnings,
    ...Variables.warnings(env, ServeFlags.variables),
    ...ProcessLimits.warnings(limits, needs)
  ]
  for (const message of found) yield* Notice.print(store, message, "warn")
})

/** Serves in this process. */
const serveAlone = Effect.fnUntraced(function* (flags: ServeFlags.Values, otlp: AnimalStoreOptions["otlp"]) {
  const { stderr } = yield* Host
  const clock = TestClock.make()
  const store = yield* Database.open({
    ...ServeFlags.storeOptions(flags, otlp, stderr.isTTY === true),
    now: flags.testClockPort === undefined ? undefined : clock.now
  })
  if (flags.testClockPort !== undefined) {
    const { port } = yield* Effect.mapError(TestClock.serve(clock, flags.testClockPort), Failure.userError)
    yield* Notice.print(flags.store, `the test clock listens on http://127.0.0.1:${port}/clock`)
  }
  const adminOrigin = yield* AdminServer.serve(store, flags, {
    page: async (path) =>
      path === "/metrics" ? { status: 200, body: store.metrics() } : AdminServer.probe(store, path)
  })
  const drain = yield* StopSignal.observe
  const { port } = yield* Failure.attempt(() => store.listen(flags.listen))
  const running = Effect.andThen(Announcement.issueAndPrint(store, flags, port, adminOrigin), Effect.never)
  // The store closes when the scope closes.
  return yield* Effect.onInterrupt(running, () =>
    Effect.andThen(
      Notice.stopping(flags, drain),
      Effect.raceFirst(
        drain.ended,
        Effect.promise(() => store.drain(flags.drainMs))
      )
    )
  )
})
