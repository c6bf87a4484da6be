/** Encodes requests for the worker thread that writes to SQLite, counts them there, and decodes the results. */
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as RateLimitGroup from "./RateLimitGroup.ts"
import type { Writes } from "./SqliteWorkerJobs.ts"
import type * as WriteTransaction from "./WriteTransaction.ts"

/** A request to count, as in `RateLimitStore.consume`. */
export interface Count {
  readonly key: string
  readonly now: number
  readonly policy: RateLimit.Policy
}

/** A verdict, and whether the caller had no state before. */
export interface Counted {
  readonly verdict: RateLimit.Verdict
  readonly isNew: boolean
}

type Counts = Extract<Writes, { readonly kind: "count" }>

/** Encodes requests; requests with the same limits share a policy. */
export const encode = (counts: ReadonlyArray<Count>): Counts => {
  const policies: Array<RateLimit.Policy> = []
  return {
    kind: "count",
    keys: counts.map(({ key }) => key),
    times: counts.map(({ now }) => now),
    policyOf: counts.map(({ policy }) => {
      const known = policies.findIndex((candidate) => isSame(policy, candidate))
      return known === -1 ? policies.push(policy) - 1 : known
    }),
    policies: policies.map(numbersOf)
  }
}

const numbersOf = ({ ban, plan }: RateLimit.Policy): ReadonlyArray<number> =>
  ban === undefined
    ? [plan.perMinute, plan.perDay]
    : [
        ...[plan.perMinute, plan.perDay, ban.strikes, ban.withinMs, ban.strikeIntervalMs, ban.cleanMs],
        ...ban.durationsMs
      ]

const policyFrom = ([perMinute = 0, perDay = 0, ...ban]: ReadonlyArray<number>): RateLimit.Policy => {
  const [strikes, withinMs = 0, strikeIntervalMs = 0, cleanMs = 0, first = 0, ...durations] = ban
  return {
    plan: { perMinute, perDay },
    ban:
      strikes === undefined
        ? undefined
        : { strikes, withinMs, strikeIntervalMs, cleanMs, durationsMs: [first, ...durations] }
  }
}

const isSame = (left: RateLimit.Policy, right: RateLimit.Policy): boolean =>
  left === right ||
  (left.ban === right.ban &&
    left.plan.perMinute === right.plan.perMinute &&
    left.plan.perDay === right.plan.perDay)

/** Number of values per counted request: whether it was admitted, whether its caller is new, and the state after it. */
const WIDTH = 2 + RateLimitFields.names.length

/** Counts the requests at `indices`, and returns their encoded results, `WIDTH` numbers each, in this order. */
export const steps = function* (
  { keys, policies, policyOf, times }: Counts,
  indices: ReadonlyArray<number>
): WriteTransaction.Steps<ReadonlyArray<number>> {
  const decodedPolicies = policies.map(policyFrom)
  const group = indices.map((index): RateLimitGroup.Modification<StepResult> => {
    const policy = decodedPolicies[policyOf[index] ?? -1]
    const now = times[index]
    if (policy === undefined || now === undefined) throw new Error("a counted request is incomplete")
    return {
      key: keys[index] ?? "",
      step: (state) => {
        const [{ outcome }, after] = RateLimit.step(state, now, policy)
        return [{ isAdmitted: outcome === "admitted", after }, after]
      }
    }
  })
  const { absent: absentKeys, outcomes } = yield* RateLimitGroup.steps(group)
  const absent = new Set(absentKeys)
  return outcomes.flatMap((outcome, index) => {
    if ("defect" in outcome) throw outcome.defect
    const { after, isAdmitted } = outcome.result
    // If a caller without a stored state has several requests in the group, only the first one counts as new.
    const isNew = absent.delete(group[index]?.key ?? "")
    return [isAdmitted ? 1 : 0, isNew ? 1 : 0, ...RateLimitFields.valuesOf(after)]
  })
}

interface StepResult {
  readonly isAdmitted: boolean
  readonly after: RateLimit.State
}

/** Decodes the result of the counted request at `index`. */
export const decode = (results: ReadonlyArray<unknown>, index: number, { now, policy }: Count): Counted => {
  const offset = index * WIDTH
  if (results.length < offset + WIDTH) throw new Error("a counted request has no result")
  const [isAdmitted, isNew, ...after] = results.slice(offset, offset + WIDTH)
  return {
    verdict: RateLimit.verdictOf(isAdmitted === 1, RateLimitFields.stateOf(after), now, policy),
    isNew: isNew === 1
  }
}
