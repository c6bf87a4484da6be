/** Defines and validates the expiry of an API key. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Duration from "../options/Duration.ts"

/** When a key expires: never, in `inMs` milliseconds, or at `atMs` (epoch milliseconds); integers, 0 or more. */
export type Expiry = "never" | { readonly inMs: number } | { readonly atMs: number }

/** An expiry is invalid. */
export class ExpiryInvalid extends Data.TaggedError("ExpiryInvalid")<{ readonly reason: string }> {
  override get message(): string {
    return `expires ${this.reason}`
  }
}

/** The message for values that are not an expiry. */
export const REASON = 'must be "never", { inMs } or { atMs } with whole milliseconds, 0 or more'

/** The maximum time until a key expires, as a text. */
const MAX_EXPIRY_MS = 36_500 * 24 * 60 * 60 * 1_000

/** Parses an expiry as operators write it: a duration of at least `minMs` milliseconds, such as `90d`, or `never`. */
export const parse =
  (minMs: number) =>
  (text: string): Result.Result<Expiry, string> =>
    text === "never"
      ? Result.succeed("never")
      : Result.mapBoth(Duration.parse(minMs, MAX_EXPIRY_MS)(text), {
          onSuccess: (inMs): Expiry => ({ inMs }),
          onFailure: (reason) => `${reason}, or never`
        })

/** Returns whether a value has the shape of an expiry; `resolve` checks its time. */
export const isExpiry = (value: unknown): value is Expiry =>
  value === "never" ||
  (typeof value === "object" &&
    value !== null &&
    Object.keys(value).length === 1 &&
    ("inMs" in value || "atMs" in value))

/** The latest time that a `Date` can represent, in epoch milliseconds. */
const LATEST = 8_640_000_000_000_000

/** Returns the epoch milliseconds at which a key expires, or `undefined` for "never"; fails if the time is invalid. */
export const resolve = (expiry: Expiry, now: number): Result.Result<number | undefined, ExpiryInvalid> => {
  if (expiry === "never") return Result.succeed(undefined)
  const at = timeOf(expiry, now)
  return Number.isSafeInteger(at) && at >= 0 && at <= LATEST
    ? Result.succeed(at)
    : Result.fail(
        new ExpiryInvalid({
          reason: REASON
        })
      )
}

/** Resolves the expiry of a new key like `resolve`; fails if the expiry is not later than `now`. */
export const resolveFuture = (
  expiry: Expiry,
  now: number
): Result.Result<number | undefined, ExpiryInvalid> =>
  Result.flatMap(resolve(expiry, now), (at) =>
    at !== undefined && at <= now
      ? Result.fail(new ExpiryInvalid({ reason: "must be in the future for a new key" }))
      : Result.succeed(at)
  )

/** Returns the expiry in epoch milliseconds; NaN if it is invalid. Untyped programs can pass any value. */
const timeOf = (expiry: Exclude<Expiry, "never">, now: number): number => {
  if (typeof expiry !== "object" || expiry === null) return Number.NaN
  if ("atMs" in expiry) return expiry.atMs
  return expiry.inMs >= 0 && Number.isSafeInteger(expiry.inMs) ? now + expiry.inMs : Number.NaN
}
