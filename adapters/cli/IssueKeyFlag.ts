/** Parses the value of `--issue-key`: `PLAN[:perMinute=N,perDay=N]`; plans without limits require both. */
import * as Result from "effect/Result"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as OwnPlans from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"

const form = `must be PLAN or PLAN:perMinute=N,perDay=N (only ${Plan.agreed} requires both limits),`

/**
 * Parses a key specification, or fails with the reason. The plan is case-insensitive.
 *
 * @example
 * ```ts
 * parse("enterprise:perMinute=5,perDay=50") // { plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } }
 * ```
 */
export const parse = (text: string): Result.Result<KeyLifecycle.IssueOptions, string> => {
  const [name = "", numbers, ...rest] = text.split(":")
  const plan = planNamed(name)
  if (plan === undefined || rest.length > 0) {
    return Result.fail(`${form} where PLAN is one of ${Plan.names.join(", ")}`)
  }
  const limits: { perMinute?: number; perDay?: number } = {}
  for (const pair of numbers?.split(",") ?? []) {
    const [, window, value = ""] = /^(perMinute|perDay)=(.*)$/s.exec(pair) ?? []
    if (!isWindow(window) || limits[window] !== undefined) {
      return Result.fail(`${form} with each of perMinute and perDay at most once`)
    }
    const reason = reasonIfInvalid(value)
    if (reason !== undefined) return Result.fail(`${window} ${reason}`)
    limits[window] = Number(value)
  }
  const options: KeyLifecycle.IssueOptions = { plan, limits }
  return Result.mapBoth(KeyLifecycle.limitsOf(options), {
    onSuccess: () => options,
    onFailure: ({ reason }) => reason
  })
}

const isWindow = (text: string | undefined): text is "perMinute" | "perDay" =>
  text === "perMinute" || text === "perDay"

const range = `a whole number from 1 to ${Plan.maxRequests}`

const reasonIfInvalid = (value: string): string | undefined => {
  if (!/^[0-9]+$/.test(value) || Number(value) < 1) return `must be ${range}`
  return Number(value) > Plan.maxRequests ? `is too large: it must be ${range}` : undefined
}

/** A plan, and its definition if it is an own plan of the servers. */
export interface NamedPlan {
  readonly plan: Plan.PlanName
  readonly plans: OwnPlans.OwnPlans
}

/** Parses the value of `--plan`: a plan of the contract, case-insensitive, or an own plan such as `Starter=120/5000`. */
export const parsePlan = (text: string): Result.Result<NamedPlan, string> => {
  if (text.includes("=")) {
    return Result.map(OwnPlans.parse(text), (plans) => ({ plan: Object.keys(plans).join(""), plans }))
  }
  return Result.map(
    Result.fromNullishOr(planNamed(text), () => `must be one of ${Plan.names.join(", ")}`),
    (plan) => ({ plan, plans: {} })
  )
}

/** Describes own plans, in the help of `--plan`. */
export const OWN_PLAN = "a plan that servers define with their --plan is NAME=PER_MINUTE/PER_DAY"

const planNamed = (name: string): Plan.PlanName | undefined =>
  Plan.names.find((candidate) => candidate.toLowerCase() === name.toLowerCase())
