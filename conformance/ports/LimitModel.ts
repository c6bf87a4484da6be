/** The contract of `RateLimitStore` as a map of states; requests are counted by the step of the core. */
import * as RateLimit from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Judged, type Law, law, type Model } from "./Port.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

/** What a step does with the state that it receives. */
export type Step = (before: RateLimit.State | undefined) => RateLimit.State

/** A call with its arguments. */
export type Input = { readonly did: string } /** Runs a step that returns the state that it received. */ & (
  | { readonly do: "modify"; readonly key: string; readonly step: Step; readonly isCount: boolean }
  /** Runs a step that returns an unusual value. */
  | { readonly do: "answer"; readonly key: string; readonly result: string }
  /** Runs a step that throws. */
  | { readonly do: "throw"; readonly key: string }
  | {
      readonly do: "count"
      readonly key: string
      readonly isNative: boolean
      readonly now: number
      readonly policy: RateLimit.Policy
    }
  | { readonly do: "read"; readonly keys: ReadonlyArray<string> }
  /** Stores the states of many other callers. */
  | { readonly do: "crowd"; readonly others: number }
  | { readonly do: "rehearse" }
)

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

const ofStored = (state: State, key: string, shown: RateLimit.State | undefined): ReadonlyArray<Law> => {
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

const afterCount = (
  state: State,
  { isNative, key, now, policy }: Input & { readonly do: "count" },
  { states, verdict }: Output
): Judged<State> => {
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

const afterRead = ({ states }: State, keys: ReadonlyArray<string>, shown: Output["states"]): Law => {
  const wrong = keys.find((key) => !States.isSame(shown.get(key), states.get(key)))
  const isOnly = [...shown.keys()].every((key) => keys.includes(key))
  return law("limits-store.read", isOnly && wrong === undefined, () =>
    wrong === undefined ? "states of these keys only" : `${wrong} with ${States.describe(states.get(wrong))}`
  )
}

const withCrowd = (state: State, others: number): State => {
  const states = new Map(state.states)
  for (let index = 0; index < others; index++) states.set(crowdKey(index), States.numbered(index))
  return { ...state, states }
}

export const model: Model<State, Input, Output> = {
  initial: { states: new Map(), thrown: new Set() },
  step: (state, input, output = { says: "", states: new Map() }) => {
    switch (input.do) {
      case "modify": {
        const { key, step } = input
        return {
          laws: ofStored(state, key, output.states.get(key)),
          next: written(state, key, step(state.states.get(key)))
        }
      }
      case "answer": {
        const expected = () => `${input.result}, as the step returned it`
        return {
          laws: [law("limits-store.modify.answer", output.says === SAME, expected)],
          next: written(state, input.key, blank)
        }
      }
      case "throw":
        return {
          laws: [
            law("limits-store.modify.throwing-step", output.says === FAILED, () => "a failure of the step")
          ],
          next: { ...state, thrown: new Set(state.thrown).add(input.key) }
        }
      case "count":
        return afterCount(state, input, output)
      case "read":
        return { laws: [afterRead(state, input.keys, output.states)], next: state }
      case "crowd":
        return { laws: [], next: withCrowd(state, input.others) }
      case "rehearse":
        return { laws: [], next: state }
    }
  },
  key: ({ states }) =>
    [...states].map(([key, state]) => `${key} ${States.fields.map((field) => state[field]).join()}`).join(),
  rank: (_input, { states, verdict }) => {
    if (verdict === undefined) return Math.max(...[...states.values()].map((state) => state?.used ?? 0), 0)
    return verdict.outcome === "admitted" ? -verdict.remaining : verdict.retryAfter
  },
  failing: {
    modify: "limits-store.modify.stored",
    answer: "limits-store.modify.answer",
    throw: "limits-store.modify.throwing-step",
    count: "limits-store.modify.stored",
    read: "limits-store.read",
    crowd: "limits-store.kept",
    rehearse: "limits-store.fails-typed"
  },
  concurrent: (inputs) => {
    if (inputs.some((input) => input.do === "throw")) return "limits-store.modify.throwing-step"
    if (inputs.some((input) => input.do === "count" && input.isNative)) return "limits-store.consume.atomic"
    const isCounting = inputs.every((input) => input.do === "modify" && input.isCount)
    return isCounting ? "limits-store.modify.atomic" : "limits-store.linearizable"
  },
  show: ({ says, states }) => {
    const shown = [...states].map(
      ([key, state]) => `${states.size > 1 ? `${key} ` : ""}${States.describe(state)}`
    )
    return [...(says === "" ? [] : [says]), ...shown].join(", ")
  }
}
