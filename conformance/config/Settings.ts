/** Merges the flags and the configuration file into the settings of a run over HTTP, and resolves the keys. */
import * as Effect from "effect/Effect"
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
import * as ImplementationSetting from "./ImplementationSetting.ts"

/** Members of the file that a flag with the same name and value overrides. */
type Same = Omit<Configuration, "$schema" | "keys" | "declared" | "implementation">

/** The flags of the command line; each overrides the same member of the file. */
export interface Flags
  extends ImplementationSetting.Flags,
    Readonly<{ [name in keyof Same]?: Same[name] | undefined }> {
  /** The key itself, or `env:NAME`. */
  readonly key?: string | undefined
  /** `KEY:PERMINUTE:PERDAY`. */
  readonly tiny?: string | undefined
  readonly victim?: string | undefined
  readonly revoked?: string | undefined
  readonly expired?: string | undefined
  /** Accepted values of `categoryId`, if not every int64. */
  readonly categories?: ReadonlyArray<bigint> | undefined
  /** Whether the server bans keys that ignore a 429. */
  readonly bans?: boolean | undefined
  /** Milliseconds to wait for a server that is still starting. */
  readonly wait?: number | undefined
}

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
  readonly declared: Partial<HttpSubject.Declarations>
  readonly budget: Budget
  readonly only: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
  /** Milliseconds to wait for a server that is still starting; 0 does not wait. */
  readonly waitMs: number
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

/** Merges flags and file, validates the settings, and applies the defaults; fails with the first error. */
export const resolve = (file: Configuration, flags: Flags, environment: Environment): Resolved<Settings> =>
  Result.gen(function* () {
    const address = flags.url ?? file.url
    if (address === undefined) return yield* fail("--url: the base URL of the server is required")
    const isOwned = flags.iOwnThisServer === true || file.iOwnThisServer === true
    const url = yield* addressOf(address, "--url", isOwned)
    const secret = (given: string, name: string) => secretOf(given, `--${name}`, environment)
    const smallKey = (name: "tiny" | "victim") => {
      const source = flags[name] === undefined ? `keys.${name}` : `--${name}`
      return optional(flags[name] ?? file.keys?.[name], (given) => smallKeyOf(given, source, environment))
    }
    const main = flags.key ?? file.keys?.main
    if (main === undefined) return yield* fail("--key: an API key for the server is required")
    const keys = {
      main: yield* secret(main, "key"),
      tiny: yield* smallKey("tiny"),
      victim: yield* smallKey("victim"),
      revoked: yield* optional(flags.revoked ?? file.keys?.revoked, (given) => secret(given, "revoked")),
      expired: yield* optional(flags.expired ?? file.keys?.expired, (given) => secret(given, "expired"))
    }
    const categories = flags.categories ?? file.declared?.categories?.map(BigInt)
    const bans = flags.bans ?? file.declared?.bans
    const implementation = yield* ImplementationSetting.resolve(file.implementation, flags)
    const { budget = {} } = flags
    const seconds = budget.seconds ?? file.budget?.seconds
    return {
      name: flags.name ?? file.name ?? implementation?.name ?? url.origin,
      implementation,
      url,
      keys: Redacted.make(keys),
      clock: yield* optional(flags.clock ?? file.clock, (given) => addressOf(given, "--clock", isOwned)),
      level: flags.level ?? file.level ?? "spec",
      declared: {
        ...(categories === undefined ? {} : { categories }),
        ...(bans === undefined ? {} : { bans })
      },
      budget: {
        requests: budget.requests ?? file.budget?.requests ?? HttpSubject.defaultBudget.requests,
        milliseconds: seconds === undefined ? HttpSubject.defaultBudget.milliseconds : seconds * 1_000
      },
      only: splitPatterns(flags.only ?? file.only ?? []),
      exclude: splitPatterns(flags.exclude ?? file.exclude ?? []),
      waitMs: flags.wait ?? 0
    }
  })

/**
 * Creates the subject of a run, after waiting for the server for up to `waitMs` milliseconds. The connections are
 * closed with the scope.
 */
export const open = Effect.fnUntraced(function* (
  settings: Settings
): Effect.fn.Return<HttpSubject.HttpSubject, SetupError, Scope.Scope> {
  const { budget, clock, declared, keys, name, url } = settings
  const target = yield* ServerTarget.make({ name, url, clock, keys: Redacted.value(keys), declared, budget })
  if (settings.waitMs > 0) yield* Awaiting.server(target, settings.waitMs)
  return yield* HttpSubject.make(target)
})
