/** Creates rules that validate the values of options. */

/** A rule that decides whether a value is an `A`. */
export interface Rule<A> {
  readonly isValid: (value: unknown) => value is A
  /** Returns why an invalid value is rejected, such as "must be a string". */
  readonly reasonFor: (value: unknown) => string
}

/** Creates a rule with one reason for all invalid values. */
export const make = <A>(isValid: (value: unknown) => value is A, reason: string): Rule<A> => ({
  isValid,
  reasonFor: () => reason
})

const isString = (value: unknown): value is string => typeof value === "string"

/** A rule that accepts any string. */
export const text: Rule<string> = make(isString, "must be a string")

/** Creates a rule that accepts strings for which `isValid` is true. */
export const textWhere = (isValid: (value: string) => boolean, reason: string): Rule<string> =>
  make((value): value is string => isString(value) && isValid(value), reason)

/** A rule that accepts `true` and `false`. */
export const boolean: Rule<boolean> = make((value) => typeof value === "boolean", "must be true or false")

/** A rule that accepts any number, including NaN and infinities; its range is checked elsewhere. */
export const number: Rule<number> = make((value) => typeof value === "number", "must be a number")

/** Creates a rule that accepts integers from `min` to `max`. */
export const integer = ({ max, min }: { readonly min: number; readonly max: number }): Rule<number> =>
  make(
    (value): value is number =>
      typeof value === "number" && Number.isInteger(value) && value >= min && value <= max,
    `must be a whole number from ${min} to ${max}`
  )

/** Creates a rule that accepts the strings in `values`. */
export const oneOf = <const Value extends string>(values: ReadonlyArray<Value>): Rule<Value> =>
  make(
    (value): value is Value => values.some((candidate) => candidate === value),
    `must be one of ${values.join(", ")}`
  )

/** Creates a rule that accepts any function; its parameters and its result cannot be checked. */
export const callback = <F extends (...parameters: never) => unknown>(): Rule<F> =>
  make((value): value is F => typeof value === "function", "must be a function")
