/** Defines errors that a host declares for its own operations, in addition to the codes of the service. */
import * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"
import { type Catalogue, catalogue, type Entry } from "./ErrorCatalogue.ts"

/** Own errors by their code, such as `order_unknown`. */
export interface OwnErrors {
  readonly [code: string]: {
    /** HTTP status from 400 to 599, except those that only the service sends: 401, 408, 429 and 431. */
    readonly status: number
    /** The default message; it is correct for every occurrence of the error. */
    readonly meaning: string
    /** Whether the same request can succeed later; false by default. */
    readonly retryable?: boolean | undefined
  }
}

/** Statuses whose responses have headers that follow from the key, the limits or the transport. */
const reserved: ReadonlyArray<number> = [401, 408, 429, 431]

const status: Rule.Rule<number> = Rule.make(
  (value): value is number =>
    Number.isInteger(value) &&
    Number(value) >= 400 &&
    Number(value) <= 599 &&
    !reserved.includes(Number(value)),
  `must be an integer from 400 to 599, except ${reserved.join(", ")}`
)

const entryRule = Options.partial<OwnErrors[string]>({
  status,
  meaning: Rule.textWhere((text) => text !== "", "must be a text that is not empty"),
  retryable: Rule.boolean
})

const reasonFor = (code: string, entry: unknown): string | undefined => {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(code)) {
    return `${JSON.stringify(code)} is no code: use lower-case letters, digits and underscores`
  }
  if (Object.hasOwn(catalogue, code)) return `${code} is a code of the service`
  if (!entryRule.isValid(entry)) return `${code}: ${entryRule.reasonFor(entry)}`
  const missing = (["status", "meaning"] as const).find((name) => entry[name] === undefined)
  return missing === undefined ? undefined : `${code}: must have the field ${missing}`
}

const errorOf = (value: unknown): string | undefined => {
  if (!Options.isRecord(value)) return "must be an object"
  return Object.entries(value)
    .map(([code, entry]) => reasonFor(code, entry))
    .find((reason) => reason !== undefined)
}

/** A rule for the codes and the entries of own errors. */
export const rule: Rule.Rule<OwnErrors> = {
  isValid: (value): value is OwnErrors => errorOf(value) === undefined,
  reasonFor: (value) => errorOf(value) ?? "must be an object"
}

/** Returns the catalogue of a service whose host declares these errors; it has no prototype. */
export const extend = (own: OwnErrors): Catalogue =>
  withoutPrototype([
    ...Object.entries(catalogue),
    ...Object.entries(own).map(
      ([code, { meaning, retryable = false, status }]) =>
        [code, { status, meaning, clause: "host", retryable }] as const
    )
  ])

/** Returns the part of that catalogue with which operations can fail; the service alone sends the other errors. */
export const ofOperations = (own: OwnErrors): Catalogue =>
  withoutPrototype(Object.entries(extend(own)).filter(([, { status }]) => !reserved.includes(status)))

const withoutPrototype = (entries: ReadonlyArray<readonly [code: string, entry: Entry]>): Catalogue =>
  Object.assign(Object.create(null), Object.fromEntries(entries))

/** Returns why no operation can fail with a code that `ofOperations` lacks. */
export const undeclared = (code: string): string =>
  Object.hasOwn(catalogue, code)
    ? `only the service sends the error code ${code}`
    : `the error code ${code} is not declared`
