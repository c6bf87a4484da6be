/** `animal-store serve`: the reference server. */

import * as Console from "effect/Console"
import type * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import type { AnimalStore, IssuedApiKey } from "../embed/index.ts"
import * as AdminServer from "./AdminServer.ts"
import * as Database from "./Database.ts"
import * as DurationFlag from "./DurationFlag.ts"
import * as Failure from "./Failure.ts"
import * as FirstKeyFlag from "./FirstKeyFlag.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as LogFlags from "./LogFlags.ts"
import * as Output from "./Output.ts"
import * as Setting from "./Setting.ts"
import * as StopSignal from "./StopSignal.ts"
import * as TelemetryFlags from "./TelemetryFlags.ts"
import * as TestClock from "./TestClock.ts"

const MAX_PORT = 65_535
const MAX_CONNECTIONS = 1_000_000

const MAX_DRAIN_MS = 3_600_000

/** The command; it runs until it is interrupted. */
export const serve = Command.make(
  "serve",
  {
    host: Setting.withDefault("host", "HOST", "Address to listen on.", Setting.text, "127.0.0.1"),
    port: Setting.withDefault(
      "port",
      "PORT",
      "Port to listen on; 0 chooses a free port.",
      Setting.natural(MAX_PORT),
      "3000"
    ),
    database: Database.address,
    limits: Database.limits,
    databaseTimeoutMs: Database.timeoutMs,
    databaseConnections: Database.connections,
    keyCacheMs: Database.keyCacheMs,
    maxAnonymousStates: Database.maxAnonymousStates,
    issueKeys: Setting.repeated(
      "issue-key",
      "PLAN[:perMinute=N,perDay=N]",
      "Issue a key at start; repeatable. Enterprise requires both limits.",
      IssueKeyFlag.parse
    ),
    firstKey: FirstKeyFlag.firstKey,
    json: Setting.toggle(
      "json",
      "Print exactly one line of JSON on standard output once the server listens."
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
    drainMs: Setting.withDefault(
      "drain",
      "DURATION",
      "Time after SIGTERM in which /readyz returns 503 and requests are still accepted, such as 15s.",
      DurationFlag.parse(0, MAX_DRAIN_MS),
      "5s"
    ),
    maxConnectionsPerAddress: Setting.make(
      "max-connections-per-address",
      "N",
      "Maximum number of open connections per IPv4 address or IPv6 /64; no limit by default.",
      Setting.between(1, MAX_CONNECTIONS)
    ).pipe(Flag.optional),
    ...LogFlags.flags,
    ...TelemetryFlags.flags,
    testClockPort: Setting.make(
      "test-clock-port",
      "PORT",
      "For conformance tests only: serve a clock on the loopback address that tests can advance.",
      Setting.natural(MAX_PORT)
    ).pipe(Flag.optional)
  },
  Effect.fn("serve")(function* (flags) {
    const clock = TestClock.make()
    const store = yield* Database.open({
      database: flags.database,
      limits: Option.getOrUndefined(flags.limits),
      databaseTimeoutMs: flags.databaseTimeoutMs,
      databaseConnections: flags.databaseConnections,
      keyCacheMs: flags.keyCacheMs,
      maxAnonymousStates: flags.maxAnonymousStates,
      publicBaseUrl: Option.getOrUndefined(flags.publicBaseUrl),
      stagingBaseUrl: Option.getOrUndefined(flags.stagingBaseUrl),
      strict: flags.strict,
      trustedProxyHops: flags.trustedProxyHops,
      ...LogFlags.options(flags, process.stderr.isTTY),
      ...TelemetryFlags.options(flags),
      now: Option.isSome(flags.testClockPort) ? clock.now : undefined
    })
    if (Option.isSome(flags.testClockPort)) {
      const { port } = yield* Effect.mapError(
        TestClock.serve(clock, flags.testClockPort.value),
        Failure.userError
      )
      yield* Console.error(`animal-store: the test clock listens on http://127.0.0.1:${port}/clock`)
    }
    if (Option.isSome(flags.adminPort)) {
      const admin = yield* Effect.mapError(
        AdminServer.serve(store, flags.adminHost, flags.adminPort.value),
        Failure.userError
      )
      yield* LogFlags.notice(flags, `metrics on http://${localHost(flags.adminHost)}:${admin.port}/metrics`)
    }
    const { port } = yield* Failure.attempt(() =>
      store.listen({
        host: flags.host,
        port: flags.port,
        maxConnectionsPerAddress: Option.getOrUndefined(flags.maxConnectionsPerAddress)
      })
    )
    const url = `http://${localHost(flags.host)}:${port}/v1`
    // Issued last: if the start failed after this, the secrets would be lost.
    const isFirstWanted = FirstKeyFlag.isWanted(flags.firstKey, {
      isTerminal: process.stdout.isTTY === true,
      json: flags.json
    })
    const keys = yield* issueAtStart(store, flags.issueKeys, isFirstWanted)
    yield* Output.print(
      flags.json
        ? JSON.stringify({ url, keys: keys.map(({ id, key, plan }) => ({ id, plan, key })) })
        : greeting(url, keys, flags.database)
    )
    return yield* Effect.onInterrupt(Effect.never, () => drain(store, flags))
  }, Effect.scoped)
).pipe(Command.withDescription("Run the animal store over HTTP."))

/** Runs the drain period, which a second signal ends early; the store closes with the scope. */
const drain = Effect.fnUntraced(function* (
  store: AnimalStore,
  flags: LogFlags.Values & { readonly drainMs: number }
) {
  const { drainMs } = flags
  const period = `accepting requests for ${DurationFlag.format(drainMs)}, or until a second signal; then `
  yield* LogFlags.notice(flags, `stopping; ${drainMs === 0 ? "" : period}waiting for requests in flight`)
  yield* Effect.raceFirst(
    Effect.promise(() => store.drain(drainMs)),
    StopSignal.second
  )
})

/** Issues the requested keys in order; without a request, the first key of the store if it is wanted. */
const issueAtStart = (
  store: AnimalStore,
  requested: ReadonlyArray<KeyLifecycle.IssueOptions>,
  isFirstWanted: boolean
): Effect.Effect<ReadonlyArray<IssuedApiKey>, CliError.UserError> => {
  if (requested.length > 0) {
    return Effect.forEach(requested, (options) => Failure.attempt(() => store.keys.issue(options)))
  }
  if (!isFirstWanted) return Effect.succeed([])
  return Effect.map(
    Failure.attempt(() => store.keys.issueFirst({ plan: "Free" })),
    (first) => (first === undefined ? [] : [first])
  )
}

/** Returns the host for URLs on this machine, given the host that the server is bound to. */
const localHost = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}

const greeting = (url: string, keys: ReadonlyArray<IssuedApiKey>, database: string): string => {
  const [first] = keys
  const lines =
    first === undefined
      ? [`  Data is stored in ${Database.locationOf(database)}`, `  ${Database.issueHint(database)}`]
      : [
          ...keys.map(({ key, plan }) => `  ${plan} key, shown only now: ${key}`),
          "",
          `  curl -i -H 'Authorization: Bearer ${first.key}' ${url}/pets`,
          "",
          `  Data is stored in ${Database.locationOf(database)}`
        ]
  return [`animal-store listens on ${url}`, "", ...lines, ""].join("\n")
}
