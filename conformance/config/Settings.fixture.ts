/** Resolves settings for tests. */
import * as Result from "effect/Result"
import type { Configuration } from "./Configuration.ts"
import * as Settings from "./Settings.ts"

/** The flags that every run needs. */
export const base = { url: "http://127.0.0.1:3000/v1", key: "main-key" }

/** Resolves settings, with `base` for missing flags. */
export const resolve = (
  flags: Settings.Flags = {},
  file: Configuration = {},
  environment: Settings.Environment = {}
) => Settings.resolve(file, { ...base, ...flags }, environment)

/** Like `resolve`, but throws if the settings are invalid. */
export const resolveOrThrow = (...args: Parameters<typeof resolve>) => Result.getOrThrow(resolve(...args))

/** Returns the error message of invalid settings, or `no error`. */
export const errorMessage = (...args: Parameters<typeof resolve>): string =>
  Result.match(resolve(...args), {
    onSuccess: () => "no error",
    onFailure: (failure) => failure.message
  })
