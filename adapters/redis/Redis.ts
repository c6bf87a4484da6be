/** Provides the rate-limit store in Redis, which any number of machines can share. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as OptionTable from "../../core/options/OptionTable.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as ObservedStores from "../storage/ObservedStores.ts"
import * as StorageOptions from "../storage/StorageOptions.ts"
import * as RedisAddress from "./RedisAddress.ts"
import * as RedisCluster from "./RedisCluster.ts"
import type { RedisCommands } from "./RedisCommands.ts"
import * as RedisConnection from "./RedisConnection.ts"
import * as RedisFailure from "./RedisFailure.ts"
import * as RedisRateLimitStore from "./RedisRateLimitStore.ts"
import { RedisUnusable } from "./RedisUnusable.ts"

/** Options of `layer`. */
export interface RedisLayerOptions extends Partial<StorageOptions.CallOptions> {
  /** `redis://user:password@host:port/database`, or `rediss://…` for TLS; commas separate the hosts of a cluster. */
  readonly url: Redacted.Redacted<string>
}

/**
 * Provides the store in Redis 7.0 or newer, or in Valkey; detects whether it is one server or a cluster. Fails if an
 * option is invalid, or if Redis cannot be reached or used at startup; later, a lost connection is replaced.
 */
export const layer = ({ url, ...given }: RedisLayerOptions): Layer.Layer<RateLimitStore, RedisUnusable> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const options = yield* Effect.fromResult(resolve(given))
      const address = yield* Effect.fromResult(
        Result.mapError(RedisAddress.parse(Redacted.value(url)), (reason) => new RedisUnusable({ reason }))
      )
      const commands = yield* connect(address, options.timeoutMs)
      return ObservedStores.rateLimitStore("redis")(RedisRateLimitStore.layer(commands, options))
    })
  )

/** Adds the defaults; fails with the first unknown or invalid option. */
const resolve = (
  given: Partial<StorageOptions.CallOptions>
): Result.Result<StorageOptions.CallOptions, RedisUnusable> =>
  Result.mapError(
    OptionTable.resolve<StorageOptions.CallOptions>(StorageOptions.callTable, given),
    ({ option, reason }) => new RedisUnusable({ reason: `${option} ${reason}` })
  )

/** Connects to the server or the cluster; the scope closes the connections. */
const connect = Effect.fnUntraced(function* (
  address: RedisAddress.RedisAddress,
  timeoutMs: number
): Effect.fn.Return<RedisCommands, RedisUnusable, Scope.Scope> {
  const options = { ...address, timeoutMs }
  const context = yield* Effect.context<never>()
  const withTimeout = RedisFailure.withTimeout(timeoutMs)
  let failure = new RedisUnusable({ reason: "the address contains no host" })
  for (const host of address.hosts) {
    const connection = yield* Effect.acquireRelease(
      Effect.sync(() => RedisConnection.start(host, options, context)),
      ({ close }) => Effect.sync(close)
    )
    const server = yield* Effect.result(
      Effect.andThen(connection.firstAttempt, withTimeout(readServer(connection)))
    )
    if (Result.isFailure(server)) {
      connection.close()
      failure = explain(host, server.failure)
      continue
    }
    yield* Effect.fromResult(checkServer(server.success, address))
    yield* withTimeout(warnOfEviction(connection)).pipe(Effect.ignore)
    if (server.success.mode !== "cluster")
      return { send: (_, command, onReply) => connection.send(command, onReply) }
    connection.close()
    return yield* Effect.mapError(RedisCluster.make(address.hosts, options), (error) => explain(host, error))
  }
  return yield* Effect.fail(failure)
})

/** The version and the mode that a server reports. */
interface Server {
  readonly version: string
  readonly mode: string
}

const readServer = (
  connection: RedisConnection.RedisConnection
): Effect.Effect<Server, RedisFailure.CommandFailed> =>
  Effect.map(RedisConnection.call(connection, ["HELLO"]), (reply) => ({
    version: textIn(reply, "version"),
    mode: textIn(reply, "mode")
  }))

const textIn = (reply: unknown, name: string): string =>
  Predicate.hasProperty(reply, name) ? String(reply[name]) : ""

const MIN_MAJOR = 7

const checkServer = (
  { mode, version }: Server,
  { hosts }: RedisAddress.RedisAddress
): Result.Result<void, RedisUnusable> => {
  const reject = (reason: string) => Result.fail(new RedisUnusable({ reason }))
  if (Number.parseInt(version, 10) < MIN_MAJOR) {
    return reject(`the server is Redis ${version}; ${MIN_MAJOR}.0 or newer is required`)
  }
  if (mode === "sentinel") return reject("this is a Sentinel: pass the address of the Redis server itself")
  if (mode !== "cluster" && hosts.length > 1) {
    return reject("several hosts require a Redis Cluster, but this server does not belong to one")
  }
  return Result.void
}

/** Warns if Redis may evict rate limits when its memory is full; does nothing without the permission for `INFO`. */
const warnOfEviction = (connection: RedisConnection.RedisConnection): Effect.Effect<void> =>
  Effect.flatMap(Effect.option(RedisConnection.call(connection, ["INFO", "memory"])), (info) => {
    const [, policy] = /^maxmemory_policy:(\S+)/m.exec(String(Option.getOrElse(info, () => ""))) ?? []
    return policy === undefined || policy === "noeviction"
      ? Effect.void
      : Effect.logWarning(
          `Redis may evict rate limits and bans, because its maxmemory-policy is ${policy}: set it to noeviction`
        )
  })

const explain = (host: RedisAddress.Host, failure: RedisFailure.CommandFailed): RedisUnusable => {
  const server = `the Redis server at ${RedisAddress.textOf(host)}`
  const detail = RedisFailure.detailOf(failure)
  const reason = RedisFailure.isLoginFailure(failure)
    ? `${server} rejects the login: ${detail}`
    : RedisFailure.replyOf(failure) === ""
      ? `cannot reach ${server}: ${detail}`
      : `${server} reports: ${detail}`
  return new RedisUnusable({ reason, cause: failure.cause })
}
