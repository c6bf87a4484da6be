/** Prints the address and the issued keys to standard output once `serve` listens. */
import * as Clock from "effect/Clock"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import type * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import type { AnimalStore, IssuedApiKey } from "../embed/index.ts"
import type { LogEvent } from "../log/LogEvent.ts"
import * as LogFormat from "../log/LogFormat.ts"
import * as Database from "./Database.ts"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"
import * as LocalHost from "./LocalHost.ts"
import * as Output from "./Output.ts"
import * as ServeFlags from "./ServeFlags.ts"

/**
 * Issues the requested keys, or the first key, and prints the address and the keys. Call it last: if startup failed
 * afterwards, the secrets would be lost.
 */
export const issueAndPrint = Effect.fnUntraced(function* (
  store: AnimalStore,
  flags: ServeFlags.Values,
  port: number
): Effect.fn.Return<void, Output.WriteFailed> {
  const { stdout } = yield* Host
  const origin = `http://${LocalHost.of(flags.listen.host)}:${port}`
  const url = `${origin}/v1`
  const isFirstWanted = ServeFlags.isFirstKeyWanted(flags, stdout.isTTY === true)
  const keys = yield* issueAtStartup(store, yield* ServeFlags.issueKeysOf(flags), isFirstWanted)
  const location = Database.locationOf(flags.store.database)
  const print = (text: string) => Output.print(text, "; the server stops")
  if (flags.json) {
    const issued = keys.map(({ id, key, plan }) => ({ id, plan, key }))
    return yield* print(JSON.stringify({ url, keys: issued }))
  }
  if (flags.store.logFormat === "json") {
    return yield* print(logLines(yield* Clock.currentTimeMillis, url, keys, location))
  }
  const hint = yield* Database.issueHint(flags.store.database)
  const reference = flags.store.docs ? [`  API reference: ${origin}/docs`] : []
  return yield* print(greeting(url, keys, location, hint, reference))
})

/** Issues the requested keys in order. Without any, issues the first key of an empty store if `isFirstWanted`. */
const issueAtStartup = (
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

/** Returns the announcement as lines of a log in JSON. */
const logLines = (time: number, url: string, keys: ReadonlyArray<IssuedApiKey>, database: string): string => {
  const event = (message: string, fields: LogEvent["fields"]) =>
    LogFormat.json({ time, level: "info", message, fields })
  return [
    event("animal-store listens", { url, database }),
    ...keys.map(({ id, key, plan }) => event("key issued, shown only now", { key: id, plan, secret: key }))
  ].join("\n")
}

const greeting = (
  url: string,
  keys: ReadonlyArray<IssuedApiKey>,
  location: string,
  issueHint: string,
  reference: ReadonlyArray<string>
): string => {
  const [first] = keys
  const lines =
    first === undefined
      ? [`  Data is stored in ${location}`, `  ${issueHint}`]
      : [
          ...keys.map(({ key, plan }) => `  ${plan} key, shown only now: ${key}`),
          "",
          `  curl -i -H 'Authorization: Bearer ${first.key}' ${url}/pets`,
          "",
          `  Data is stored in ${location}`
        ]
  return [`animal-store listens on ${url}`, "", ...lines, ...reference, ""].join("\n")
}
