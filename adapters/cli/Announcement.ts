/** Prints the address and the issued keys to standard output once `serve` listens. */
import * as Clock from "effect/Clock"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as AdminTokens from "../../core/access/AdminTokens.ts"
import type * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import type { AnimalStore, IssuedApiKey } from "../embed/index.ts"
import * as OsUser from "../embed/OsUser.ts"
import type { LogEvent } from "../log/LogEvent.ts"
import * as LogFormat from "../log/LogFormat.ts"
import * as Style from "../log/Style.ts"
import * as Database from "./Database.ts"
import * as Failure from "./Failure.ts"
import { Host } from "./Host.ts"
import * as Invocation from "./Invocation.ts"
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
  port: number,
  adminOrigin: string | undefined
): Effect.fn.Return<void, Output.WriteFailed> {
  const { env, start, stdout } = yield* Host
  const origin = `http://${LocalHost.of(flags.listen.host)}:${port}`
  const url = `${origin}/v1`
  const isFirstWanted = ServeFlags.isFirstKeyWanted(flags, stdout.isTTY === true)
  const keys = yield* issueAtStartup(store, yield* ServeFlags.issueKeysOf(flags), isFirstWanted)
  // No command can reach a database in memory, so its token is issued and printed as the first key is.
  const token =
    adminOrigin !== undefined && isFirstWanted && flags.store.database === "memory:"
      ? (yield* Failure.attempt(() =>
          store.adminTokens.issue({ plan: AdminTokens.PLAN, label: OsUser.name() })
        )).key
      : undefined
  const announced = { url, keys, adminOrigin, token, location: Database.locationOf(flags.store.database) }
  const print = (text: string) => Output.print(text, "; the server stops")
  if (flags.json) {
    const issued = keys.map(({ id, key, plan }) => ({ id, plan, key }))
    const admin = adminOrigin === undefined ? undefined : { url: adminOrigin, token }
    return yield* print(JSON.stringify({ url, keys: issued, admin }))
  }
  if (flags.store.logFormat === "json")
    return yield* print(logLines(yield* Clock.currentTimeMillis, announced))
  const style = Style.of(stdout.isTTY === true && Style.hasColor(env))
  const hint = yield* Database.issueHint(flags.store.database)
  const reference = flags.store.docs ? `${origin}/docs` : undefined
  return yield* print(greeting(style, { ...announced, hint, reference, start }))
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

interface Announced {
  readonly url: string
  readonly keys: ReadonlyArray<IssuedApiKey>
  readonly adminOrigin: string | undefined
  /** The admin token that was issued. */
  readonly token: string | undefined
  readonly location: string
}

/** Returns the announcement as lines of a log in JSON. */
const logLines = (time: number, { adminOrigin, keys, location, token, url }: Announced): string => {
  const event = (message: string, fields: LogEvent["fields"]) =>
    LogFormat.json({ time, level: "info", message, fields })
  return [
    event("animal-store listens", {
      url,
      database: location,
      ...(adminOrigin === undefined ? {} : { console: adminOrigin })
    }),
    ...keys.map(({ id, key, plan }) => event("key issued, shown only now", { key: id, plan, secret: key })),
    ...(token === undefined ? [] : [event("admin token issued, shown only now", { secret: token })])
  ].join("\n")
}

/** Returns the announcement for people: what they need first comes first. */
const greeting = (
  { bold, dim }: Style.Style,
  announced: Announced & {
    readonly hint: string
    readonly reference: string | undefined
    readonly start: Invocation.Start
  }
): string => {
  const { adminOrigin, hint, keys, location, reference, start, token, url } = announced
  const line = (label: string, value: string) => `  ${label}: ${bold(value)}`
  const [first] = keys
  const signIn =
    token === undefined
      ? dim(`  To sign in: ${Invocation.commandLine(start, ["admin", "token"])}`)
      : line("Admin token, shown only now", token)
  return [
    `animal-store listens on ${bold(url)}`,
    "",
    ...keys.map(({ key, plan }) => line(`${plan} key, shown only now`, key)),
    ...(reference === undefined ? [] : [line("API reference", reference)]),
    ...(adminOrigin === undefined ? [] : [line("Console", `${adminOrigin}/`), signIn]),
    ...(first === undefined ? [] : ["", `  curl -i -H 'Authorization: Bearer ${first.key}' ${url}/pets`]),
    "",
    dim(`  Data is stored in ${location}`),
    ...(first === undefined ? [dim(`  ${hint}`)] : []),
    ""
  ].join("\n")
}
