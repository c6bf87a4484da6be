/** Parses and formats durations: a whole number and a unit, such as `500ms`, `30s`, `5m`, `24h`, `7d`. */
import * as Result from "effect/Result"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const unitMs = new Map([
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
  ["s", SECOND],
  ["ms", 1]
])

/**
 * Parses a duration between `minMs` and `maxMs`; returns it in milliseconds, or the reason for the failure. 0 needs no
 * unit.
 *
 * @example
 * ```ts
 * parse(0, 86_400_000)("90s") // 90_000
 * ```
 */
export const parse =
  (minMs: number, maxMs: number) =>
  (text: string): Result.Result<number, string> => {
    const [, digits, unit] = /^([0-9]{1,15})(d|h|m|s|ms)$/.exec(text === "0" ? "0ms" : text) ?? []
    const ms = Number(digits) * (unitMs.get(unit ?? "") ?? Number.NaN)
    return ms >= minMs && ms <= maxMs
      ? Result.succeed(ms)
      : Result.fail(`must be a duration from ${format(minMs)} to ${format(maxMs)}, such as 500ms, 30s or 24h`)
  }

/** Formats milliseconds as the shortest string that `parse` accepts. */
export const format = (ms: number): string => {
  if (ms === 0) return "0"
  const [unit, length] = [...unitMs].find(([, candidate]) => ms % candidate === 0) ?? ["ms", 1]
  return `${ms / length}${unit}`
}
