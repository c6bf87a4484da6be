/** Everything put together for programs that do not use Effect: one promise, then listeners and functions. */
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

/** What `openAnimalStore` takes: the options of the service, and those of what it stands on. */
export interface AnimalStoreOptions extends Partial<ServiceOptions>, Partial<Database.DatabaseOptions> {
  /**
   * Where everything is kept: `memory:` (the default) ends with the process, `sqlite:PATH` is a file, `postgres://…` a
   * server.
   */
  readonly database?: string | undefined
  /** When a key is banned for going on after a 429; what is absent is as in `BanPolicy.standard`. */
  readonly ban?: Partial<BanPolicy.BanPolicy> | undefined
  /** Epoch milliseconds that count as now, for tests; the machine's time by default. */
  readonly now?: (() => number) | undefined
  /**
   * Receives what the service reports, such as failures behind a 500 or 503, standard error by default: the first line of
   * a kind at once, repetitions as one summary a second. It may throw or return a promise that rejects: lines that are lost
   * so are counted, and the count precedes the next line. It must not block.
   */
  readonly log?: ((line: string) => void) | undefined
  /** The caller's address for `fetch`, where the host knows it; without it all share one anonymous bucket. */
  readonly clientAddress?: FetchHandler.FetchHandlerOptions["clientAddress"]
  /** Aborts the opening, for example of a database that does not respond; without effect once the store is open. */
  readonly signal?: AbortSignal | undefined
}

/** A key at the moment it is issued or rotated; `key` is the secret, shown here only. */
export interface IssuedApiKey extends Pick<ApiKey, "id" | "plan" | "limits" | "label"> {
  readonly key: string
  /** Epoch milliseconds at which the secret that it replaces stops to be accepted; `undefined` for a new key. */
  readonly oldKeyExpiresAt: number | undefined
}

/** An open store. */
export interface AnimalStore {
  /** For `http.createServer`, Express and Connect (`app.use("/v1", …)`), Fastify: before any body parser. */
  readonly nodeListener: NodeListener.NodeListener
  /** For web-standard hosts: Hono, Bun, Deno, route handlers. */
  readonly fetch: FetchHandler.FetchHandler
  /** Starts a server of its own; it is stopped by `close`. Rejects with `ListenFailed`, and once the store is closed. */
  readonly listen: (options?: Partial<NodeServer.NodeServerOptions>) => Promise<AddressInfo>
  /** Administration of keys. Each also rejects with `StoreUnavailable` when the database is out of reach. */
  readonly keys: {
    /** Makes a key. Rejects with `PlanInvalid` when plan and numbers make no limits, or `LabelInvalid`. */
    readonly issue: (options: KeyLifecycle.IssueOptions) => Promise<IssuedApiKey>
    /** Makes a key if there is none yet, else answers `undefined`: of several that start at once, one gets a key. */
    readonly issueFirst: (options: KeyLifecycle.IssueOptions) => Promise<IssuedApiKey | undefined>
    /** All keys, oldest first; of their secrets only the hashes. */
    readonly list: () => Promise<ReadonlyArray<ApiKey>>
    /**
     * Gives the key a new secret; the old one works for `overlapMs` (0 or more) more. Rejects with `ApiKeyUnknown`,
     * `ApiKeyRevoked` or `OverlapInvalid`.
     */
    readonly rotate: (id: string, options: { readonly overlapMs: number }) => Promise<IssuedApiKey>
    /** Refuses the key from now on, and answers what is known of it. Rejects with `ApiKeyUnknown`. */
    readonly revoke: (id: string) => Promise<ApiKey>
  }
  /**
   * Prepares for `close`: from now on `/readyz` returns 503, and responses through `listen` and `nodeListener` carry
   * `Connection: close`, so that load balancers and clients move to another process; everything else still works. Resolves
   * after `ms` milliseconds, or at once where the store has received no request or is closed meanwhile.
   */
  readonly drain: (ms: number) => Promise<void>
  /**
   * Lets requests in flight finish, for ten seconds at most, stops servers that `listen` started, then closes the
   * database. Calling it again waits for the same end.
   */
  readonly close: () => Promise<void>
}

/**
 * Opens a store. Rejects with `InvalidOption`, `InvalidDatabase` or `DatabaseUnusable`, and with the reason of `signal`.
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
      // A server in a closed scope would be stopped as soon as it listens, and its address would answer nobody.
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
    log,
    now,
    ...rest
  } = options
  const stores = yield* Effect.fromResult(
    Database.stores(
      database,
      { databaseConnections, databaseTimeoutMs, keyCacheMs, maxAnonymousStates },
      now === undefined ? "database" : "service"
    )
  )
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
