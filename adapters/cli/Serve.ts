/** `animal-store serve`: the reference server. */

import * as Console from "effect/Console"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import {
  type AnimalStore,
  InvalidDatabase,
  InvalidOption,
  type IssuedApiKey,
  openAnimalStore
} from "../embed/index.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as Setting from "./Setting.ts"
import * as TestClock from "./TestClock.ts"

const MAX_PORT = 65_535

/** The flag of each option of the service that has one. */
const flagOf = {
  publicBaseUrl: "public-base-url",
  stagingBaseUrl: "staging-base-url",
  strict: "strict",
  trustedProxyHops: "trusted-proxy-hops"
} as const

/** The command; it runs until it is interrupted. */
export const serve = Command.make(
  "serve",
  {
    host: Setting.make("host", "HOST", "Address to listen on.", Setting.text).pipe(
      Flag.withDefault("127.0.0.1")
    ),
    port: Setting.make(
      "port",
      "PORT",
      "Port to listen on; 0 takes a free one.",
      Setting.natural(MAX_PORT)
    ).pipe(Flag.withDefault(3000)),
    database: Setting.make(
      "database",
      "ADDRESS",
      "Where everything is kept; 'memory:' ends with the process.",
      Setting.text
    ).pipe(Flag.withDefault("memory:")),
    issueKeys: Setting.repeated(
      "issue-key",
      "PLAN[:perMinute=N,perDay=N]",
      "Issue a key at start; may be given several times. Enterprise needs both numbers.",
      IssueKeyFlag.parse
    ),
    json: Setting.toggle(
      "json",
      "Print one line of JSON on standard output once the server listens, and nothing else."
    ),
    publicBaseUrl: Setting.make(
      flagOf.publicBaseUrl,
      "URL",
      "Address that clients see, such as https://example.org/v1; makes links absolute.",
      Setting.text
    ).pipe(Flag.optional),
    stagingBaseUrl: Setting.make(
      flagOf.stagingBaseUrl,
      "URL",
      "The same of the staging environment, for the OpenAPI document.",
      Setting.text
    ).pipe(Flag.optional),
    strict: Setting.toggle(flagOf.strict, "Refuse unknown body fields and query parameters."),
    trustedProxyHops: Setting.make(
      flagOf.trustedProxyHops,
      "N",
      "Proxies in front that append to X-Forwarded-For.",
      Setting.natural(100)
    ).pipe(Flag.withDefault(0)),
    testClockPort: Setting.make(
      "test-clock-port",
      "PORT",
      "For conformance tests only: serve a clock that can be moved, on the loopback address.",
      Setting.natural(MAX_PORT)
    ).pipe(Flag.optional)
  },
  Effect.fn("serve")(function* (flags) {
    const clock = TestClock.make()
    const store = yield* Effect.acquireRelease(
      userPromise(() =>
        openAnimalStore({
          database: flags.database,
          publicBaseUrl: Option.getOrUndefined(flags.publicBaseUrl),
          stagingBaseUrl: Option.getOrUndefined(flags.stagingBaseUrl),
          strict: flags.strict,
          trustedProxyHops: flags.trustedProxyHops,
          now: Option.isSome(flags.testClockPort) ? clock.now : undefined
        })
      ),
      (store) => Effect.promise(() => store.close())
    )
    const keys = yield* issueAtStart(store, flags.issueKeys)
    if (Option.isSome(flags.testClockPort)) {
      const { port } = yield* Effect.mapError(TestClock.serve(clock, flags.testClockPort.value), userError)
      yield* Console.error(`animal-store: the test clock listens on http://127.0.0.1:${port}/clock`)
    }
    const { port } = yield* userPromise(() => store.listen({ host: flags.host, port: flags.port }))
    const url = `http://${reachable(flags.host)}:${port}/v1`
    yield* Console.log(flags.json ? JSON.stringify({ url, keys }) : greeting(url, keys))
    return yield* Effect.onInterrupt(Effect.never, () =>
      Console.error("animal-store: stopping; requests in flight may finish")
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Run the animal store over HTTP."))

/** The keys that were asked for, in that order; a store in which nobody has a key gets one of plan Free. */
const issueAtStart = Effect.fnUntraced(function* (
  store: AnimalStore,
  requested: ReadonlyArray<KeyLifecycle.IssueOptions>
): Effect.fn.Return<ReadonlyArray<IssuedApiKey>, CliError.UserError> {
  const existing = yield* userPromise(() => store.keys.list())
  const wanted = requested.length === 0 && existing.length === 0 ? [{ plan: "Free" as const }] : requested
  return yield* Effect.forEach(wanted, (options) => userPromise(() => store.keys.issue(options)))
})

const userPromise = <A>(evaluate: () => Promise<A>): Effect.Effect<A, CliError.UserError> =>
  Effect.tryPromise({ try: evaluate, catch: userError })

const userError = (cause: unknown): CliError.UserError =>
  new CliError.UserError({ cause, userMessage: messageOf(cause) })

/** What went wrong, in the words of the command line: flags instead of options. */
const messageOf = (cause: unknown): string => {
  if (cause instanceof InvalidDatabase) return `${Setting.title("database")}: ${cause.reason}`
  if (cause instanceof InvalidOption && cause.option in flagOf) {
    // checked by the line above
    return `${Setting.title(flagOf[cause.option as keyof typeof flagOf])}: ${cause.reason}`
  }
  if (!(cause instanceof Error)) return String(cause)
  const reason = cause.message === "" ? cause.name : cause.message
  return cause.cause instanceof Error && cause.message === "" ? `${reason}: ${cause.cause.message}` : reason
}

/** How a program on this machine writes the host that the server is bound to. */
const reachable = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") ? `[${host}]` : host
}

const greeting = (url: string, keys: ReadonlyArray<IssuedApiKey>): string => {
  const shown = keys.map(({ key, plan }) => `  ${plan} key, shown only now: ${key}`)
  const [first] = keys
  const example =
    first === undefined ? [] : ["", `  curl -i -H 'Authorization: Bearer ${first.key}' ${url}/pets`]
  return [`animal-store listens on ${url}`, "", ...shown, ...example, ""].join("\n")
}
