/** Creates rules that validate the values of options, and that read them from text. */
import * as Result from "effect/Result"
import * as Duration from "./Duration.ts"

/** A rule that decides whether a value is an `A`. */
export interface Rule<A> {
  readonly isValid: (value: unknown) => value is A
  /** Returns why an invalid value is rejected, such as "must be a string". */
  readonly reasonFor: (value: unknown) => string
}

/** How flags and environment variables contain values as text. */
export interface TextForm<A, R extends Reader<A> = Reader<A>> {
  readonly reader: R
  /** Returns the text of a value, for the help. */
  readonly format: (value: A) => string
}

/** A rule for values that can be written as one text. */
export interface TextRule<A> extends Rule<A>, TextForm<A, OneText<A>> {}

/** Reads values from text. */
export type Reader<A> = OneText<A> | ManyTexts<A>

/** Returns the value of a text, or the reason why it is invalid. */
export type Parse<A> = (text: string) => Result.Result<A, string>

/** Reads a value from one text. */
export interface OneText<A> {
  /** Stands for a value in the help; `undefined` for a boolean, whose flag needs no value. */
  readonly placeholder: string | undefined
  readonly parse: Parse<A>
}

/** Reads a value from any number of texts: a repeated flag, or a variable with separators. */
export interface ManyTexts<A> {
  readonly placeholder: string
  readonly separator: "spaces" | "line breaks"
  /** Returns the value, or the first invalid text with the reason. */
  readonly parseAll: (
    texts: ReadonlyArray<string>
  ) => Result.Result<A, { readonly text: string; readonly reason: string }>
}

/** Creates a rule with one reason for all invalid values. */
export const make = <A>(isValid: (value: unknown) => value is A, reason: string): Rule<A> => ({
  isValid,
  reasonFor: () => reason
})

/** Adds a text form to a rule: `read` converts a text to a value, which the rule then checks. */
export const readable = <A>(
  rule: Rule<A>,
  placeholder: string | undefined,
  read: (text: string) => unknown,
  format: (value: A) => string = String
): TextRule<A> => {
  const parse: Parse<A> = (text) => {
    const value = read(text)
    return rule.isValid(value) ? Result.succeed(value) : Result.fail(rule.reasonFor(value))
  }
  return { ...rule, reader: { placeholder, parse }, format }
}

/** Creates the text form of a list: `parse` converts each text, and `collect` combines the results. */
export const listForm = <A, Element>(
  placeholder: string,
  separator: ManyTexts<A>["separator"],
  parse: Parse<Element>,
  collect: (elements: ReadonlyArray<Element>) => A
): TextForm<A, ManyTexts<A>> => {
  const parseOne = (text: string) => Result.mapError(parse(text), (reason) => ({ text, reason }))
  const parseAll: ManyTexts<A>["parseAll"] = (texts) => Result.map(Result.all(texts.map(parseOne)), collect)
  return { reader: { placeholder, separator, parseAll }, format: () => "none" }
}

const isString = (value: unknown): value is string => typeof value === "string"

/** Accepts any text that is not empty. */
export const parseText: Parse<string> = (text) =>
  text === "" ? Result.fail("must not be empty") : Result.succeed(text)

/** Creates a rule that accepts strings for which `isValid` is true; as text it accepts any that is not empty. */
export const textWhere = (
  isValid: (value: string) => boolean,
  reason: string,
  placeholder = "TEXT"
): TextRule<string> => ({
  ...make((value): value is string => isString(value) && isValid(value), reason),
  reader: { placeholder, parse: parseText },
  format: String
})

/** A rule that accepts any string; as text it accepts any that is not empty. */
export const text: TextRule<string> = textWhere(() => true, "must be a string")

const booleanWords = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const)
])

/** A rule that accepts `true` and `false`. */
export const boolean: TextRule<boolean> = readable(
  make((value) => typeof value === "boolean", "must be true or false"),
  undefined,
  (word) => booleanWords.get(word.toLowerCase()),
  (value) => (value ? "on" : "off")
)

/** A rule that accepts any number, including NaN and infinities; its range is checked elsewhere. */
export const number: Rule<number> = make((value) => typeof value === "number", "must be a number")

/** A rule that accepts numbers from 0 to 1. */
export const fraction: TextRule<number> = readable(
  make(
    (value): value is number => typeof value === "number" && value >= 0 && value <= 1,
    "must be a number from 0 to 1"
  ),
  "RATIO",
  (digits) => (/^(?:0|1|0?\.[0-9]{1,9}|1\.0+)$/.test(digits) ? Number(digits) : undefined)
)

interface Bounds {
  readonly min: number
  readonly max: number
}

/** Creates a rule that accepts integers from `min` to `max`. */
export const integer = ({ max, min }: Bounds, placeholder = "N"): TextRule<number> =>
  readable(
    make(
      (value): value is number =>
        typeof value === "number" && Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`
    ),
    placeholder,
    (digits) => (/^[0-9]{1,15}$/.test(digits) ? Number(digits) : undefined)
  )

/** A rule that accepts TCP ports; 0 lets the system choose a free one. */
export const port: TextRule<number> = integer({ min: 0, max: 65_535 }, "PORT")

/** Creates a rule that accepts whole numbers of milliseconds; as text, durations of at most `maxText` such as `5s`. */
export const milliseconds = ({ max, min }: Bounds, maxText = max): TextRule<number> => ({
  ...integer({ max, min }),
  reader: { placeholder: "DURATION", parse: Duration.parse(min, maxText) },
  format: Duration.format
})

/** Creates a rule that accepts the strings in `values`. */
export const oneOf = <const Value extends string>(values: ReadonlyArray<Value>): TextRule<Value> =>
  readable(
    make(
      (value): value is Value => values.some((candidate) => candidate === value),
      `must be one of ${values.join(", ")}`
    ),
    values.join("|"),
    (word) => word
  )

/** Creates a rule that accepts any function; its parameters and its result cannot be checked. */
export const callback = <F extends (...parameters: never) => unknown>(): Rule<F> =>
  make((value): value is F => typeof value === "function", "must be a function")
