/** Defines the flags of `serve`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Database from "./Database.ts"
import * as DurationFlag from "./DurationFlag.ts"
import * as Failure from "./Failure.ts"
import * as FirstKeyFlag from "./FirstKeyFlag.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as LogFlags from "./LogFlags.ts"
import * as Setting from "./Setting.ts"
import * as TelemetryFlags from "./TelemetryFlags.ts"
import * as WorkerCount from "./workers/WorkerCount.ts"

const MAX_PORT = 65_535
const MAX_CONNECTIONS = 1_000_000

const MAX_DRAIN_MS = 3_600_000

/** All flags, including the logging and telemetry flags. */
export const flags = {
  host: Setting.withDefault("host", "HOST", "Address to listen on.", Setting.text, "127.0.0.1"),
  port: Setting.withDefault(
    "port",
    "PORT",
    "Port to listen on; 0 chooses a free port.",
    Setting.natural(MAX_PORT),
    "3000"
  ),
  workers: WorkerCount.flag,
  database: Database.address,
  limits: Database.limits,
  databaseTimeoutMs: Database.timeoutMs,
  databaseConnections: Database.connections,
  keyCacheMs: Database.keyCacheMs,
  maxAnonymousStates: Database.maxAnonymousStates,
  onLimitsUnavailable: Setting.withDefault(
    Failure.flagOf.onLimitsUnavailable,
    "closed|open",
    "While limits cannot be checked: closed rejects requests with 503, open handles them without counting.",
    Setting.oneOf(["closed", "open"]),
    "closed"
  ),
  issueKeys: Setting.repeated(
    "issue-key",
    "PLAN[:perMinute=N,perDay=N]",
    "Issue a key at startup; repeatable. Enterprise requires both limits.",
    IssueKeyFlag.parse
  ),
  firstKey: FirstKeyFlag.firstKey,
  json: Setting.toggle(
    "json",
    "Once the server listens, print one line of JSON, and nothing else, to standard output."
  ),
  publicBaseUrl: Setting.make(
    Failure.flagOf.publicBaseUrl,
    "URL",
    "Public URL of the service, such as https://example.org/v1; makes links absolute.",
    Setting.text
  ).pipe(Flag.optional),
  stagingBaseUrl: Setting.make(
    Failure.flagOf.stagingBaseUrl,
    "URL",
    "Public URL of the staging environment, for the OpenAPI document.",
    Setting.text
  ).pipe(Flag.optional),
  strict: Setting.toggle(Failure.flagOf.strict, "Reject unknown body fields and query parameters."),
  trustedProxyHops: Setting.withDefault(
    Failure.flagOf.trustedProxyHops,
    "N",
    "Number of trusted proxies that append to X-Forwarded-For.",
    Setting.natural(100),
    "0"
  ),
  corsOrigins: Setting.repeated(
    Failure.flagOf.corsOrigins,
    "ORIGIN",
    "Let web pages from this origin, such as https://shop.example, read responses (CORS); repeatable, * means all. " +
      "Default: none.",
    Setting.text
  ),
  standardHeaders: Setting.preference(
    Failure.flagOf.standardHeaders,
    "Send RateLimit and RateLimit-Policy in addition to the X-RateLimit headers. Default: on."
  ),
  idempotencyKeys: Setting.preference(
    Failure.flagOf.idempotencyKeys,
    "Obey Idempotency-Key, so that a repeated POST creates no second animal. Default: on."
  ),
  docs: Setting.preference(
    Failure.flagOf.docs,
    "Serve the reference page at /docs, and a start page for browsers at /, without a key. Default: on."
  ),
  deprecationUrl: Setting.make(
    Failure.flagOf.deprecationUrl,
    "URL",
    "Page about deprecated operations; their responses link to it.",
    Setting.text
  ).pipe(Flag.optional),
  drainMs: Setting.withDefault(
    "drain",
    "DURATION",
    "Time after SIGTERM during which /readyz returns 503 and requests are still accepted, such as 15s.",
    DurationFlag.parse(0, MAX_DRAIN_MS),
    "5s"
  ),
  maxConnectionsPerAddress: Setting.make(
    "max-connections-per-address",
    "N",
    "Maximum number of open connections per IPv4 address or IPv6 /64 in each process. Default: no limit.",
    Setting.between(1, MAX_CONNECTIONS)
  ).pipe(Flag.optional),
  ...LogFlags.flags,
  ...TelemetryFlags.flags,
  testClockPort: Setting.make(
    "test-clock-port",
    "PORT",
    "For conformance tests only: serve, on the loopback address, a clock that tests can advance.",
    Setting.natural(MAX_PORT)
  ).pipe(Flag.optional)
}

/** The parsed values of `flags`. */
export type Values = Command.Command.Config.Infer<typeof flags>

/** Whether the reference page is served; true by default. */
export const hasDocs = ({ docs }: Pick<Values, "docs">): boolean => Option.getOrElse(docs, () => true)
