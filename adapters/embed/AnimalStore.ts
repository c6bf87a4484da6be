/** The whole store for programs that do not use Effect: a promise of listeners and functions. */
import type { AddressInfo } from "node:net"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Service from "../../core/service/Service.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as NodeListener from "../http-node/NodeListener.ts"
import * as NodeServer from "../http-node/NodeServer.ts"
import * as Log from "../log/Log.ts"
import * as LogSink from "../log/LogSink.ts"
import * as Database from "./Database.ts"
import * as DrainPeriod from "./DrainPeriod.ts"
import * as InFlight from "./InFlight.ts"
import * as NodeDigest from "./NodeDigest.ts"

/** Options of `openAnimalStore`: those of the service, the database and the host. */
export interface AnimalStoreOptions extends Partial<ServiceOptions>, Partial<Database.DatabaseOptions> {
  /**
   * Address of the database: `memory:` (the default) loses its data with the process, `sqlite:PATH` is a file,
   * `postgres://…` a server.
   */
  readonly database?: string | undefined
  /** Where rate limits and bans are stored: an address as in `database`, which is the default. */
  readonly limits?: string | undefined
  /** When keys are banned for repeated requests after a 429; absent fields default to `BanPolicy.standard`. */
  readonly ban?: Partial<BanPolicy.BanPolicy> | undefined
  /** Returns the current time in epoch milliseconds, for tests; by default the system time. */
  readonly now?: (() => number) | undefined
  /**
   * Receives log lines, such as the cause of a 500 or 503; by default they go to standard error. The first line of a
   * kind is logged at once, repetitions as one summary per second. If the function throws or its promise rejects, the
   * lost lines are counted, and the count precedes the next line. It must not block.
   */
  readonly log?: ((line: string) => void) | undefined
  /** Returns the client address of a `fetch` request; without it, all anonymous clients share one rate limit. */
  readonly clientAddress?: FetchHandler.FetchHandlerOptions["clientAddress"]
  /** Aborts `openAnimalStore`, for example if the database does not respond; has no effect once the store is open. */
  readonly signal?: AbortSignal | undefined
}

/** A key that was just issued or rotated; `key` is the secret, which cannot be retrieved later. */
export interface IssuedApiKey extends Pick<ApiKey, "id" | "plan" | "limits" | "label"> {
  readonly key: string
  /** Epoch milliseconds at which the previous secret expires; `undefined` for a new key. */
  readonly oldKeyExpiresAt: number | undefined
}

/** An open store. */
export interface AnimalStore {
  /**
   * For `http.createServer`, Express and Connect (`app.use("/v1", …)`) and Fastify; mount it before any body parser.
   */
  readonly nodeListener: NodeListener.NodeListener
  /** For web-standard hosts: Hono, Bun, Deno and Next.js route handlers. */
  readonly fetch: FetchHandler.FetchHandler
  /** Starts a server, which `close` stops. Rejects with `ListenFailed`, or with an `Error` if the store is closed. */
  readonly listen: (options?: Partial<NodeServer.NodeServerOptions>) => Promise<AddressInfo>
  /** Administration of keys. All methods reject with `StoreUnavailable` if the database is unavailable. */
  readonly keys: {
    /** Issues a key. Rejects with `PlanInvalid` if plan and overrides give invalid limits, or with `LabelInvalid`. */
    readonly issue: (options: KeyLifecycle.IssueOptions) => Promise<IssuedApiKey>
    /**
     * Issues a key if the store has none, otherwise returns `undefined`. If several processes start on an empty store
     * at once, only one issues a key.
     */
    readonly issueFirst: (options: KeyLifecycle.IssueOptions) => Promise<IssuedApiKey | undefined>
    /** Returns all keys, oldest first, with the hashes of their secrets. */
    readonly list: () => Promise<ReadonlyArray<ApiKey>>
    /**
     * Issues a new secret for the key; the old one expires after `overlapMs` (0 or more). Rejects with `ApiKeyUnknown`,
     * `ApiKeyRevoked` or `OverlapInvalid`.
     */
    readonly rotate: (id: string, options: { readonly overlapMs: number }) => Promise<IssuedApiKey>
    /** Revokes the key and returns its record. Rejects with `ApiKeyUnknown`. */
    readonly revoke: (id: string) => Promise<ApiKey>
  }
  /**
   * Prepares for `close`: `/readyz` returns 503, and responses through `listen` and `nodeListener` carry
   * `Connection: close`, so that load balancers and clients move to another process. Requests are still served.
   * Resolves after `ms` milliseconds, or earlier if the store has received no request or is closed.
   */
  readonly drain: (ms: number) => Promise<void>
  /**
   * Waits at most ten seconds for requests in flight, stops the servers that `listen` started, and closes the database.
   * Further calls return the same promise.
   */
  readonly close: () => Promise<void>
}

