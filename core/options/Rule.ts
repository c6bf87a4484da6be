/** Creates rules that validate the values of options. */
import * as TextForm from "./TextForm.ts"

/** A rule that decides whether a value is an `A`. */
export interface Rule<A> {
  readonly isValid: (value: unknown) => value is A
  /** Returns why an invalid value is rejected, such as "must be a string". */
  readonly reasonFor: (value: unknown) => string
}

/** A rule for values that can be written as text, so that the option can be a flag. */
export interface TextRule<A> extends Rule<A>, TextForm.TextForm<A> {}

/** Creates a rule with one reason for all invalid values. */
export const make = <A>(isValid: (value: unknown) => value is A, reason: string): Rule<A> => ({
  isValid,
  reasonFor: () => reason
})

/** Adds a text form to a rule. */
export const written = <A>(rule: Rule<A>, form: TextForm.TextForm<A>): TextRule<A> => ({ ...rule, ...form })

const isString = (value: unknown): value is string => typeof value === "string"

/** A rule that accepts any string. */
export const text: TextRule<string> = written(make(isString, "must be a string"), TextForm.text)

/** Creates a rule that accepts strings for which `isValid` is true; its text form accepts any string. */
export const textWhere = (isValid: (value: string) => boolean, reason: string): TextRule<string> =>
  written(
    make((value): value is string => isString(value) && isValid(value), reason),
    TextForm.text
  )

/** A rule that accepts `true` and `false`. */
export const boolean: TextRule<boolean> = written(
  make((value) => typeof value === "boolean", "must be true or false"),
  TextForm.toggle
)

/** A rule that accepts any number, including NaN and infinities; its range is checked elsewhere. */
export const number: Rule<number> = make((value) => typeof value === "number", "must be a number")

/** A rule that accepts numbers from 0 to 1. */
export const fraction: TextRule<number> = written(
  make(
    (value): value is number => typeof value === "number" && value >= 0 && value <= 1,
    "must be a number from 0 to 1"
  ),
  TextForm.fraction
)

/** The least and the greatest valid number. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

/** Creates a rule that accepts integers from `min` to `max`. */
export const integer = ({ max, min }: Bounds): TextRule<number> =>
  written(
    make(
      (value): value is number =>
        typeof value === "number" && Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`
    ),
    TextForm.integer({ min, max })
  )

/** Creates a rule that accepts whole numbers of milliseconds; their text form is a duration such as `5s`. */
export const milliseconds = (bounds: Bounds): TextRule<number> =>
  written(integer(bounds), TextForm.duration(bounds))

/** Creates a rule that accepts the strings in `values`. */
export const oneOf = <const Value extends string>(values: ReadonlyArray<Value>): TextRule<Value> =>
  written(
    make(
      (value): value is Value => values.some((candidate) => candidate === value),
      `must be one of ${values.join(", ")}`
    ),
    TextForm.oneOf(values)
  )

/** Creates a rule that accepts any function; its parameters and its result cannot be checked. */
export const callback = <F extends (...parameters: never) => unknown>(): Rule<F> =>
  make((value): value is F => typeof value === "function", "must be a function")
