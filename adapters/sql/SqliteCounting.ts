/** Counts requests in one SQLite transaction with the core's step. Uses no effects, so it runs in any thread. */
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type * as SqlScript from "./SqlScript.ts"

/** A request to count. It is a flat array, because sending an object to another thread takes twice as long. */
export type Call = readonly [
  key: string,
  now: number,
  perMinute: number,
  perDay: number,
  ban: BanPolicy | undefined,
  cost: number
]

/** A verdict, and whether the caller had no state before. */
export interface Counted {
  readonly verdict: RateLimit.Verdict
  readonly isNew: boolean
}

/** Returns the call that counts a request, as in `RateLimitStore.consumeMany`. */
export const callOf = (key: string, now: number, { ban, plan }: RateLimit.Policy, cost: number): Call => [
  key,
  now,
  plan.perMinute,
  plan.perDay,
  ban,
  cost
]

const columns = RateLimitFields.names.join(", ")

/** Reads the state of a caller. */
export const READ = `SELECT ${columns} FROM rate_limits WHERE key = ?`

/** Stores the state of a caller. */
const WRITE = `REPLACE INTO rate_limits (key, ${columns}) VALUES (?, ${RateLimitFields.names.map(() => "?").join(", ")})`

/** Number of values per counted request: whether it was admitted, whether its caller is new, and the state after it. */
const WIDTH = 2 + RateLimitFields.names.length

interface Held {
  state: RateLimit.State | undefined
  isChanged: boolean
}

/** Counts the requests in order; returns `WIDTH` numbers for each. States that no request changed are not written. */
export const steps = function* (calls: ReadonlyArray<Call>): SqlScript.Steps<ReadonlyArray<number>> {
  const states = new Map<string, Held>()
  const results: Array<number> = []
  for (const [key, now, perMinute, perDay, ban, cost] of calls) {
    let held = states.get(key)
    if (held === undefined) {
      const [row] = yield [READ, [key]]
      held = { state: row === undefined ? undefined : RateLimitFields.stateOf(row), isChanged: false }
      states.set(key, held)
    }
    const { state } = held
    const [{ outcome }, after] = RateLimit.step(state, now, { plan: { perMinute, perDay }, ban }, cost)
    const isNew = state === undefined
    results.push(outcome === "admitted" ? 1 : 0, isNew ? 1 : 0, ...RateLimitFields.valuesOf(after))
    if (after === state) continue
    held.state = after
    held.isChanged = true
  }
  for (const [key, { isChanged, state }] of states) {
    if (isChanged && state !== undefined) yield [WRITE, [key, ...RateLimitFields.valuesOf(state)]]
  }
  return results
}

/** Decodes the result of the counted request at `index`. */
export const countedOf = (
  results: ReadonlyArray<number>,
  index: number,
  [, now, perMinute, perDay, ban, cost]: Call
): Counted => {
  const [isAdmitted, isNew, ...after] = results.slice(index * WIDTH, (index + 1) * WIDTH)
  const state = RateLimitFields.stateOf(after)
  return {
    verdict: RateLimit.verdictOf(isAdmitted === 1, state, now, { plan: { perMinute, perDay }, ban }, cost),
    isNew: isNew === 1
  }
}