/**
 * Opens a store. Rejects with `InvalidOption`, `InvalidDatabase`, `DatabaseUnusable`, or the reason of `signal`.
 *
 * @example
 * ```ts
 * const store = await openAnimalStore({ database: "memory:" })
 * const { key } = await store.keys.issue({ plan: "Free" })
 * http.createServer(store.nodeListener).listen(3000)
 * ```
 */
export const openAnimalStore = async (options: AnimalStoreOptions = {}): Promise<AnimalStore> => {
  const { signal } = options
  signal?.throwIfAborted()
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Effect.onError(build(options, scope), (cause) => Scope.close(scope, Exit.failCause(cause))),
    signal === undefined ? {} : { signal }
  ).catch((error: unknown) => Promise.reject(signal?.aborted === true ? signal.reason : error))
  const run = Effect.runPromiseWith(context)
  const drainPeriod = await run(DrainPeriod.make)
  let closing: Promise<void> | undefined
  return {
    nodeListener: await run(NodeListener.make),
    fetch: await run(FetchHandler.make(options)),
    listen: async (serverOptions) => {
      // A server in a closed scope would stop at once, and its address would be useless.
      if (closing !== undefined) throw new Error("the store is closed")
      return run(Scope.provide(NodeServer.make(serverOptions), scope))
    },
    keys: {
      issue: (issueOptions) => run(Effect.map(KeyLifecycle.issue(issueOptions), issued)),
      issueFirst: (issueOptions) =>
        run(
          Effect.map(KeyLifecycle.issueFirst(issueOptions), (first) =>
            Option.getOrUndefined(Option.map(first, issued))
          )
        ),
      list: () => run(KeyLifecycle.list),
      rotate: async (id, { overlapMs }) => run(Effect.map(KeyLifecycle.rotate(id, overlapMs), issued)),
      revoke: (id) => run(KeyLifecycle.revoke(id))
    },
    drain: (ms) => run(drainPeriod.run(ms)),
    close: () => {
      closing ??= run(Effect.andThen(drainPeriod.end, Scope.close(scope, Exit.void)))
      return closing
    }
  }
}

const build = Effect.fnUntraced(function* (options: AnimalStoreOptions, scope: Scope.Scope) {
  const {
    ban,
    database = "memory:",
    databaseConnections = Database.defaults.databaseConnections,
    databaseTimeoutMs = Database.defaults.databaseTimeoutMs,
    keyCacheMs = Database.defaults.keyCacheMs,
    maxAnonymousStates = Database.defaults.maxAnonymousStates,
    limits,
    log,
    now,
    ...rest
  } = options
  const databaseOptions = { databaseConnections, databaseTimeoutMs, keyCacheMs, maxAnonymousStates }
  const clock = now === undefined ? "database" : "service"
  const all = yield* Effect.fromResult(Database.stores(database, databaseOptions, clock))
  const stores =
    limits === undefined
      ? all
      : Layer.merge(all, yield* Effect.fromResult(Database.limits(limits, databaseOptions, clock)))
  const settings = Layer.mergeAll(
    Log.layer(log === undefined ? LogSink.toStream(process.stderr) : LogSink.toFunction(log)),
    Layer.succeed(BanPolicy.BanPolicy, banPolicyOf(ban)),
    now === undefined ? Layer.empty : Layer.succeed(Clock.Clock, clockOf(yield* Clock.Clock, now))
  )
  const layer = InFlight.layer.pipe(
    Layer.provide(Service.layer(rest)),
    Layer.provideMerge(stores),
    Layer.provideMerge(Layer.mergeAll(NodeDigest.layer, SecureRandom.layerWebCrypto)),
    Layer.provideMerge(settings)
  )
  return yield* Layer.buildWithScope(layer, scope)
})

const banPolicyOf = (ban: AnimalStoreOptions["ban"]): BanPolicy.BanPolicy => {
  const given = Object.entries(ban ?? {}).filter(([, value]) => value !== undefined)
  return { ...BanPolicy.standard, ...Object.fromEntries(given) }
}

const clockOf = (machine: Clock.Clock, now: () => number): Clock.Clock => ({
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now),
  currentTimeNanosUnsafe: () => BigInt(now()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(now()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: machine.monotonicTimeNanos,
  sleep: (duration) => machine.sleep(duration)
})

const issued = ({ key, secret }: KeyLifecycle.IssuedKey): IssuedApiKey => ({
  id: key.id,
  plan: key.plan,
  limits: key.limits,
  label: key.label,
  key: Redacted.value(secret),
  oldKeyExpiresAt: key.secrets[1]?.expiresAt
})
