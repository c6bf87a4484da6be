/** Opens nodes that share one Redis server or cluster, and reads the states that they store. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll } from "vitest"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { consume as consumeWith, RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type { CallOptions } from "../storage/StorageOptions.ts"
import * as Redis from "./Redis.ts"
import * as RedisServers from "./RedisServers.fixture.ts"
import type { RedisUnusable } from "./RedisUnusable.ts"

/** A Redis server, or a cluster of three nodes. */
export interface Deployment {
  readonly address: string
  /** Sends a command to the server that contains the key. */
  readonly send: (key: string, ...command: ReadonlyArray<string>) => Promise<unknown>
  /** Deletes all keys. */
  readonly empty: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** The kinds of deployments; the store must behave the same on both. */
export const topologies = ["server", "cluster"] as const

/** Starts a server or a cluster. */
export const startDeployment = async (
  kind: RedisServers.Kind,
  topology: (typeof topologies)[number]
): Promise<Deployment> => {
  if (topology === "server") {
    const server = await RedisServers.start(kind)
    const client = await server.connect()
    return {
      address: server.address,
      send: (_, ...command) => client.send(...command),
      empty: async () => void (await client.send("FLUSHALL")),
      stop: async () => {
        client.close()
        await server.stop()
      }
    }
  }
  const { nodes, ...cluster } = await RedisServers.startCluster(kind)
  const clients = await Promise.all(nodes.map((node) => node.connect()))
  return {
    ...cluster,
    empty: async () => void (await Promise.all(clients.map((client) => client.send("FLUSHALL")))),
    stop: async () => {
      for (const client of clients) client.close()
      await cluster.stop()
    }
  }
}

/** Opens another node, with its own connections; by default, the test provides the time. */
export const open = (
  address: string,
  options: Partial<CallOptions> = {}
): Effect.Effect<RateLimitStore["Service"], RedisUnusable, Scope.Scope> =>
  Effect.map(Layer.build(layer(address, { clock: "service", ...options })), (services) =>
    Context.get(services, RateLimitStore)
  )

/** Returns the layer of a node, with a long timeout because machines that run many tests concurrently are slow. */
export const layer = (address: string, options: Partial<CallOptions> = {}) =>
  Redis.layer({ url: Redacted.make(address), timeoutMs: 20_000, ...options })

/** Counts a request as the service does: the script runs in Redis. */
export const consume = (
  store: RateLimitStore["Service"],
  caller: string,
  now: number,
  policy: RateLimit.Policy,
  cost = 1
): Effect.Effect<RateLimit.Verdict, StoreUnavailable> => consumeWith(store, caller, now, policy, cost)

/** Counts a request with `modify` and the core's step. */
export const modify = (
  store: RateLimitStore["Service"],
  caller: string,
  now: number,
  policy: RateLimit.Policy,
  cost = 1
): Effect.Effect<RateLimit.Verdict, StoreUnavailable> =>
  store.modify(caller, (state) => RateLimit.step(state, now, policy, cost))

/** Returns the stored state of a caller that is not a network. */
export const readState = async (
  deployment: Pick<Deployment, "send">,
  caller: string
): Promise<RateLimit.State | undefined> => {
  const key = `animal-store:{${caller}}`
  const text = await deployment.send(key, "GET", key)
  return text === null ? undefined : RateLimitFields.stateOf(String(text).split(" "))
}

const OPENING_MS = 60_000

/** Starts a resource before the tests of the current `describe`, and stops it after them. */
export const forAllTests = <A extends { readonly stop: () => Promise<void> }>(
  start: () => Promise<A>
): (() => A) => {
  let started: A | undefined
  beforeAll(async () => {
    started = await start()
  }, OPENING_MS)
  afterAll(() => started?.stop(), OPENING_MS)
  return () => {
    if (started === undefined) throw new Error("the resource is started only while tests run")
    return started
  }
}

/** Runs an effect in a scope, for tests that are not effects. */
export const inScope = async <A, E>(use: Effect.Effect<A, E, Scope.Scope>): Promise<A> => {
  const scope = Scope.makeUnsafe()
  try {
    return await Effect.runPromise(Scope.provide(use, scope))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
