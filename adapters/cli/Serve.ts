/** `animal-store serve`: the reference server. */

import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type AnimalStore, type IssuedApiKey, openAnimalStore } from "../embed/AnimalStore.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"
import * as TestClock from "./TestClock.ts"

const text = (name: string, variable: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(Config.String(variable))
  )

const natural = (name: string, variable: string, description: string, max: number) =>
  Flag.Int(name).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(Config.Int(variable)),
    Flag.filter(
      (value) => value >= 0 && value <= max,
      () => `a whole number from 0 to ${max}`
    )
  )

const toggle = (name: string, variable: string, description: string) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(`${description} [${variable}]`),
    Flag.withFallbackConfig(Config.Boolean(variable)),
    Flag.withDefault(false)
  )

const MAX_PORT = 65_535

const issueKeys = Flag.String("issue-key").pipe(
  Flag.withMetavar("PLAN[:perMinute=N,perDay=N]"),
  Flag.withDescription(
    "Issue a key at start; may be given several times. Enterprise needs both numbers. " +
      "[ANIMAL_STORE_ISSUE_KEY, separated by spaces]"
  ),
  Flag.atLeast(1),
  Flag.withFallbackConfig(Config.map(Config.String("ANIMAL_STORE_ISSUE_KEY"), (keys) => keys.split(/\s+/))),
  Flag.withDefault([] as ReadonlyArray<string>),
  Flag.mapEffect((keys) =>
    Effect.forEach(keys, (key) =>
      Effect.mapError(
        Effect.fromResult(IssueKeyFlag.parse(key)),
        (expected) => new CliError.InvalidValue({ option: "issue-key", value: key, expected, kind: "flag" })
      )
    )
  )
)

export const serve = Command.make(
  "serve",
  {
    host: text("host", "ANIMAL_STORE_HOST", "Address to listen on.").pipe(Flag.withDefault("127.0.0.1")),
    port: natural("port", "ANIMAL_STORE_PORT", "Port to listen on; 0 takes a free one.", MAX_PORT).pipe(
      Flag.withDefault(3000)
    ),
    database: text(
      "database",
      "ANIMAL_STORE_DATABASE",
      "Where everything is kept; 'memory:' ends with the process."
    ).pipe(Flag.withDefault("memory:")),
    issueKeys,
    json: toggle(
      "json",
      "ANIMAL_STORE_JSON",
      "Print one line of JSON on standard output once the server listens, and nothing else."
    ),
    publicBaseUrl: text(
      "public-base-url",
      "ANIMAL_STORE_PUBLIC_BASE_URL",
      "Address that clients see, such as https://example.org/v1; makes links absolute."
    ).pipe(Flag.optional),
    stagingBaseUrl: text(
      "staging-base-url",
      "ANIMAL_STORE_STAGING_BASE_URL",
      "The same of the staging environment, for the OpenAPI document."
    ).pipe(Flag.optional),
    strict: toggle("strict", "ANIMAL_STORE_STRICT", "Refuse unknown body fields and query parameters."),
    trustedProxyHops: natural(
      "trusted-proxy-hops",
      "ANIMAL_STORE_TRUSTED_PROXY_HOPS",
      "Proxies in front that append to X-Forwarded-For.",
      100
    ).pipe(Flag.withDefault(0)),
    testClockPort: natural(
      "test-clock-port",
      "ANIMAL_STORE_TEST_CLOCK_PORT",
      "For conformance tests only: serve a clock that can be moved, on the loopback address.",
      MAX_PORT
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
      yield* Effect.mapError(TestClock.serve(clock, flags.testClockPort.value), userError)
    }
    const { port } = yield* userPromise(() => store.listen({ host: flags.host, port: flags.port }))
    const url = `http://${flags.host.includes(":") ? `[${flags.host}]` : flags.host}:${port}/v1`
    yield* Console.log(flags.json ? JSON.stringify({ url, keys }) : greeting(url, keys))
    return yield* Effect.onInterrupt(Effect.never, () =>
      Console.error("animal-store is stopping; requests in flight may finish")
    )
  }, Effect.scoped)
).pipe(Command.withDescription("Run the animal store over HTTP."))

/** The keys that were asked for, in that order; a store in which nobody has a key gets one of plan Free. */
const issueAtStart = Effect.fnUntraced(function* (
  store: AnimalStore,
  requested: ReadonlyArray<IssueKeyFlag.IssueOptions>
): Effect.fn.Return<ReadonlyArray<IssuedApiKey>, CliError.UserError> {
  const existing = yield* userPromise(() => store.keys.list())
  const wanted = requested.length === 0 && existing.length === 0 ? [{ plan: "Free" as const }] : requested
  return yield* Effect.forEach(wanted, (options) => userPromise(() => store.keys.issue(options)))
})

const userPromise = <A>(evaluate: () => Promise<A>): Effect.Effect<A, CliError.UserError> =>
  Effect.tryPromise({ try: evaluate, catch: userError })

const userError = (cause: unknown): CliError.UserError =>
  new CliError.UserError({ cause, userMessage: cause instanceof Error ? cause.message : String(cause) })

const greeting = (url: string, keys: ReadonlyArray<IssuedApiKey>): string => {
  const shown = keys.map(({ key, plan }) => `  ${plan} key, shown only now: ${key}`)
  const [first] = keys
  const example =
    first === undefined ? [] : ["", `  curl -i -H 'Authorization: Bearer ${first.key}' ${url}/pets`]
  return [`animal-store listens on ${url}`, "", ...shown, ...example, ""].join("\n")
}
