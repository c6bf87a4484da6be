/** Resolves settings for tests. */
import * as Result from "effect/Result"
import type { Configuration } from "./Configuration.ts"
import * as Settings from "./Settings.ts"

type Keys = NonNullable<Settings.Flags["keys"]>

/** Flags by their names on the command line. */
export interface Flags extends Omit<Settings.Flags, "keys">, Omit<Keys, "main"> {
  readonly key?: Keys["main"]
}

/** The flags that every run needs. */
export const base = { url: "http://127.0.0.1:3000/v1", key: "main-key" }

/** Returns the flags in the form of the configuration file. */
export const formed = ({ expired, key: main, revoked, tiny, victim, ...flags }: Flags): Settings.Flags => ({
  ...flags,
  keys: { main, tiny, victim, revoked, expired }
})

/** Resolves settings, with `base` for missing flags. */
export const resolve = (
  flags: Flags = {},
  file: Configuration = {},
  environment: Settings.Environment = {}
) => Settings.resolve(file, formed({ ...base, ...flags }), environment)

/** Like `resolve`, but throws if the settings are invalid. */
export const resolveOrThrow = (...args: Parameters<typeof resolve>) => Result.getOrThrow(resolve(...args))

/** Returns the error message of invalid settings, or `no error`. */
export const errorMessage = (...args: Parameters<typeof resolve>): string =>
  Result.match(resolve(...args), {
    onSuccess: () => "no error",
    onFailure: (failure) => failure.message
  })
