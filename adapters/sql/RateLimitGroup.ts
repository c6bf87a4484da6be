/** Runs steps on several rate-limit states in one SQLite transaction; uses no effects, so it runs in any thread. */
import type { State } from "../../core/limits/RateLimit.ts"
import type { Step } from "../../core/ports/RateLimitStore.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type * as WriteTransaction from "./WriteTransaction.ts"

/** A step on the state of a caller. */
export interface Modification<A> {
  readonly key: string
  readonly step: Step<A>
}

/** The outcome of a step: its result, or the exception that it threw. */
export type Outcome<A> = { readonly result: A } | { readonly defect: unknown }

/** The outcomes in the order of the steps, and the callers that had no state before. */
export interface Outcomes<A> {
  readonly outcomes: ReadonlyArray<Outcome<A>>
  readonly absent: ReadonlyArray<string>
}

const columns = RateLimitFields.names.join(", ")

const READ = `SELECT ${columns} FROM rate_limits WHERE key = ?`
const WRITE = `REPLACE INTO rate_limits (key, ${columns}) VALUES (?, ${RateLimitFields.names.map(() => "?").join(", ")})`

/** Runs the steps of each caller in order. States that no step changed are not written. */
export const steps = function* <A>(
  group: ReadonlyArray<Modification<A>>
): WriteTransaction.Steps<Outcomes<A>> {
  const states = new Map<string, State | undefined>()
  const absent: Array<string> = []
  const changedKeys = new Set<string>()
  const outcomes: Array<Outcome<A>> = []
  for (const { key, step } of group) {
    if (!states.has(key)) {
      const [row] = yield [READ, [key]]
      if (row === undefined) absent.push(key)
      states.set(key, row === undefined ? undefined : RateLimitFields.stateOf(row))
    }
    try {
      const before = states.get(key)
      const [result, after] = step(before)
      if (after !== before) {
        states.set(key, after)
        changedKeys.add(key)
      }
      outcomes.push({ result })
    } catch (defect) {
      outcomes.push({ defect })
    }
  }
  for (const key of changedKeys) {
    const state = states.get(key)
    if (state !== undefined) yield [WRITE, [key, ...RateLimitFields.valuesOf(state)]]
  }
  return { outcomes, absent }
}
