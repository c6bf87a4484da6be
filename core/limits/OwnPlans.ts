/** Defines plans that an operator adds to those of the contract; all keys of such a plan have the same limits. */
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"
import * as Plan from "./Plan.ts"

/** Limits by the name of the plan. */
export interface OwnPlans {
  readonly [name: string]: Plan.Plan
}

/**
 * The plans that the operator adds; none by default. Their keys have the limits stated here, whatever the limits were
 * when a key was issued.
 */
export const OwnPlans = Context.Reference<OwnPlans>("animal-store/core/limits/OwnPlans", {
  defaultValue: () => ({})
})

/** Returns the limits of an own plan; `undefined` if there is no such plan. */
export const limitsOf = (plans: OwnPlans, name: string): Plan.Plan | undefined =>
  Object.hasOwn(plans, name) ? plans[name] : undefined

/** Returns the key with the limits that apply now: those of its plan if it is an own plan. */
export const current = <Key extends { readonly plan: string; readonly limits: Plan.Plan }>(
  plans: OwnPlans,
  key: Key
): Key => {
  const limits = limitsOf(plans, key.plan)
  return limits === undefined ? key : { ...key, limits }
}

const planRule = Options.record<Plan.Plan>({
  perMinute: Rule.integer(Plan.bounds),
  perDay: Rule.integer(Plan.bounds)
})

// "anonymous" stands in metrics for requests without a valid key.
const taken: ReadonlyArray<string> = [...Plan.names, "anonymous"].map((name) => name.toLowerCase())

const nameError = (name: string): string | undefined => {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name)) {
    return `${JSON.stringify(name)} is no name of a plan: use at most 32 letters, digits, - and _`
  }
  return taken.includes(name.toLowerCase()) ? `the name ${name} is taken` : undefined
}

/** Returns whether a plan that the operator adds can have this name. */
export const isName = (name: string): boolean => nameError(name) === undefined

// In messages and on command lines, the letter case of a plan does not matter.
const repeatedIn = (names: ReadonlyArray<string>): string | undefined => {
  const known = names.map((name) => name.toLowerCase())
  const index = known.findIndex((name, at) => known.indexOf(name) < at)
  return names[index]
}

const errorOf = (value: unknown): string | undefined => {
  if (!Options.isRecord(value)) return "must be an object"
  for (const [name, limits] of Object.entries(value)) {
    const error = nameError(name)
    if (error !== undefined) return error
    if (!planRule.isValid(limits)) return `${name}: ${planRule.reasonFor(limits)}`
  }
  const repeated = repeatedIn(Object.keys(value))
  return repeated === undefined ? undefined : isDefinedTwice(repeated)
}

const isDefinedTwice = (name: string): string => `the plan ${name} is defined twice`

/** Parses one plan, such as `Starter=120/5000`. */
export const parse: Rule.Parse<OwnPlans> = (text) => {
  const [, name, perMinute, perDay] = /^([^=]*)=([0-9]{1,10})\/([0-9]{1,10})$/.exec(text) ?? []
  if (name === undefined) return Result.fail("must be NAME=PER_MINUTE/PER_DAY, such as Starter=120/5000")
  const plans = { [name]: { perMinute: Number(perMinute), perDay: Number(perDay) } }
  const error = errorOf(plans)
  return error === undefined ? Result.succeed(plans) : Result.fail(error)
}

const definitions = Rule.listForm<ReadonlyArray<OwnPlans>, OwnPlans>(
  "NAME=PER_MINUTE/PER_DAY",
  "spaces",
  parse,
  (plans) => plans
)

/** A rule for own plans; as texts, each plan is `NAME=PER_MINUTE/PER_DAY`. */
export const rule: Rule.Rule<OwnPlans> & Rule.TextForm<OwnPlans, Rule.ManyTexts<OwnPlans>> = {
  isValid: (value): value is OwnPlans => errorOf(value) === undefined,
  reasonFor: (value) => errorOf(value) ?? "must be an object",
  reader: {
    ...definitions.reader,
    parseAll: (texts) =>
      Result.flatMap(definitions.reader.parseAll(texts), (plans) => {
        const names = plans.flatMap(Object.keys)
        const repeated = repeatedIn(names)
        return repeated === undefined
          ? Result.succeed(Object.assign({}, ...plans))
          : Result.fail({ text: texts[names.lastIndexOf(repeated)] ?? "", reason: isDefinedTwice(repeated) })
      })
  },
  format: () => "none"
}
