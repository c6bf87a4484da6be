/** Merges the flags and the configuration file into the settings of a run over HTTP, and resolves the keys. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Level } from "../clauses/Clause.ts"
import * as Awaiting from "../engine/Awaiting.ts"
import type { Implementation } from "../engine/Report.ts"
import { SetupError } from "../engine/SetupError.ts"
import type { Budget } from "../subjects/HttpSubject.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as ServerTarget from "../subjects/ServerTarget.ts"
import type { Configuration, SmallKey as FileKey } from "./Configuration.ts"

/** The flags of the command line in the form of the file, whose members they override; a small key may be text. */
export type Flags = Given<Configuration>

type Given<A> = A extends FileKey
  ? A | string
  : A extends object
    ? A extends ReadonlyArray<unknown>
      ? A
      : { readonly [name in keyof A]?: Given<A[name]> | undefined }
    : A

/** The values of environment variables. */
export type Environment = { readonly [name: string]: string | undefined }

/** The settings of a run; printing them shows no key. */
export interface Settings {
  readonly name: string
  readonly implementation: Implementation | undefined
  readonly url: URL
  readonly keys: Redacted.Redacted<HttpSubject.Keys>
  readonly clock: URL | undefined
  readonly level: Level
  readonly declared: HttpSubject.Declarations
  readonly budget: Budget
  readonly only: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

type Resolved<A> = Result.Result<A, SetupError>

const fail = (reason: string): Result.Result<never, SetupError> => Result.fail(new SetupError({ reason }))

/** Minimum ratio of a key's daily limit to its per-minute limit, for the laws about the per-minute limit. */
const MIN_RATIO = 4

/** Resolves a key that is given literally or as `env:NAME`. The given text never appears in messages. */
const secretOf = (given: string, source: string, environment: Environment): Resolved<string> => {
  const [, variable] = /^env:(.*)$/s.exec(given) ?? []
  if (variable === "") return fail(`${source}: env: must be followed by the name of an environment variable`)
  const secret = variable === undefined ? given : environment[variable]
  if (variable !== undefined && (secret === undefined || secret === "")) {
    return fail(`${source}: the environment variable ${variable} is not set`)
  }
  return secret !== undefined && /^[\x21-\x7e]{1,4096}$/.test(secret)
    ? Result.succeed(secret)
    : fail(`${source}: a key must be 1 to 4096 printable ASCII characters without spaces`)
}

/** Resolves a key on a small plan: one of the file, or `KEY:PERMINUTE:PERDAY`, whose key may contain colons. */
const smallKeyOf = (
  given: string | FileKey,
  source: string,
  environment: Environment
): Resolved<HttpSubject.SmallKey> => {
  const parts =
    typeof given === "string" ? /^(.+):([1-9][0-9]{0,8}):([1-9][0-9]{0,8})$/s.exec(given) : undefined
  if (parts === null) {
    return fail(
      `${source}: must be KEY:PERMINUTE:PERDAY, with whole numbers of at least 1, such as env:TINY_KEY:5:1000`
    )
  }
  const [, key = "", minute, day] = parts ?? []
  const declared = typeof given === "string" ? { key, perMinute: Number(minute), perDay: Number(day) } : given
  const { perDay, perMinute } = declared
  return Result.flatMap(secretOf(declared.key, source, environment), (secret) =>
    perDay >= MIN_RATIO * perMinute
      ? Result.succeed({ secret, perMinute, perDay })
      : fail(
          `${source}: the daily limit must be at least ${MIN_RATIO} times the per-minute limit, such as 5 per minute and 40 per day`
        )
  )
}

/** Whether an address is on this machine, by its host name or IP address, without a DNS lookup. */
const isLoopback = ({ hostname }: URL): boolean =>
  /^(localhost|.+\.localhost|127\.[0-9]+\.[0-9]+\.[0-9]+|\[::1\])$/.test(hostname)

const addressOf = (given: string, source: string, isOwned: boolean): Resolved<URL> =>
  Result.match(ServerTarget.parseAddress(given), {
    onFailure: (reason) => fail(`${source}: ${reason}`),
    onSuccess: (url) => {
      url.pathname = url.pathname.replace(/\/+$/, "")
      return isOwned || isLoopback(url)
        ? Result.succeed(url)
        : fail(
            `${source}: ${url.hostname} is not this machine. A run creates animals, uses up limits and gets a key banned: add --i-own-this-server if it is yours`
          )
    }
  })

/** Resolves a setting that may be absent. */
const optional = <A, B>(given: A | undefined, resolve: (given: A) => Resolved<B>): Resolved<B | undefined> =>
  given === undefined ? Result.succeed(undefined) : resolve(given)

/** Splits patterns at commas, because one flag may contain several patterns. */
const splitPatterns = (patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  patterns.flatMap((pattern) => pattern.split(",").map((part) => part.trim()))

/** Returns the flags that are given, and otherwise the members of the file. */
const merge = (file: unknown, flags: unknown): unknown =>
  Predicate.isObject(file) && Predicate.isObject(flags) ? Record.union(file, flags, merge) : (flags ?? file)

/** Merges flags and file, validates the settings, and applies the defaults; fails with the first error. */
export const resolve = (file: Configuration, flags: Flags, environment: Environment): Resolved<Settings> =>
  Result.gen(function* () {
    const merged = merge(file, flags) as Flags // both have its form
    const { budget = {}, declared = {}, iOwnThisServer: isOwned = false, keys = {} } = merged
    if (merged.url === undefined) return yield* fail("--url: the base URL of the server is required")
    const url = yield* addressOf(merged.url, "--url", isOwned)
    const secret = (name: string) => (given: string) => secretOf(given, `--${name}`, environment)
    const smallKey = (name: string) => (given: string | FileKey) =>
      smallKeyOf(given, typeof given === "string" ? `--${name}` : `keys.${name}`, environment)
    if (keys.main === undefined) return yield* fail("--key: an API key for the server is required")
    const secrets = {
      main: yield* secret("key")(keys.main),
      tiny: yield* optional(keys.tiny, smallKey("tiny")),
      victim: yield* optional(keys.victim, smallKey("victim")),
      revoked: yield* optional(keys.revoked, secret("revoked")),
      expired: yield* optional(keys.expired, secret("expired"))
    }
    const { contact, name, version } = merged.implementation ?? {}
    if (name === undefined && (version ?? contact) !== undefined)
      return yield* fail("--implementation: a version or a contact needs the name of the implementation")
    const { bans = true, categories } = declared
    const { milliseconds, requests } = HttpSubject.defaultBudget
    return {
      name: merged.name ?? name ?? url.origin,
      implementation: name === undefined ? undefined : { name, version, contact },
      url,
      keys: Redacted.make(secrets),
      clock: yield* optional(merged.clock, (given) => addressOf(given, "--clock", isOwned)),
      level: merged.level ?? "spec",
      declared: { categories: categories?.map(BigInt) ?? "any", bans },
      budget: {
        requests: budget.requests ?? requests,
        milliseconds: budget.seconds === undefined ? milliseconds : budget.seconds * 1_000
      },
      only: splitPatterns(merged.only ?? []),
      exclude: splitPatterns(merged.exclude ?? [])
    }
  })

/**
 * Creates the subject of a run, after waiting for the server for up to `waitMs` milliseconds. The connections are
 * closed with the scope.
 */
export const open = Effect.fnUntraced(function* (
  { budget, clock, declared, keys, name, url }: Settings,
  waitMs = 0
): Effect.fn.Return<HttpSubject.HttpSubject, SetupError, Scope.Scope> {
  const target = yield* ServerTarget.make({ name, url, clock, keys: Redacted.value(keys), declared, budget })
  if (waitMs > 0) yield* Awaiting.server(target, waitMs)
  return HttpSubject.make(target)
})
