/** Defines settings of the command line: flags, each with an environment variable as its fallback. */
import * as Config from "effect/Config"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Param from "effect/cli/Param"
import * as Primitive from "effect/cli/Primitive"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import { printable } from "./Printable.ts"

export type Parse<A> = Rule.Parse<A>

/** Accepts any text that is not empty. */
export const text: Parse<string> = Rule.parseText

/** Accepts only the words in `choices`. */
export const oneOf = <const Choice extends string>(choices: ReadonlyArray<Choice>): Parse<Choice> =>
  Rule.oneOf(choices).reader.parse

/** Parses a whole number from `min` (0 or more) to `max`, in decimal digits. */
export const between = (min: number, max: number): Parse<number> => Rule.integer({ min, max }).reader.parse

/** Parses a whole number from 0 to `max`, in decimal digits. */
export const natural = (max: number): Parse<number> => between(0, max)

/** The beginning of each environment variable. */
export const PREFIX = "ANIMAL_STORE_"

/**
 * Returns the environment variable of a flag.
 *
 * @example
 * ```ts
 * variable("public-base-url") // "ANIMAL_STORE_PUBLIC_BASE_URL"
 * ```
 */
export const variable = (flag: string): string => `${PREFIX}${flag.toUpperCase().replaceAll("-", "_")}`

/** Removes the line break at the end of a variable, which may come from a file, as in a Secret of Kubernetes. */
export const textOfVariable = (value: string): string => value.replace(/\r?\n$/, "")

/** Returns the name of a setting, for messages about a value that may come from the flag or from the variable. */
export const title = (flag: string): string => `--${flag} (${variable(flag)})`

/** The parts of a setting other than the parser of its values; without `defaultText`, a boolean is off by default. */
type Identity = Pick<OptionTable.Flag<unknown, unknown>, "flag" | "isSecret"> &
  Partial<Pick<OptionTable.Flag<unknown, unknown>, "defaultText">>

/** The flags of the options in a table that are flags of `serve`, and of the fields of such options. */
export type FlagsOf<Table> = {
  readonly [name in keyof Table as Table[name] extends FlagOrFields
    ? name
    : never]: Table[name] extends OptionTable.Flag<infer A, infer Default>
    ? Flag.Flag<A | Default>
    : Table[name] extends { readonly fields: infer Fields }
      ? FlagsOf<Fields>
      : never
}

type FlagOrFields = { readonly flag: string } | { readonly fields: unknown }

interface AnyTable {
  readonly [name: string]: unknown
}

/** Creates the flags of a table; `summaryOf` returns what an option does. */
export const ofTable = <Table extends AnyTable>(
  table: Table,
  summaryOf: (name: string) => string
): FlagsOf<Table> =>
  // The cast is safe: `FlagsOf` has the same cases.
  Object.fromEntries(
    Object.entries(table).flatMap(([name, option]) => {
      if (isFlag(option)) return [[name, ofOption(option, summaryOf(name))]]
      return isObject(option) ? [[name, ofTable(option.fields, summaryOf)]] : []
    })
  ) as FlagsOf<Table>

/** Whether an option is a flag. */
export const isFlag = (option: unknown): option is OptionTable.Flag<unknown, unknown> =>
  typeof option === "object" && option !== null && "flag" in option

/** Whether an option is an object whose fields are a table. */
export const isObject = (option: unknown): option is { readonly fields: AnyTable } =>
  typeof option === "object" && option !== null && "fields" in option

/** Returns the variables of the flags in a table. */
export const variablesOf = (table: AnyTable): ReadonlyArray<string> =>
  Object.values(table).flatMap((option) => {
    if (isFlag(option)) return [variable(option.flag)]
    return isObject(option) ? variablesOf(option.fields) : []
  })

/** Creates the flag of an option. If the flag is absent, the value is the default. */
const ofOption = <A, Default>(
  option: OptionTable.Flag<A, Default>,
  summary: string
): Flag.Flag<A | Default> => {
  const description = summary.replaceAll("`", "") + ("separator" in option.reader ? " Repeatable." : "")
  return read(option, andDefault(description, option.defaultText), option.reader).pipe(
    Flag.withDefault<A | Default>(option.default)
  )
}

/** Creates a required flag without a variable, for a value that is meant for one run of a command. */
export const withoutVariable = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>
): Flag.Flag<A> =>
  withValue(flag, placeholder, (word) => Result.isSuccess(parse(word))).pipe(
    Flag.withDescription(description),
    Flag.mapEffect((given) => parseSource({ flag }, parse, { source: `--${flag}`, text: given }))
  )

/** Creates a required setting with one value. */
export const make = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>
): Flag.Flag<A> => read({ flag }, description, { placeholder, parse })

/** Creates a setting with a default, a string that is parsed like any other value and that the help shows. */
export const withDefault = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>,
  defaultText: string
): Flag.Flag<A> =>
  make(flag, placeholder, andDefault(description, defaultText), parse).pipe(
    Flag.withDefault(parseSource({ flag }, parse, { source: `--${flag}`, text: defaultText }))
  )

/** Creates a setting with any number of values: a repeated flag, or a variable with values separated by spaces. */
export const repeated = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>
): Flag.Flag<ReadonlyArray<A>> =>
  read(
    { flag },
    description,
    Rule.listForm<ReadonlyArray<A>, A>(placeholder, "spaces", parse, (values) => values).reader
  ).pipe(Flag.withDefault<ReadonlyArray<A>>([]))

