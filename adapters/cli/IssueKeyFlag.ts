/** The value of `--issue-key`: `PLAN[:perMinute=N,perDay=N]`. */
import * as Result from "effect/Result"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as Plan from "../../core/limits/Plan.ts"

const form = "must be PLAN or PLAN:perMinute=N,perDay=N"

/**
 * Parses a key specification, with the plan in any case, or fails with the reason.
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
    return Result.fail(`${form} with PLAN one of ${Plan.names.join(", ")}`)
  }
  const limits: { perMinute?: number; perDay?: number } = {}
  for (const pair of numbers?.split(",") ?? []) {
    const match = /^(perMinute|perDay)=([0-9]{1,10})$/.exec(pair)
    const window = match?.[1] === "perDay" ? "perDay" : "perMinute"
    if (match === null || limits[window] !== undefined) {
      return Result.fail(`${form} with perMinute and perDay at most once`)
    }
    limits[window] = Number(match[2])
  }
  const options: KeyLifecycle.IssueOptions = { plan, limits }
  return Result.mapBoth(KeyLifecycle.limitsOf(options), {
    onSuccess: () => options,
    onFailure: ({ reason }) => reason
  })
}

/** The value of `--plan`: the name of a plan in any case. */
export const parsePlan = (text: string): Result.Result<Plan.PlanName, string> =>
  Result.fromNullishOr(planNamed(text), () => `must be one of ${Plan.names.join(", ")}`)

const planNamed = (name: string): Plan.PlanName | undefined =>
  Plan.names.find((candidate) => candidate.toLowerCase() === name.toLowerCase())
