/** The contract of `RateLimitStore` as a map of states; requests are counted by the step of the core. */
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { type Judged, type Law, law, type Model } from "./Port.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

/** A call with its arguments. */
export type Input =
  /** Runs a step that returns the state before it, and stores another. */
  | { readonly do: "store"; readonly key: string; readonly state: RateLimit.State }
  | { readonly do: "look" | "add"; readonly key: string }
  /** Runs a step that returns an unusual value. */
  | { readonly do: "answer"; readonly key: string; readonly result: string }
  /** Runs a step that throws. */
  | { readonly do: "throw"; readonly key: string; readonly thrown: string }
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

export interface Output {
  readonly says: string
  /** The states that the call showed, `undefined` for an absent one. */
  readonly states: ReadonlyMap<string, RateLimit.State | undefined>
  readonly verdict?: RateLimit.Verdict
}

export interface State {
  readonly states: ReadonlyMap<string, RateLimit.State>
  /** The keys on which a step has thrown since the last write. */
  readonly thrown: ReadonlySet<string>
}

/** The state that `look` and `add` store for a key without one. */
export const blank: RateLimit.State = { ...States.numbered(0), used: 0 }

export const verdictText = (verdict: RateLimit.Verdict): string =>
  [
    verdict.outcome,
    `limit ${verdict.limit}`,
    `remaining ${verdict.remaining}`,
    `reset at ${verdict.resetAt}`,
    `retry after ${verdict.retryAfter}`
  ].join(", ")

export const crowdKey = (index: number): string => `network:${index}`

/** A crowd is larger than this; then a lost state was evicted. */
const CROWD = 500

/** The law that a call shows the stored state of a key. */
const ofStored = ({ states, thrown }: State, key: string, shown: RateLimit.State | undefined): Law => {
  const stored = states.get(key)
  const isForeign = () => [...states].some(([other, state]) => other !== key && States.isSame(state, shown))
  const holds = States.isSame(stored, shown)
  const clause = thrown.has(key)
    ? "limits-store.modify.throwing-step"
    : states.size > CROWD
      ? "limits-store.kept"
      : (holds ? states.size > 1 && stored === undefined : shown !== undefined && isForeign())
        ? "limits-store.modify.keys-apart"
        : stored === undefined
          ? "limits-store.modify.initial"
          : !holds && shown === undefined
            ? "limits-store.kept"
            : "limits-store.modify.stored"
  return law(clause, holds, () => `the state of ${Texts.show(key)}, ${States.describe(stored)}`)
}

const written = ({ states, thrown }: State, key: string, after: RateLimit.State): State => ({
  states: new Map(states).set(key, after),
  thrown: thrown.has(key) ? new Set([...thrown].filter((other) => other !== key)) : thrown
})

const afterCount = (
  state: State,
  { isNative, key, now, policy }: Input & { readonly do: "count" },
  output: Output | undefined
): Judged<State> => {
  const before = state.states.get(key)
  const [expected, after] = RateLimit.step(before, now, policy)
  const next = written(state, key, after)
  if (output === undefined) return { laws: [], next }
  const says = verdictText(expected)
  const { states, verdict } = output
  const byClock =
    before !== undefined && now < before.at
      ? now < before.at - 60_000
        ? "limits.clock-lead"
        : "limits.clock-back"
      : undefined
  const clause = isNative ? "limits-store.consume.equal" : "limits-store.modify.stored"
  const isEqual = verdict !== undefined && verdictText(verdict) === says
  const shown = states.get(key)
  const isStored = !states.has(key) || States.isSame(shown, after)
  const isTimely = shown === undefined || shown.at === after.at
  const all = () => `${says}, and the state ${States.describe(after)}`
  return {
    laws: [
      ...(byClock === undefined ? [] : [law(byClock, isEqual && isStored, all)]),
      ...(isNative ? [law("limits-store.consume.clock", isTimely, all)] : []),
      law(clause, isEqual && isStored, all)
    ],
    next
  }
}

const stepOf = (input: Input & { readonly key: string }, before: RateLimit.State | undefined) => {
  switch (input.do) {
    case "store":
      return input.state
    case "add":
      return { ...(before ?? blank), used: (before ?? blank).used + 1 }
    case "answer":
      return States.numbered(1)
    default:
      return before ?? blank
  }
}