/** Creates a boolean setting that is off by default. */
export const toggle = (flag: string, description: string): Flag.Flag<boolean> =>
  Flag.withDefault(read({ flag }, andDefault(description, "off"), Rule.boolean.reader), false)

/** Creates a boolean flag without a variable that is off by default. */
export const toggleWithoutVariable = (flag: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(flag).pipe(Flag.withDescription(andDefault(description, "off")), Flag.withDefault(false))

const andDefault = (description: string, defaultText: string): string =>
  `${description} Default: ${defaultText}.`

interface Source {
  /** The name of the flag or of the environment variable that contains the text. */
  readonly source: string
  readonly text: string
}

/** The pattern of the texts in a variable. */
const separated = { spaces: /\S+/g, "line breaks": /[^\r\n]+/g }

/** Reads a flag; without it, its variable. */
const read = <A>(identity: Identity, description: string, reader: Rule.Reader<A>): Flag.Flag<A> => {
  const { defaultText = "off", flag } = identity
  const name = variable(flag)
  const fromVariable = Config.map(
    Config.String(name),
    (given): Source => ({ source: name, text: textOfVariable(given) })
  )
  if ("separator" in reader) {
    const accepts = (word: string): boolean => Result.isSuccess(reader.parseAll([word]))
    return withValue(flag, reader.placeholder, accepts).pipe(
      Flag.withDescription(`${description} [${name}, separated by ${reader.separator}]`),
      Flag.atLeast(1),
      Flag.map((texts) => ({ source: `--${flag}`, texts })),
      Flag.withFallbackConfig(
        Config.map(fromVariable, ({ source, text: given }) => ({
          source,
          texts: [...(given.match(separated[reader.separator]) ?? [])]
        }))
      ),
      Flag.mapEffect(({ source, texts }) =>
        Effect.mapError(Effect.fromResult(reader.parseAll(texts)), (error) =>
          invalid(identity, { source, text: error.text }, error.reason)
        )
      )
    )
  }
  const { parse, placeholder } = reader
  return (
    placeholder === undefined
      ? Flag.map(withNegation(Flag.Boolean(flag), defaultText === "off" ? undefined : `--no-${flag}`), String)
      : withValue(flag, placeholder, (word) => Result.isSuccess(parse(word)))
  ).pipe(
    Flag.withDescription(`${description} [${name}]`),
    Flag.map((given): Source => ({ source: `--${flag}`, text: given })),
    Flag.withFallbackConfig(fromVariable),
    Flag.mapEffect((given) =>
      // An empty variable counts as absent, because tools such as Docker Compose pass unset variables as empty.
      given.text === "" && given.source === name
        ? Effect.fail(new CliError.MissingOption({ option: flag }))
        : parseSource(identity, parse, given)
    )
  )
}

/** Shows the negation in the help, which has no other place for it than that of a placeholder. */
const withNegation = (flag: Flag.Flag<boolean>, negation: string | undefined): Flag.Flag<boolean> =>
  negation === undefined ? flag : Flag.withMetavar(flag, negation)

/** Creates a flag with any text as its value. Completions offer the words of the placeholder that are accepted. */
const withValue = (
  flag: string,
  placeholder: string,
  accepts: (word: string) => boolean
): Flag.Flag<string> => {
  const words = placeholder.replace(/\[.*\]$/, "").split("|")
  const choices = words.length === 1 ? [] : words.filter(accepts)
  const primitiveType =
    choices.length === 0
      ? pathOrText(placeholder)
      : acceptAll(Primitive.Choice(choices.map((word) => [word, word])))
  return Param.makeSingle({ kind: Param.flagKind, name: flag, typeName: placeholder, primitiveType })
}

/** The type of the paths of files or directories; completions offer those that exist. */
export const pathOrText = (placeholder: string): Primitive.Primitive<string> => {
  if (placeholder === "FILE") return acceptAll(Primitive.Path("file"))
  return placeholder === "DIR" ? acceptAll(Primitive.Path("directory")) : Primitive.String
}

/** Changes a type for completions so that it accepts any text; the setting parses the text and words the error. */
const acceptAll = (type: Primitive.Primitive<string>): Primitive.Primitive<string> =>
  Object.assign(type, { parse: Primitive.String.parse })

const parseSource = <A>(
  identity: Identity,
  parse: Parse<A>,
  given: Source
): Effect.Effect<A, CliError.CliError> =>
  given.text.includes("\r")
    ? // Without the value: only here, the value of an address is invalid before its password is removed.
      Effect.fail(invalid({ ...identity, isSecret: true }, given, CARRIAGE_RETURN))
    : Effect.mapError(Effect.fromResult(parse(given.text)), (reason) => invalid(identity, given, reason))

const CARRIAGE_RETURN =
  "must not contain a carriage return; the file that it comes from probably has Windows line breaks (CRLF)"

const invalid = (
  { isSecret = false }: Identity,
  { source, text: given }: Source,
  reason: string
): CliError.CliError =>
  new CliError.ValidationError({
    message: isSecret
      ? `${source}: ${reason}`
      : `${source}: ${reason}; got ${printable(JSON.stringify(given))}`
  })
