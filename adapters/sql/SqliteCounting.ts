/** Counts requests in one SQLite transaction with the core's step. Uses no effects, so it runs in any thread. */
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type * as SqlScript from "./SqlScript.ts"

/** A request to count. It is a flat array, because sending an object to another thread takes four times as long. */
export type Call = readonly [
  key: string,
  now: number,
  perMinute: number,
  perDay: number,
  ban: BanPolicy | undefined,
  cost: number
]

const columns = RateLimitFields.names.join(", ")

/** Reads the state of a caller. */
export const READ = `SELECT ${columns} FROM rate_limits WHERE key = ?`

const WRITE = `REPLACE INTO rate_limits (key, ${columns}) VALUES (?, ${RateLimitFields.names.map(() => "?").join(", ")})`

/**
 * Counts the requests in order; returns a row for each, which `RateLimitStep.countedOf` decodes. States that no request
 * changed are not written.
 */
export const steps = function* (
  calls: ReadonlyArray<Call>
): SqlScript.Steps<ReadonlyArray<ReadonlyArray<unknown>>> {
  const states = new Map<string, { state: RateLimit.State | undefined; isChanged: boolean }>()
  const results: Array<ReadonlyArray<unknown>> = []
  for (const [key, now, perMinute, perDay, ban, cost] of calls) {
    let held = states.get(key)
    if (held === undefined) {
      const [row] = yield [READ, [key]]
      held = { state: row === undefined ? undefined : RateLimitFields.stateOf(row), isChanged: false }
      states.set(key, held)
    }
    const { state } = held
    const [{ outcome }, after] = RateLimit.step(state, now, { plan: { perMinute, perDay }, ban }, cost)
    results.push([state === undefined, outcome === "admitted", now, ...RateLimitFields.valuesOf(after)])
    if (after === state) continue
    held.state = after
    held.isChanged = true
  }
  for (const [key, { isChanged, state }] of states) {
    if (isChanged && state !== undefined) yield [WRITE, [key, ...RateLimitFields.valuesOf(state)]]
  }
  return results
}
