/** Parses the values of options from text, as flags and environment variables contain it. */
import * as Result from "effect/Result"

/** Parses a value, or fails with the reason, such as "must be a whole number". */
export type Parse<A> = (text: string) => Result.Result<A, string>

/** Accepts any text that is not empty. */
export const text: Parse<string> = (given) =>
  given === "" ? Result.fail("must not be empty") : Result.succeed(given)

/** Accepts only the words in `choices`. */
export const oneOf =
  <const Choice extends string>(choices: ReadonlyArray<Choice>): Parse<Choice> =>
  (word) => {
    const choice = choices.find((candidate) => candidate === word)
    return choice === undefined ? Result.fail(`must be one of ${choices.join(", ")}`) : Result.succeed(choice)
  }

/** Parses a whole number from `min` (0 or more) to `max`, in decimal digits. */
export const between =
  (min: number, max: number): Parse<number> =>
  (digits) =>
    /^[0-9]{1,15}$/.test(digits) && Number(digits) >= min && Number(digits) <= max
      ? Result.succeed(Number(digits))
      : Result.fail(`must be a whole number from ${min} to ${max}`)

/** Parses a whole number from 0 to `max`, in decimal digits. */
export const natural = (max: number): Parse<number> => between(0, max)

/** Parses a number from 0 to 1, in decimal digits. */
export const fraction: Parse<number> = (digits) =>
  /^(?:0|1|0?\.[0-9]{1,9}|1\.0+)$/.test(digits)
    ? Result.succeed(Number(digits))
    : Result.fail("must be a number from 0 to 1")

const booleanWords = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const)
])

/** Parses `true`, `yes`, `on`, `1` and `y`, or their opposites, in any case. */
export const boolean: Parse<boolean> = (word) => {
  const value = booleanWords.get(word.toLowerCase())
  return value === undefined ? Result.fail("must be true or false") : Result.succeed(value)
}
