/** Opens a complete store for programs that do not use Effect: listeners, and functions that return promises. */
import type { AddressInfo } from "node:net"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { Actor } from "../../core/access/Actor.ts"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import * as OwnErrors from "../../core/errors/OwnErrors.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import { CountPer } from "../../core/limits/CountPer.ts"
import { OwnPlans } from "../../core/limits/OwnPlans.ts"
import * as Operations from "../../core/operations/Operations.ts"
import { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as Options from "../../core/options/Options.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Service from "../../core/service/Service.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { StaticFiles } from "../../core/service/StaticFiles.ts"
import packageJson from "../../package.json" with { type: "json" }
import * as Admission from "../http-fetch/Admission.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as FetchHandlerOptions from "../http-fetch/FetchHandlerOptions.ts"
import * as Guard from "../http-node/Guard.ts"
import * as NodeListener from "../http-node/NodeListener.ts"
import * as NodeServer from "../http-node/NodeServer.ts"
import type { Meter } from "../telemetry/Meter.ts"
import type { Snapshot } from "../telemetry/Snapshot.ts"
import { type AnimalStoreOptions, type Complete, table } from "./AnimalStoreOptions.ts"
import * as Arguments from "./Arguments.ts"
import * as Database from "./Database.ts"
import * as DrainPeriod from "./DrainPeriod.ts"
import type * as History from "./History.ts"
import * as HostClock from "./HostClock.ts"
import * as InFlight from "./InFlight.ts"
import * as KeyLog from "./KeyLog.ts"
import * as Keys from "./Keys.ts"
import * as NodeDigest from "./NodeDigest.ts"
import * as NodeVersion from "./NodeVersion.ts"
import * as Observation from "./Observation.ts"
import * as OperationError from "./OperationError.ts"
import * as OsUser from "./OsUser.ts"
import * as Pets from "./Pets.ts"

/** An open store. */
export interface AnimalStore {
  /**
   * Listener for `http.createServer`, Express and Connect (`app.use("/v1", …)`) and Fastify; mount it before any body
   * parser.
   */
  readonly nodeListener: NodeListener.NodeListener
  /**
   * Creates middleware `(request, response, next)` that puts routes of the host behind the same keys and limits, for
   * Express, Connect, `node:http`, and `onRequest` of Fastify. A request that is admitted has `request.caller`, and the
   * headers of the service are set on its response; any other request gets the response of the service. Throws
   * `InvalidOption`.
   */
  readonly guard: Guard.MakeGuard
  /** Handler for web-standard hosts: Hono, Bun, Deno and Next.js route handlers. */
  readonly fetch: FetchHandler.FetchHandler
  /**
   * Decides on a request to a route of a web-standard host, as `guard` does: `{ admitted: true, caller, headers, respond }`
   * or `{ admitted: false, response }`.
   */
  readonly admit: Admission.Admit
  /**
   * Starts a server, which `close` stops. Rejects with `InvalidOption`, with `ListenFailed`, or with an `Error` if the
   * store is closed.
   */
  readonly listen: (options?: Partial<NodeServer.NodeServerOptions>) => Promise<AddressInfo>
  /**
   * Creates an error with a code of the service or of the option `errors`, for `run` of an operation to throw. Throws an
   * `Error` if the code is not declared.
   */
  readonly error: (code: string, message?: string) => OperationError.OperationError
  /** Issues, changes, lists and revokes API keys. */
  readonly keys: Keys.Keys
  /** Creates and reads animals, without a key and without a count. */
  readonly pets: Pets.Pets
  /**
   * Issues, rotates, lists and revokes the tokens that open the admin API: keys of the plan `Admin`, whose label is the
   * actor of the events of their actions. All methods also reject with `AdminTokensUnsupported`.
   */
  readonly adminTokens: Pick<Keys.Keys, "issue" | "list" | "rotate" | "revoke" | "log">
  /**
   * Creates the listener of the admin API and the console, which need the metrics; for a private port, whose server
   * rejects host names that are not its own. `readMetrics` returns the samples of several processes. Rejects with
   * `AdminTokensUnsupported`, or with an `Error` as `metrics` does.
   */
  readonly console: (readMetrics?: History.ReadMetrics) => Promise<NodeListener.NodeListener>
  /**
   * Returns the metrics in the Prometheus text format, for a page such as `/metrics`; throws an `Error` if the store
   * was opened without `metrics: true` and without `otlp`.
   */
  readonly metrics: () => string
  /**
   * Returns the metrics as values that another process can add to its own; throws as `metrics` does. A `sample` lacks
   * those of the event loop, which describe the time since the previous reading.
   */
  readonly readMetrics: (isSample?: boolean) => Snapshot
  /**
   * Prepares for `close`: `/readyz` returns 503, and responses through `listen` and `nodeListener` have the header
   * `Connection: close`, so that load balancers and clients move to another process. Requests are still handled.
   * Resolves after `ms` milliseconds, or immediately if the store has received no request or is closed. Rejects with
   * `InvalidOption` if `ms` is not a whole number from 0 to 2147483647.
   */
  readonly drain: (ms: number) => Promise<void>
  /**
   * Drains for `drainMs` milliseconds (default 0), stops the servers that `listen` started, waits at most ten seconds
   * for other requests in flight except those that `admit` admitted, and closes the database. Further calls return the
   * same promise; a call without `drainMs` ends the drain. If the argument is invalid, closes without a drain, then
   * rejects with `InvalidOption`.
   */
  readonly close: (options?: Arguments.CloseOptions) => Promise<void>
}

/**
 * Opens a store. Rejects with `InvalidOption`, `InvalidDatabase`, `DatabaseUnusable`, `RedisUnusable`, the reason of
 * `signal`, or an `Error` if Node is too old.
 *
 * @example
 * ```ts
 * const store = await openAnimalStore({ database: "memory:" })
 * const { key } = await store.keys.issue({ plan: "Free" })
 * http.createServer(store.nodeListener).listen(3000)
 * ```
 */
export const openAnimalStore = async (options: AnimalStoreOptions = {}): Promise<AnimalStore> => {
  const problem = NodeVersion.findProblem(process.versions.node, packageJson.engines.node)
  if (problem !== undefined) throw new Error(problem)
  const complete = Result.getOrThrowWith(OptionTable.resolve<Complete>(table, options), (invalid) => invalid)
  const { signal } = complete
  signal?.throwIfAborted()
  const scope = Scope.makeUnsafe()
  const { context, meter } = await Effect.runPromise(
    Effect.onError(build(complete, scope), (cause) => Scope.close(scope, Exit.failCause(cause))),
    signal === undefined ? {} : { signal }
  ).catch((error: unknown) => Promise.reject(signal?.aborted === true ? signal.reason : error))
  const run = Effect.runPromiseWith(context)
  const drainPeriod = await run(DrainPeriod.make)
  const fetchOptions = Options.pick<FetchHandlerOptions.FetchHandlerOptions>(
    FetchHandlerOptions.table,
    complete
  )
  const requireMeter = (): Meter => {
    if (meter === undefined) throw new Error("metrics are off: open the store with metrics: true")
    return meter
  }
  let closing: Promise<void> | undefined
  return {
    nodeListener: await run(NodeListener.make),
    guard: await run(Guard.make),
    fetch: await run(FetchHandler.make(fetchOptions)),
    admit: await run(Admission.make(fetchOptions)),
    listen: async (serverOptions) => {
      // A server in a closed scope would stop immediately, and its address would be useless.
      if (closing !== undefined) throw new Error("the store is closed")
      return run(Scope.provide(NodeServer.make(serverOptions), scope))
    },
    error: OperationError.makerOf(OwnErrors.ofOperations(complete.errors)),
    keys: Keys.make(run),
    pets: Pets.make(run),
    adminTokens: Keys.make((program) => run(AdminTokens.provide(program))),
    console: async (readMetrics) => {
      if (readMetrics === undefined) requireMeter()
      // Imported on demand, because most stores have no console.
      const { make } = await import("./Console.ts")
      const readOwn = async () => new Map([[1, requireMeter().snapshot(true)]])
      return run(Scope.provide(make(readMetrics ?? readOwn), scope))
    },
    metrics: () => requireMeter().prometheus(),
    readMetrics: (isSample) => requireMeter().snapshot(isSample),
    drain: (ms) => run(Effect.flatMap(Arguments.ofDrain(ms), drainPeriod.run)),
    close: (given) => {
      const checked = Arguments.ofClose(given)
      const drainMs = Result.getOrElse(checked, () => 0)
      const drain = drainMs > 0 ? drainPeriod.run(drainMs) : Effect.void
      closing ??= run(Effect.all([drain, drainPeriod.end, Scope.close(scope, Exit.void)], { discard: true }))
      // Also ends the drain of an earlier call.
      if (drainMs === 0) Effect.runSync(drainPeriod.end)
      // Closes the store anyway: an invalid argument must not prevent a process from stopping.
      return Result.isFailure(checked) ? closing.then(() => Promise.reject(checked.failure)) : closing
    }
  }
}

const build = Effect.fnUntraced(function* (options: Complete, scope: Scope.Scope) {
  const { ban, limits, now } = options
  const clock = now === undefined ? "database" : "service"
  const { database } = options
  const all =
    typeof database === "string"
      ? yield* Effect.fromResult(Database.stores(database, options, clock))
      : database
  const stores =
    limits === undefined
      ? all
      : Layer.merge(all, yield* Effect.fromResult(Database.limits(limits, options, clock)))
  const observation = yield* Observation.make(options).pipe(
    Effect.provide(SecureRandom.layerWebCrypto),
    Scope.provide(scope)
  )
  const settings = Layer.mergeAll(
    observation.layer,
    options.docs ? Layer.succeed(StaticFiles, yield* referencePage(options)) : Layer.empty,
    Layer.succeed(Actor, OsUser.name()),
    Layer.succeed(BanPolicy.BanPolicy, {
      ...BanPolicy.standard,
      ...Options.pick(BanPolicy.rules, ban ?? {})
    }),
    Layer.succeed(OwnPlans, options.plans),
    Layer.succeed(CountPer, options.countPer),
    now === undefined ? Layer.empty : Layer.effect(Clock.Clock, HostClock.make(now))
  )
  const layer = InFlight.layer.pipe(
    Layer.provideMerge(
      observation.withTracing(
        Layer.unwrap(
          Effect.map(hostOperations(options), (own) =>
            Service.layer(Options.pick<ServiceOptions.ServiceOptions>(ServiceOptions.table, options), [
              ...Operations.all,
              ...own
            ])
          )
        )
      )
    ),
    Layer.provideMerge(Layer.provideMerge(KeyLog.layer, stores)),
    Layer.provideMerge(Layer.mergeAll(NodeDigest.layer, SecureRandom.layerWebCrypto)),
    Layer.provideMerge(settings)
  )
  return { context: yield* Layer.buildWithScope(layer, scope), meter: observation.meter }
})

/** Imports the operations of the host on demand, because most stores have none. */
const hostOperations = (options: Complete) =>
  options.operations.length === 0
    ? Effect.succeed([])
    : Effect.flatMap(
        Effect.promise(() => import("./HostOperations.ts")),
        ({ make }) => make(options.operations, options)
      )

/** Imports the page on demand, because most stores have no page, and not every host has a file system. */
const referencePage = ({ basePath, publicBaseUrl }: Complete) =>
  Effect.promise(() => import("../pages/ReferencePage.ts")).pipe(
    Effect.flatMap(({ files, prefixOf }) => files(prefixOf(publicBaseUrl, basePath))),
    Effect.mapError(
      ({ cause }) =>
        new InvalidOption({ option: "docs", reason: `the files of the page cannot be read: ${cause}` })
    )
  )
