/** Settings for tests. */
import * as Result from "effect/Result"
import type { Configuration } from "./Configuration.ts"
import * as Settings from "./Settings.ts"

/** Flags of a run that needs nothing else. */
export const base = { url: "http://127.0.0.1:3000/v1", key: "main-key" }

/** Settings, or the error in them. */
export const resolve = (
  flags: Settings.Flags = {},
  file: Configuration = {},
  environment: Settings.Environment = {}
) => Settings.resolve(file, { ...base, ...flags }, environment)

/** Settings of valid flags and a valid file. */
export const settled = (...given: Parameters<typeof resolve>) => Result.getOrThrow(resolve(...given))

/** The error message. */
export const fault = (...given: Parameters<typeof resolve>): string =>
  Result.match(resolve(...given), {
    onSuccess: () => "no fault",
    onFailure: (failure) => failure.message
  })
