/** Validates options against a table that has a rule for each option. */
import * as Result from "effect/Result"
import { InvalidOption } from "./InvalidOption.ts"
import { nearestNames } from "./NearestNames.ts"
import type { Rule } from "./Rule.ts"

/** A rule for each option; a table without a rule for an option does not compile. */
export type Rules<Options extends object> = {
  readonly [name in keyof Options]-?: Rule<Exclude<Options[name], undefined>>
}

/** The present options, all of them optional; options that are `undefined` are omitted. */
export type Present<Options extends object> = {
  readonly [name in keyof Options]?: Exclude<Options[name], undefined>
}

/** The present options; those in `Name` are required. */
export type Checked<Options extends object, Name extends keyof Options> = Present<Options> & {
  readonly [name in Name]-?: Exclude<Options[name], undefined>
}

/**
 * Returns the options that are present, or the first error: an unknown name, an invalid value, or a missing `required`
 * option. Each property is read once, so that the returned values are the checked values.
 */
export const check = <Options extends object, Name extends keyof Options & string = never>(
  rules: Rules<Options>,
  given: unknown = {},
  required: ReadonlyArray<Name> = []
): Result.Result<Checked<Options, Name>, InvalidOption> => {
  if (!isRecord(given)) return Result.fail(new InvalidOption({ option: "options", reason: NOT_AN_OBJECT }))
  const unknownName = Object.keys(given).find((name) => !Object.hasOwn(rules, name))
  if (unknownName !== undefined) {
    const reason = `unknown option; ${suggestion(unknownName, Object.keys(rules))}`
    return Result.fail(new InvalidOption({ option: unknownName, reason }))
  }
  const present = pick(rules, given)
  const invalid = firstInvalid(rules, present)
  if (invalid !== undefined) return Result.fail(new InvalidOption(invalid))
  const missing = required.find((name) => !(name in present))
  return missing === undefined
    ? // The cast is safe: the values are valid, and the required options are present.
      Result.succeed(present as Checked<Options, Name>)
    : Result.fail(new InvalidOption({ option: missing, reason: "is required" }))
}

/** Returns the present options that have a rule in the table. */
export const pick = <Options extends object>(rules: Rules<Options>, given: object): Present<Options> => {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const present: { [name: string]: unknown } = Object.create(null)
  for (const name of Object.keys(rules)) {
    const value: unknown = Reflect.get(given, name)
    if (value !== undefined) present[name] = value
  }
  // The cast is safe: every name has a rule, and `check` validates the values.
  return present as Present<Options>
}

/** Creates a rule for an object in which all fields are optional. */
export const partial = <Fields extends object>(rules: Rules<Fields>): Rule<Present<Fields>> => ({
  isValid: (value): value is Present<Fields> => fieldError(rules, value) === undefined,
  reasonFor: (value) => fieldError(rules, value) ?? NOT_AN_OBJECT
})

/** Creates a rule for an object that must have all fields; `isValid` then checks the whole object. */
export const record = <Fields extends object>(
  rules: Rules<Fields>,
  isValid: (fields: Fields) => boolean = () => true,
  reason = NOT_AN_OBJECT
): Rule<Fields> => {
  const errorOf = (value: unknown): string | undefined => {
    const error = fieldError(rules, value)
    if (error !== undefined) return error
    const missing = Object.keys(rules).find((name) => Reflect.get(Object(value), name) === undefined)
    if (missing !== undefined) return `must have the field ${missing}`
    // The cast is safe: all fields are present and satisfy their rules.
    return isValid(value as Fields) ? undefined : reason
  }
  return {
    isValid: (value): value is Fields => errorOf(value) === undefined,
    reasonFor: (value) => errorOf(value) ?? reason
  }
}

const NOT_AN_OBJECT = "must be an object"

/** Returns whether a value has its members as properties; arrays, maps, headers and promises have not. */
export const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(Symbol.iterator in value) && !("then" in value)

const fieldError = <Fields extends object>(rules: Rules<Fields>, value: unknown): string | undefined => {
  if (!isRecord(value)) return NOT_AN_OBJECT
  const unknownName = Object.keys(value).find((name) => !Object.hasOwn(rules, name))
  if (unknownName !== undefined) {
    return `unknown field ${unknownName}; ${suggestion(unknownName, Object.keys(rules))}`
  }
  const invalid = firstInvalid(rules, pick(rules, value))
  return invalid === undefined ? undefined : `${invalid.option} ${invalid.reason}`
}

const firstInvalid = <Options extends object>(
  rules: Rules<Options>,
  present: Present<Options>
): { readonly option: string; readonly reason: string } | undefined => {
  for (const [option, rule] of Object.entries<Rule<unknown>>(rules)) {
    const value: unknown = Reflect.get(present, option)
    if (value !== undefined && !rule.isValid(value)) return { option, reason: rule.reasonFor(value) }
  }
  return undefined
}

const suggestion = (name: string, known: ReadonlyArray<string>): string => {
  const nearest = nearestNames(name, known)
  return nearest.length > 0 ? `did you mean ${nearest.join(" or ")}?` : `known names: ${known.join(", ")}`
}
