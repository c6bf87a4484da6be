/** Converts the flags of `serve` to the options of the store and its server. */
import * as Option from "effect/Option"
import type { AnimalStoreOptions, NodeServerOptions } from "../embed/index.ts"
import * as LogFlags from "./LogFlags.ts"
import * as ServeFlags from "./ServeFlags.ts"
import * as TelemetryFlags from "./TelemetryFlags.ts"

/** Returns the options of the store; `isTerminal` is true if standard error is a terminal. */
export const options = (flags: ServeFlags.Values, isTerminal: boolean): AnimalStoreOptions => ({
  database: flags.database,
  limits: Option.getOrUndefined(flags.limits),
  databaseTimeoutMs: flags.databaseTimeoutMs,
  databaseConnections: flags.databaseConnections,
  keyCacheMs: flags.keyCacheMs,
  maxAnonymousStates: flags.maxAnonymousStates,
  onLimitsUnavailable: flags.onLimitsUnavailable,
  publicBaseUrl: Option.getOrUndefined(flags.publicBaseUrl),
  stagingBaseUrl: Option.getOrUndefined(flags.stagingBaseUrl),
  strict: flags.strict,
  trustedProxyHops: flags.trustedProxyHops,
  corsOrigins: flags.corsOrigins,
  standardHeaders: Option.getOrElse(flags.standardHeaders, () => true),
  idempotencyKeys: Option.getOrElse(flags.idempotencyKeys, () => true),
  docs: ServeFlags.hasDocs(flags),
  deprecationUrl: Option.getOrUndefined(flags.deprecationUrl),
  ...LogFlags.options(flags, isTerminal),
  ...TelemetryFlags.options(flags)
})

/** Returns the options of the server. */
export const serverOptions = (flags: ServeFlags.Values): Partial<NodeServerOptions> => ({
  host: flags.host,
  port: flags.port,
  maxConnectionsPerAddress: Option.getOrUndefined(flags.maxConnectionsPerAddress)
})
