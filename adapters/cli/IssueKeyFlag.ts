/** Parses the plans of keys: the values of `--issue-key`, `PLAN[:perMinute=N,perDay=N]`, and of `keys issue --plan`. */
import * as Result from "effect/Result"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as OwnPlans from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"

const form = `must be PLAN or PLAN:perMinute=N,perDay=N (only ${Plan.agreed} requires both limits),`

const choices = (plans: OwnPlans.OwnPlans): string =>
  `one of ${[...Plan.names, ...Object.keys(plans)].join(", ")}`

/**
 * Parses a key specification, or fails with the reason. The plan, also one of `plans`, is case-insensitive.
 *
 * @example
 * ```ts
 * parse("enterprise:perMinute=5,perDay=50") // { plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } }
 * ```
 */
export const parse = (
  text: string,
  plans: OwnPlans.OwnPlans = {}
): Result.Result<KeyLifecycle.IssueOptions, string> => {
  const [name = "", numbers, ...rest] = text.split(":")
  const plan = planNamed(name, plans)
  if (plan === undefined || rest.length > 0) {
    return Result.fail(`${form} where PLAN is ${choices(plans)}`)
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
  return Result.mapBoth(KeyLifecycle.limitsOf(options, plans), {
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

/** A plan, and the plans that servers define, with the plan if it is one of them. */
export interface NamedPlan {
  readonly plan: Plan.PlanName
  readonly plans: OwnPlans.OwnPlans
}

/**
 * Parses the value of `keys issue --plan`: a plan of the contract or of `plans`, case-insensitive, or the definition of
 * an own plan such as `Starter=120/5000`.
 */
export const parsePlan = (text: string, plans: OwnPlans.OwnPlans = {}): Result.Result<NamedPlan, string> => {
  if (text.includes("=")) {
    return Result.map(OwnPlans.parse(text), (defined) => ({
      plan: Object.keys(defined).join(""),
      plans: { ...plans, ...defined }
    }))
  }
  return Result.map(
    Result.fromNullishOr(planNamed(text, plans), () => `must be ${choices(plans)}`),
    (plan) => ({ plan, plans })
  )
}

const planNamed = (name: string, plans: OwnPlans.OwnPlans): Plan.PlanName | undefined =>
  [...Plan.names, ...Object.keys(plans)].find((candidate) => candidate.toLowerCase() === name.toLowerCase())
