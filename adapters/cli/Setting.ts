/** Defines settings of the command line: flags, each with an environment variable as its fallback. */
import * as Config from "effect/Config"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import { printable } from "./Printable.ts"

/** Parses a value, or fails with the reason, such as "must be a whole number". */
export type Parse<A> = (text: string) => Result.Result<A, string>

/**
 * Returns the environment variable of a flag.
 *
 * @example
 * ```ts
 * variable("public-base-url") // "ANIMAL_STORE_PUBLIC_BASE_URL"
 * ```
 */
export const variable = (flag: string): string => `ANIMAL_STORE_${flag.toUpperCase().replaceAll("-", "_")}`

/** Returns the name of a setting, for messages about a value that may come from the flag or from the variable. */
export const title = (flag: string): string => `--${flag} (${variable(flag)})`

const describe = (flag: string, description: string): string => `${description} [${variable(flag)}]`

interface Source {
  /** The name of the flag or of the environment variable that contains the text. */
  readonly source: string
  readonly text: string
}

const fromFlag = (flag: string, text: string): Source => ({ source: `--${flag}`, text })

const fromVariable = (flag: string): Config.Config<Source> =>
  Config.map(Config.String(variable(flag)), (text) => ({ source: variable(flag), text }))

const parseSource = <A>(parse: Parse<A>, { source, text }: Source): Effect.Effect<A, CliError.CliError> =>
  Effect.mapError(
    Effect.fromResult(parse(text)),
    (reason) =>
      new CliError.ValidationError({
        message: `${source}: ${reason}; got ${printable(JSON.stringify(text))}`
      })
  )

// An empty variable counts as absent, because tools such as Docker Compose pass unset variables as empty.
const isAbsent = (flag: string, { source, text }: Source): boolean => text === "" && source === variable(flag)

const parseIfPresent =
  <A>(flag: string, parse: Parse<A>) =>
  (given: Source): Effect.Effect<A, CliError.CliError> =>
    isAbsent(flag, given)
      ? Effect.fail(new CliError.MissingOption({ option: flag }))
      : parseSource(parse, given)

/** Creates a required setting with one value. */
export const make = <A>(flag: string, metavar: string, description: string, parse: Parse<A>): Flag.Flag<A> =>
  Flag.String(flag).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(describe(flag, description)),
    Flag.map((text) => fromFlag(flag, text)),
    Flag.withFallbackConfig(fromVariable(flag)),
    Flag.mapEffect(parseIfPresent(flag, parse))
  )

/** Creates a setting with a default, a string that is parsed like any other value and that the help shows. */
export const withDefault = <A>(
  flag: string,
  metavar: string,
  description: string,
  parse: Parse<A>,
  defaultText: string
): Flag.Flag<A> =>
  make(flag, metavar, andDefault(description, defaultText), parse).pipe(
    Flag.withDefault(parseSource(parse, fromFlag(flag, defaultText)))
  )

const andDefault = (description: string, defaultText: string): string =>
  `${description} Default: ${defaultText}.`

/** Creates a setting with any number of values: a repeated flag, or a variable with values separated by spaces. */
export const repeated = <A>(
  flag: string,
  metavar: string,
  description: string,
  parse: Parse<A>
): Flag.Flag<ReadonlyArray<A>> =>
  Flag.String(flag).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description} [${variable(flag)}, separated by spaces]`),
    Flag.atLeast(1),
    Flag.map((texts) => texts.map((text) => fromFlag(flag, text))),
    Flag.withFallbackConfig(
      Config.map(fromVariable(flag), ({ source, text }) =>
        (text.match(/\S+/g) ?? []).map((word): Source => ({ source, text: word }))
      )
    ),
    Flag.withDefault([] as ReadonlyArray<Source>),
    Flag.mapEffect((given) => Effect.forEach(given, (source) => parseSource(parse, source)))
  )

/** Creates a boolean setting that is off by default. */
export const toggle = (flag: string, description: string): Flag.Flag<boolean> =>
  Flag.withDefault(boolean(flag, andDefault(description, "off")), false)

/** Creates a boolean setting without a fixed default; the description explains what applies if it is absent. */
export const preference = (flag: string, description: string): Flag.Flag<Option.Option<boolean>> =>
  Flag.optional(boolean(flag, description))

const boolean = (flag: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(flag).pipe(
    Flag.withDescription(describe(flag, description)),
    Flag.withFallbackConfig(fromVariable(flag)),
    Flag.mapEffect((given) =>
      typeof given === "boolean" ? Effect.succeed(given) : parseIfPresent(flag, parseToggle)(given)
    )
  )

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

const booleanWords = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const)
])

const parseToggle: Parse<boolean> = (word) => {
  const value = booleanWords.get(word.toLowerCase())
  return value === undefined ? Result.fail("must be true or false") : Result.succeed(value)
}
