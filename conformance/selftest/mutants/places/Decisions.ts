/** Defines places in decisions on limits and bans: the input, the verdict, and the stored state. */
import type * as RateLimit from "../../../../core/limits/RateLimit.ts"
import * as Limits from "../../../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../../../core/ports/RateLimitStore.ts"
import type { Spoil, Where } from "../../Fault.ts"
import type { Operator } from "../Operator.ts"
import type { Mutate, Place } from "../Place.ts"
import * as Situation from "../Situation.ts"

/** The input of a decision. */
interface Given {
  readonly state: RateLimit.State | undefined
  readonly now: number
  readonly policy: RateLimit.Policy
}

/** Changes a safe integer; returns any other number unchanged. */
const mutateNumber = (mutate: Mutate, value: number, situation: Situation.Situation): number => {
  if (!Number.isSafeInteger(value)) return value
  const changed = mutate(BigInt(value), situation)
  return typeof changed === "bigint" ? Number(changed) : value
}

type Change = (mutate: (value: number) => number) => {
  readonly before?: (given: Given) => Given
  readonly after?: (verdict: RateLimit.Verdict) => RateLimit.Verdict
  readonly stored?: (state: RateLimit.State) => RateLimit.State
}

/** Makes decisions with changed values; decisions outside of a tracked request stay correct. */
const decideWith = (mutate: Mutate, change: Change): Where => {
  const tracker = Situation.make()
  const spoil: Spoil<RateLimitStore["Service"]> = (real) => ({
    modify: real.modify,
    consume: (key, now, policy) =>
      real.modify(key, (state) => {
        const situation = tracker.current()
        const given = { state, now, policy }
        if (situation === undefined) return Limits.step(state, now, policy)
        const {
          after = (verdict) => verdict,
          before = (unchanged) => unchanged,
          stored = (unchanged) => unchanged
        } = change((value) => mutateNumber(mutate, value, situation))
        const changed = before(given)
        const [verdict, next] = Limits.step(changed.state, changed.now, changed.policy)
        return [after(verdict), stored(next)]
      })
  })
  return {
    at: "http",
    transport: tracker.follow((real, { request }) => real(request)),
    limits: spoil
  }
}

const place = (id: string, change: Change): Place => ({
  id,
  kind: "count",
  group: "limits and bans",
  operations: ["list", "create", "get", "head"],
  topics: ["any", "operation", "key", "no key", "history", "time"],
  install: (mutate) => decideWith(mutate, change)
})

const verdictPlace = (field: "limit" | "remaining" | "resetAt" | "retryAfter"): Place =>
  place(`verdict: ${field}`, (mutate) => ({
    after: (verdict) => ({ ...verdict, [field]: Math.max(0, mutate(verdict[field])) })
  }))

const statePlace = (field: "level" | "used" | "day" | "bannedUntil"): Place =>
  place(`state: ${field}`, (mutate) => ({
    before: (given) =>
      given.state === undefined
        ? given
        : { ...given, state: { ...given.state, [field]: Math.max(0, mutate(given.state[field])) } }
  }))

const storedPlace = (field: "level" | "used" | "bannedUntil"): Place =>
  place(`stored: ${field}`, (mutate) => ({
    stored: (state) => ({ ...state, [field]: Math.max(0, mutate(state[field])) })
  }))

const planPlace = (field: "perMinute" | "perDay"): Place =>
  place(`plan: ${field}`, (mutate) => ({
    before: (given) => {
      const { plan } = given.policy
      return {
        ...given,
        policy: { ...given.policy, plan: { ...plan, [field]: Math.max(1, mutate(plan[field])) } }
      }
    }
  }))

/** Creates a place for the time of a decision; a mutant changes the number of whole units of `unit` milliseconds. */
const clockPlace = (id: string, unit: number): Place =>
  place(id, (mutate) => ({
    before: (given) => ({
      ...given,
      now: Math.max(0, mutate(Math.floor(given.now / unit)) * unit + (given.now % unit))
    })
  }))

/** The state key of a decision. */
const callerPlace: Place = {
  id: "caller of a decision",
  kind: "caller",
  group: "limits and bans",
  operations: ["list", "create", "get", "head"],
  topics: ["any", "operation", "key", "no key", "history", "time"],
  install: (mutate) => {
    const tracker = Situation.make()
    return {
      at: "http",
      transport: tracker.follow((real, { request }) => real(request)),
      limits: (real) => ({
        ...real,
        modify: (key, step) => {
          const situation = tracker.current()
          return real.modify(situation === undefined ? key : String(mutate(key, situation)), step)
        }
      })
    }
  }
}

/** Operators that replace the state key of a decision. */
export const callerOperators: ReadonlyArray<Operator> = [
  { id: "use the previous", kinds: ["caller"], make: () => usePrevious() },
  { id: "use one for all, the", kinds: ["caller"], make: () => () => "everyone" },
  { id: "use a new one each time, the", kinds: ["caller"], make: () => useFresh() },
  { id: "use another, the", kinds: ["caller"], make: () => (key) => `${String(key)}/other` }
]

const usePrevious = () => {
  let before: unknown
  return (key: unknown) => {
    const usedKey = before ?? key
    before = key
    return usedKey
  }
}

const useFresh = () => {
  let count = 0
  return (key: unknown) => `${String(key)}/${count++}`
}

export const places: ReadonlyArray<Place> = [
  ...(["limit", "remaining", "resetAt", "retryAfter"] as const).map(verdictPlace),
  ...(["level", "used", "day", "bannedUntil"] as const).map(statePlace),
  ...(["level", "used", "bannedUntil"] as const).map(storedPlace),
  ...(["perMinute", "perDay"] as const).map(planPlace),
  clockPlace("clock in seconds", 1_000),
  clockPlace("clock in minutes", 60_000),
  clockPlace("clock in hours", 3_600_000),
  callerPlace
]
