/** The contract of `RateLimitStore` as a map of states; requests are counted by the step of the core. */
import * as RateLimit from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Judge, type Law, law } from "./Port.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

export interface Output {
  readonly says: string
  /** The states that the call showed, `undefined` for an absent one. */
  readonly states: ReadonlyMap<string, RateLimit.State | undefined>
  readonly verdict?: RateLimit.Verdict
}

/** What a call shows of a step that threw, and of a result that is the same as the step returned. */
export const [FAILED, SAME] = ["a failure", "the same value"]

export interface State {
  readonly states: ReadonlyMap<string, RateLimit.State>
  /** The keys on which a step has thrown since the last write. */
  readonly thrown: ReadonlySet<string>
}

/** The state that steps store for a key without one. */
export const blank: RateLimit.State = { ...States.numbered(0), used: 0 }

export const verdictText = ({ limit, outcome, remaining, resetAt, retryAfter }: RateLimit.Verdict): string =>
  `${outcome}, limit ${limit}, remaining ${remaining}, reset at ${resetAt}, retry after ${retryAfter}`

export const crowdKey = (index: number): string => `network:${index}`

/** If there are more states than this, a lost one was evicted. */
const CROWD = 500

/** The clause that decides whether a step receives the stored state. */
const storing = ({ states, thrown }: State, key: string, shown: RateLimit.State | undefined): ClauseSlug => {
  const stored = states.get(key)
  if (thrown.has(key)) return "limits-store.modify.throwing-step"
  if (states.size > CROWD) return "limits-store.kept"
  if (States.isSame(stored, shown))
    return stored === undefined ? "limits-store.modify.initial" : "limits-store.modify.stored"
  if (stored !== undefined && shown === undefined) return "limits-store.kept"
  const isForeign = [...states].some(([other, state]) => other !== key && States.isSame(state, shown))
  if (isForeign) return "limits-store.modify.keys-apart"
  return stored === undefined ? "limits-store.modify.initial" : "limits-store.modify.stored"
}

const lawsOfStored = (state: State, key: string, shown: RateLimit.State | undefined): ReadonlyArray<Law> => {
  const stored = state.states.get(key)
  const holds = States.isSame(stored, shown)
  const expected = () => `the state of ${Texts.show(key)}, ${States.describe(stored)}`
  return [
    law(storing(state, key, shown), holds, expected),
    ...(state.states.size > 1 ? [law("limits-store.modify.keys-apart", holds, expected)] : [])
  ]
}

const written = ({ states, thrown }: State, key: string, after: RateLimit.State): State => ({
  states: new Map(states).set(key, after),
  thrown: thrown.has(key) ? new Set([...thrown].filter((other) => other !== key)) : thrown
})

/** Maximum lead of a state over the clock. */
const MAX_LEAD_MS = 60_000

type LimitJudge = Judge<State, Output>

const nothing: Output = { says: "", states: new Map() }

/** A step that returns the state that it received, and stores another. */
export const modify =
  (key: string, step: (before: RateLimit.State | undefined) => RateLimit.State): LimitJudge =>
  (state, { states } = nothing) => ({
    laws: lawsOfStored(state, key, states.get(key)),
    next: written(state, key, step(state.states.get(key)))
  })

/** A step that returns an unusual value, and stores a blank state. */
export const answer =
  (key: string, result: string): LimitJudge =>
  (state, { says } = nothing) => ({
    laws: [law("limits-store.modify.answer", says === SAME, () => `${result}, as the step returned it`)],
    next: written(state, key, blank)
  })

/** A step that throws. */
export const fail =
  (key: string): LimitJudge =>
  (state, { says } = nothing) => ({
    laws: [law("limits-store.modify.throwing-step", says === FAILED, () => "a failure of the step")],
    next: { ...state, thrown: new Set(state.thrown).add(key) }
  })

/** A counted request. */
export const count =
  (key: string, now: number, policy: RateLimit.Policy, isNative: boolean): LimitJudge =>
  (state, { states, verdict } = nothing) => {
    const before = state.states.get(key)
    const [expected, after] = RateLimit.step(before, now, policy)
    const shown = states.get(key)
    const isStored = !states.has(key) || States.isSame(shown, after)
    const isEqual = verdict !== undefined && verdictText(verdict) === verdictText(expected) && isStored
    const all = () => `${verdictText(expected)}, and the state ${States.describe(after)}`
    const lead = before === undefined ? 0 : before.at - now
    const byLead = lead > MAX_LEAD_MS ? "limits.clock-lead" : "limits.clock-back"
    const isTimely = shown === undefined || shown.at === after.at
    return {
      laws: [
        ...(lead > 0 ? [law(byLead, isEqual, all)] : []),
        ...(isNative ? [law("limits-store.consume.clock", isTimely, all)] : []),
        law(isNative ? "limits-store.consume.equal" : "limits-store.modify.stored", isEqual, all)
      ],
      next: written(state, key, after)
    }
  }

export const read =
  (keys: ReadonlyArray<string>): LimitJudge =>
  (state, { states } = nothing) => {
    const wrong = keys.find((key) => !States.isSame(states.get(key), state.states.get(key)))
    const isOnly = [...states.keys()].every((key) => keys.includes(key))
    const expected = () =>
      wrong === undefined
        ? "states of these keys only"
        : `${wrong} with ${States.describe(state.states.get(wrong))}`
    return { laws: [law("limits-store.read", isOnly && wrong === undefined, expected)], next: state }
  }

/** The states of many other callers. */
export const crowd =
  (others: number): LimitJudge =>
  (state) => {
    const states = new Map(state.states)
    for (let index = 0; index < others; index++) states.set(crowdKey(index), States.numbered(index))
    return { laws: [], next: { ...state, states } }
  }

export const rehearse: LimitJudge = (state) => ({ laws: [], next: state })

export const initial: State = { states: new Map(), thrown: new Set() }

export const stateKey = ({ states }: State): string =>
  [...states].map(([key, state]) => `${key} ${States.fields.map((field) => state[field]).join()}`).join()

export const rank = ({ states, verdict }: Output): number => {
  if (verdict === undefined) return Math.max(...[...states.values()].map((state) => state?.used ?? 0), 0)
  return verdict.outcome === "admitted" ? -verdict.remaining : verdict.retryAfter
}

export const show = ({ says, states }: Output): string => {
  const shown = [...states].map(
    ([key, state]) => `${states.size > 1 ? `${key} ` : ""}${States.describe(state)}`
  )
  return [...(says === "" ? [] : [says]), ...shown].join(", ")
}