export const model: Model<State, Input, Output> = {
  initial: { states: new Map(), thrown: new Set() },
  step: (state, input, output) => {
    switch (input.do) {
      case "count":
        return afterCount(state, input, output)
      case "throw": {
        const { key, thrown } = input
        const expected = () => `a failure of a step that throws ${thrown}`
        return {
          laws: [law("limits-store.modify.throwing-step", output?.says === FAILED, expected)],
          next: { ...state, thrown: new Set(state.thrown).add(key) }
        }
      }
      case "read": {
        const { keys } = input
        const shown = output?.states ?? new Map()
        const isOnly = [...shown.keys()].every((key) => keys.includes(key))
        const wrong = keys.find((key) => !States.isSame(shown.get(key), state.states.get(key)))
        const expected = () =>
          wrong === undefined
            ? "states of these keys only"
            : `the state of ${wrong}, ${States.describe(state.states.get(wrong))}`
        return { laws: [law("limits-store.read", isOnly && wrong === undefined, expected)], next: state }
      }
      case "crowd": {
        const states = new Map(state.states)
        for (let index = 0; index < input.others; index++) states.set(crowdKey(index), States.numbered(index))
        return { laws: [], next: { ...state, states } }
      }
      case "rehearse":
        return { laws: [], next: state }
      default: {
        const { key } = input
        const next = written(state, key, stepOf(input, state.states.get(key)))
        if (output === undefined) return { laws: [], next }
        if (input.do !== "answer") return { laws: [ofStored(state, key, output.states.get(key))], next }
        const expected = () => `${input.result}, as the step returned it`
        return { laws: [law("limits-store.modify.answer", output.says === SAME, expected)], next }
      }
    }
  },
  key: ({ states }) =>
    [...states].map(([key, state]) => `${key} ${States.fields.map((field) => state[field]).join()}`).join(),
  rank: (_input, { states, verdict }) => {
    if (verdict === undefined) return Math.max(...[...states.values()].map((state) => state?.used ?? 0), 0)
    return verdict.outcome === "admitted" ? -verdict.remaining : verdict.retryAfter
  },
  failing: (input) => {
    switch (input.do) {
      case "count":
        return input.isNative ? "limits-store.consume.equal" : "limits-store.modify.stored"
      case "read":
        return "limits-store.read"
      case "answer":
        return "limits-store.modify.answer"
      case "rehearse":
        return "limits-store.fails-typed"
      default:
        return "limits-store.modify.stored"
    }
  },
  concurrent: (inputs) => {
    const has = (name: Input["do"]): boolean => inputs.some((input) => input.do === name)
    if (has("throw")) return "limits-store.modify.throwing-step"
    if (inputs.some((input) => input.do === "count" && input.isNative)) return "limits-store.consume.atomic"
    return inputs.every((input) => input.do === "add")
      ? "limits-store.modify.atomic"
      : "limits-store.linearizable"
  },
  showInput: (input) => {
    switch (input.do) {
      case "store":
        return `store ${States.describe(input.state)} for ${Texts.show(input.key)}`
      case "answer":
        return `return ${input.result} from a step on ${Texts.show(input.key)}`
      case "throw":
        return `run a step that throws ${input.thrown} on ${Texts.show(input.key)}`
      case "count": {
        const { ban, plan } = input.policy
        const at = new Date(input.now).toISOString()
        const how = input.isNative ? "" : " with modify"
        const bans = ban === undefined ? "" : `, ban ${JSON.stringify(ban)}`
        return `count a request of ${input.key} at ${at}${how} (${plan.perMinute}/min, ${plan.perDay}/day${bans})`
      }
      case "read":
        return `read ${input.keys.join(", ")}`
      case "crowd":
        return `store the states of ${input.others} other callers`
      case "rehearse":
        return "rehearse"
      default:
        return `${input.do === "add" ? "add one to" : "look at"} ${Texts.show(input.key)}`
    }
  },
  showOutput: ({ says, states }) =>
    [
      ...(says === "" ? [] : [says]),
      ...[...states].map(([key, state]) => `${states.size > 1 ? `${key} ` : ""}${States.describe(state)}`)
    ].join(", ")
}

/** What a call shows of a step that threw, and of a result that is the same as the step returned. */
export const FAILED = "a failure"
export const SAME = "the same value"
