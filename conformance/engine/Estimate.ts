/** Estimates the cost of a run, and lists the checks that it cannot decide, before the run begins. */
import type { InitialState } from "../checks/Check.ts"
import type { InterfaceName } from "../evaluation/Interfaces.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as Run from "./Run.ts"
import * as Selection from "./Selection.ts"

/** Approximate time in milliseconds that a run without a clock waits until small keys are admitted again. */
const WAITS_MS = 100_000

/** Estimated latency of a request in a run, divided by the latency of the first request that the doctor sends. */
const RELATIVE_LATENCY = 0.5

/** What the doctor found in the subject; absent members are unknown. */
export type State = { readonly [state in InitialState]?: boolean }

/** The reasons why a run cannot decide a law without the state that it needs. */
const reasons = {
  getPet: "getPet is removed",
  "room for the first checks": "each list is full or nearly full",
  "room for the whole run": "each list will be full at the end of the run"
} as const satisfies { readonly [state in InitialState]: string }

/** Returns the reason why the subject's state prevents a decision; `undefined` if it is not known to prevent one. */
const preventionReason = (needed: ReadonlyArray<InitialState> = [], state: State): string | undefined =>
  needed.length > 0 && needed.every((name) => state[name] === false)
    ? needed.map((name) => reasons[name]).join(", and ")
    : undefined

/** Returns the estimated cost of the run, and the checks that will be inconclusive or do not apply, one line each. */
export const lines = (
  subject: HttpSubject,
  { exclude = [], level, only = [] }: Pick<Run.RunOptions, "level" | "only" | "exclude">,
  latencyMs: number,
  state: State = {}
): ReadonlyArray<string> => {
  const selection = { level, only, exclude }
  const plans = Run.checksFor(subject, level).map((check) => ({
    check,
    plan: Selection.planOf(check, subject, selection)
  }))
  const planned = plans.filter(
    ({ check, plan }) => plan.run && preventionReason(check.needsOneOf, state) === undefined
  )
  const requests = planned.reduce((sum, { check }) => sum + check.requests, 0)
  const seconds = Math.ceil(
    (requests * Math.max(latencyMs, 1) * RELATIVE_LATENCY + estimateWaits(subject, planned)) / 1_000
  )
  const ambient = Run.ambientFor(subject, level).filter((check) =>
    Selection.isSelected(Run.selectable(check), selection)
  )
  const prevented = new Map<string, Array<string>>()
  for (const { id, needsOneOf } of [
    ...plans.filter(({ plan }) => plan.run).map(({ check }) => check),
    ...ambient
  ]) {
    const reason = preventionReason(needsOneOf, state)
    if (reason !== undefined) prevented.set(reason, [...(prevented.get(reason) ?? []), id])
  }
  const decidable = ambient.filter(({ needsOneOf }) => preventionReason(needsOneOf, state) === undefined)
  const idsByReason = (status: "inconclusive" | "not-applicable") => {
    const ids = new Map<string, Array<string>>()
    for (const { check, plan } of plans) {
      if (!plan.run && plan.status === status)
        ids.set(plan.reason, [...(ids.get(plan.reason) ?? []), check.id])
    }
    return [...ids]
  }
  return [
    `${planned.length + decidable.length} checks at level ${level}, about ${requests} requests and ${seconds} s`,
    ...idsByReason("inconclusive").map(
      ([reason, ids]) => `${ids.length} of the checks will stay inconclusive: ${reason}`
    ),
    ...[...prevented].map(([reason, ids]) => `${ids.join(", ")} cannot be decided: ${reason}`),
    ...idsByReason("not-applicable").map(([reason, ids]) => `${ids.join(", ")} will not apply: ${reason}`)
  ]
}

const estimateWaits = (
  { conversation }: HttpSubject,
  planned: ReadonlyArray<{ readonly check: { readonly on: InterfaceName } }>
): number =>
  !conversation.hasClock && planned.some(({ check }) => check.on === "meter" || check.on === "victim")
    ? WAITS_MS
    : 0
