/** Estimates the cost of a run, and lists the checks that it cannot decide, before the run begins. */
import type { Face } from "../evaluation/Faces.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as Run from "./Run.ts"
import * as Selection from "./Selection.ts"

/** Approximate time that a run without a clock waits for the limits of small keys, in milliseconds. */
const WAITS_MS = 100_000

/** Returns the estimated cost of the run, and the checks that will be inconclusive or do not apply, one line each. */
export const lines = (
  subject: HttpSubject,
  { exclude = [], level, only = [] }: Pick<Run.RunOptions, "level" | "only" | "exclude">,
  latencyMs: number
): ReadonlyArray<string> => {
  const selection = { level, only, exclude }
  const plans = Run.checksFor(subject, level).map((check) => ({
    check,
    plan: Selection.planOf(check, subject, selection)
  }))
  const planned = plans.filter(({ plan }) => plan.run)
  const requests = planned.reduce((sum, { check }) => sum + check.requests, 0)
  const seconds = Math.ceil((requests * Math.max(latencyMs, 1) * 0.5 + waits(subject, planned)) / 1_000)
  const ambient = Run.ambientFor(subject, level).filter((check) =>
    Selection.isSelected(Run.selectable(check), selection)
  )
  const because = (status: "inconclusive" | "not-applicable") => {
    const ids = new Map<string, Array<string>>()
    for (const { check, plan } of plans) {
      if (!plan.run && plan.status === status)
        ids.set(plan.reason, [...(ids.get(plan.reason) ?? []), check.id])
    }
    return [...ids]
  }
  return [
    `${planned.length + ambient.length} checks at level ${level}, about ${requests} requests and ${seconds} s`,
    ...because("inconclusive").map(
      ([reason, ids]) => `${ids.length} of the checks will stay inconclusive: ${reason}`
    ),
    ...because("not-applicable").map(([reason, ids]) => `${ids.join(", ")} will not apply: ${reason}`)
  ]
}

const waits = (
  { conversation }: HttpSubject,
  planned: ReadonlyArray<{ readonly check: { readonly on: Face } }>
): number =>
  !conversation.hasClock && planned.some(({ check }) => check.on === "meter" || check.on === "victim")
    ? WAITS_MS
    : 0
