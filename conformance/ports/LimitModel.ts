/** The contract of `RateLimitStore` as a map of states; requests are counted by the step of the core. */
import * as RateLimit from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Judge, law } from "./Port.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

export interface State {
  readonly states: ReadonlyMap<string, RateLimit.State>
  /** The clause of the latest call that had to leave the state of a key as it was. */
  readonly untouched: ReadonlyMap<string, ClauseSlug>
}

export const initial: State = { states: new Map(), untouched: new Map() }

export const key = ({ states }: State): string =>
  [...states]
    .map(([key, state]) => `${key} ${States.fields.map((field) => state[field]).join()}`)
    .toSorted()
    .join()

type LimitJudge<Output> = Judge<State, Output>

/** The state that steps store for a key without one. */
export const blank: RateLimit.State = { ...States.numbered(0), used: 0 }

const verdictText = ({ limit, outcome, remaining, resetAt, retryAfter }: RateLimit.Verdict): string =>
  `${outcome}, limit ${limit}, remaining ${remaining}, reset at ${resetAt}, retry after ${retryAfter}`

export const crowdKey = (index: number): string => `network:${index}`

/** If there are more states than this, a lost one was evicted. */
const CROWD = 500

/** The clause that decides whether a step receives the stored state. */
const storing = (
  { states, untouched }: State,
  key: string,
  shown: RateLimit.State | undefined
): ClauseSlug => {
  const [stored, clause] = [states.get(key), untouched.get(key)]
  if (clause !== undefined) return clause
  if (states.size > CROWD) return "limits-store.kept"
  if (!States.isSame(stored, shown)) {
    if (stored !== undefined && shown === undefined) return "limits-store.kept"
    const isForeign = [...states].some(([other, state]) => other !== key && States.isSame(state, shown))
    if (isForeign) return "limits-store.modify.keys-apart"
  }
  return stored === undefined ? "limits-store.modify.initial" : "limits-store.modify.stored"
}

const written = ({ states, untouched }: State, key: string, after: RateLimit.State): State => ({
  states: new Map(states).set(key, after),
  untouched: new Map([...untouched].filter(([other]) => other !== key))
})

/** How a call of `modify` ended, and the state that its step received, if any. */
export interface Modified {
  readonly result: "the result" | "another result" | "a failure"
  readonly received: RateLimit.State | undefined
}

export const modifiedText = ({ received, result }: Modified): string =>
  `${result} for ${States.describe(received)}`

/** A call of `modify`; without `step`, its step throws. */
export const modify =
  (
    key: string,
    step: ((before: RateLimit.State | undefined) => RateLimit.State) | undefined
  ): LimitJudge<Modified> =>
  (state, got) => {
    const stored = state.states.get(key)
    if (step === undefined) {
      const clause = "limits-store.modify.throwing-step"
      const laws = [law(clause, got?.result === "a failure", () => "a failure of the step")]
      return { laws, next: { ...state, untouched: new Map(state.untouched).set(key, clause) } }
    }
    const holds = States.isSame(stored, got?.received)
    const expected = () => `the state of ${Texts.show(key)}, ${States.describe(stored)}`
    const laws = [
      law("limits-store.modify.answer", got?.result === "the result", () => "the result of the step"),
      law(storing(state, key, got?.received), holds, expected),
      ...(state.states.size > 1 ? [law("limits-store.modify.keys-apart", holds, expected)] : [])
    ]
    return { laws, next: written(state, key, step(stored)) }
  }

/** A verdict, and the state after it, if no other call could change it. */
export interface Counted {
  readonly verdict: RateLimit.Verdict
  readonly after?: RateLimit.State | undefined
}

export const countedText = ({ after, verdict }: Counted): string =>
  `${verdictText(verdict)}${after === undefined ? "" : `, and the state ${States.describe(after)}`}`

/** Maximum lead of a state over the clock. */
const MAX_LEAD_MS = 60_000

/** The clause that decides whether a method counts as the step of the core does. */
const counting = {
  modify: "limits-store.modify.stored",
  consume: "limits-store.consume.equal",
  consumeMany: "limits-store.consume-many"
} as const

/** A counted request. */
export const count =
  (
    key: string,
    now: number,
    policy: RateLimit.Policy,
    cost: number,
    method: keyof typeof counting
  ): LimitJudge<Counted> =>
  (state, got) => {
    const before = state.states.get(key)
    const [verdict, after] = RateLimit.step(before, now, policy, cost)
    const next = written(state, key, after)
    if (got === undefined) return { laws: [], next }
    const isStored = got.after === undefined || States.isSame(got.after, after)
    const isEqual = verdictText(got.verdict) === verdictText(verdict) && isStored
    const expected = () => countedText({ verdict, after })
    const lead = before === undefined ? 0 : before.at - now
    const byLead = lead > MAX_LEAD_MS ? "limits.clock-lead" : "limits.clock-back"
    const isTimely = got.after === undefined || got.after.at === after.at
    const laws = [
      ...(lead > 0 ? [law(byLead, isEqual, expected)] : []),
      ...(method === "modify" ? [] : [law("limits-store.consume.clock", isTimely, expected)]),
      law(counting[method], isEqual, expected)
    ]
    return { laws, next }
  }

export const read =
  (keys: ReadonlyArray<string>): LimitJudge<ReadonlyMap<string, RateLimit.State>> =>
  (state, got = new Map()) => {
    const wrong = keys.find((key) => !States.isSame(got.get(key), state.states.get(key)))
    const isOnly = [...got.keys()].every((key) => keys.includes(key))
    const expected = () =>
      wrong === undefined
        ? "states of these keys only"
        : `${wrong} with ${States.describe(state.states.get(wrong))}`
    return { laws: [law("limits-store.read", isOnly && wrong === undefined, expected)], next: state }
  }

/** The states of many other callers. */
export const crowd =
  (others: number): LimitJudge<void> =>
  (state) => {
    const crowded = Array.from(
      { length: others },
      (_, index) => [crowdKey(index), States.numbered(index)] as const
    )
    return { laws: [], next: { ...state, states: new Map([...state.states, ...crowded]) } }
  }

/** A rehearsal, which stores nothing. */
export const rehearse: LimitJudge<void> = (state) => ({
  laws: [],
  next: {
    ...state,
    untouched: new Map([...state.states.keys()].map((key) => [key, "limits-store.rehearse"]))
  }
})
