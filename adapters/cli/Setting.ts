/** Defines settings of the command line: flags, each with an environment variable as its fallback. */
import * as Config from "effect/Config"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type { Flagged } from "../../core/options/OptionTable.ts"
import * as Parser from "../../core/options/Parse.ts"
import * as TextForm from "../../core/options/TextForm.ts"
import { printable } from "./Printable.ts"

export type Parse<A> = Parser.Parse<A>

export const { between, natural, oneOf, text } = Parser

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

/** What a setting needs besides the reader of its values. */
interface Names {
  readonly flag: string
  readonly variable: string
  /** Whether messages must not contain the value. */
  readonly isSecret: boolean
}

const namesOf = (flag: string): Names => ({ flag, variable: variable(flag), isSecret: false })

/** The flags of the options in a table that are flags of `serve`, and of the fields of such options. */
export type FlagsOf<Table> = {
  readonly [name in FlagName<Table>]: Table[name] extends Flagged<infer A, infer Default>
    ? Flag.Flag<A | Default>
    : Table[name] extends { readonly fields: infer Fields }
      ? FlagsOf<Fields>
      : never
}

type FlagName<Table> = {
  [name in keyof Table]: Table[name] extends { readonly flag: string } | { readonly fields: unknown }
    ? name
    : never
}[keyof Table]

/** Creates the flags of a table. */
export const ofTable = <Table extends { readonly [name: string]: unknown }>(table: Table): FlagsOf<Table> =>
  // The cast is safe: `FlagsOf` has the same cases.
  Object.fromEntries(
    Object.entries<unknown>(table).flatMap(([name, option]) => {
      if (isFlagged(option)) return [[name, ofOption(option)]]
      return isGroup(option) ? [[name, ofTable(option.fields)]] : []
    })
  ) as FlagsOf<Table>

/** Whether an option is a flag. */
export const isFlagged = (option: unknown): option is Flagged<unknown, unknown> =>
  typeof option === "object" && option !== null && "flag" in option

const isGroup = (option: unknown): option is { readonly fields: { readonly [name: string]: unknown } } =>
  typeof option === "object" && option !== null && "fields" in option

/** Creates the flag of an option. If the flag is absent, the value is the default. */
export const ofOption = <A, Default>(option: Flagged<A, Default>): Flag.Flag<A | Default> => {
  const names = { ...namesOf(option.flag), ...option, variable: option.variable ?? variable(option.flag) }
  const repeatable = option.reader.kind === "list" ? " Repeatable." : ""
  const description = andDefault(option.summary.replaceAll("`", "") + repeatable, option.typedDefault)
  return read(names, description, { ...option.reader, placeholder: option.placeholder }).pipe(
    Flag.withDefault<A | Default>(option.default)
  )
}

/** Creates a required setting with one value. */
export const make = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>
): Flag.Flag<A> => read(namesOf(flag), description, { kind: "value", placeholder, parse })

/** Creates a setting with a default, a string that is parsed like any other value and that the help shows. */
export const withDefault = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>,
  defaultText: string
): Flag.Flag<A> =>
  make(flag, placeholder, andDefault(description, defaultText), parse).pipe(
    Flag.withDefault(parseSource(namesOf(flag), parse, { source: `--${flag}`, text: defaultText }))
  )

/** Creates a setting with any number of values: a repeated flag, or a variable with values separated by spaces. */
export const repeated = <A>(
  flag: string,
  placeholder: string,
  description: string,
  parse: Parse<A>
): Flag.Flag<ReadonlyArray<A>> =>
  read(
    namesOf(flag),
    description,
    TextForm.list<A, ReadonlyArray<A>>(placeholder, "spaces", parse, (values) => values).reader
  ).pipe(Flag.withDefault<ReadonlyArray<A>>([]))

/** Creates a boolean setting that is off by default. */
export const toggle = (flag: string, description: string): Flag.Flag<boolean> =>
  Flag.withDefault(read(namesOf(flag), andDefault(description, "off"), TextForm.toggle.reader), false)

const andDefault = (description: string, defaultText: string): string =>
  `${description} Default: ${defaultText}.`

interface Source {
  /** The name of the flag or of the environment variable that contains the text. */
  readonly source: string
  readonly text: string
}

/** Reads a flag; without it, its variable. */
const read = <A>(names: Names, description: string, reader: TextForm.Reader<A>): Flag.Flag<A> => {
  const fromFlag = (given: string): Source => ({ source: `--${names.flag}`, text: given })
  const fromVariable = Config.map(
    Config.String(names.variable),
    (given): Source => ({ source: names.variable, text: given })
  )
  if (reader.kind === "list") return readList(names, description, reader, fromVariable)
  const flag =
    reader.kind === "toggle"
      ? Flag.map(Flag.Boolean(names.flag), String)
      : Flag.withMetavar(Flag.String(names.flag), reader.placeholder)
  return flag.pipe(
    Flag.withDescription(`${description} [${names.variable}]`),
    Flag.map(fromFlag),
    Flag.withFallbackConfig(fromVariable),
    Flag.mapEffect((given) =>
      // An empty variable counts as absent, because tools such as Docker Compose pass unset variables as empty.
      given.text === "" && given.source === names.variable
        ? Effect.fail(new CliError.MissingOption({ option: names.flag }))
        : parseSource(names, reader.parse, given)
    )
  )
}

const readList = <A>(
  names: Names,
  description: string,
  { parse, placeholder, separator }: TextForm.ManyTexts<A>,
  fromVariable: Config.Config<Source>
): Flag.Flag<A> =>
  Flag.String(names.flag).pipe(
    Flag.withMetavar(placeholder),
    Flag.withDescription(`${description} [${names.variable}, separated by ${separator}]`),
    Flag.atLeast(1),
    Flag.map((texts) => ({ source: `--${names.flag}`, texts })),
    Flag.withFallbackConfig(
      Config.map(fromVariable, ({ source, text: given }) => ({
        source,
        texts: [...(given.match(TextForm.separators[separator]) ?? [])]
      }))
    ),
    Flag.mapEffect(({ source, texts }) =>
      Effect.mapError(Effect.fromResult(parse(texts)), ({ reason, text: given }) =>
        invalid(names, { source, text: given }, reason)
      )
    )
  )

const parseSource = <A>(names: Names, parse: Parse<A>, given: Source): Effect.Effect<A, CliError.CliError> =>
  Effect.mapError(Effect.fromResult(parse(given.text)), (reason) => invalid(names, given, reason))

const invalid = ({ isSecret }: Names, { source, text: given }: Source, reason: string): CliError.CliError =>
  new CliError.ValidationError({
    message: isSecret
      ? `${source}: ${reason}`
      : `${source}: ${reason}; got ${printable(JSON.stringify(given))}`
  })
