/**
 * Defines tables of options. A table states once, for each option, its rule, its default and its flag; what the option
 * does is stated once in the docstring of its property. Programs and the command line check and complete options with
 * the table; the help and the documentation are rendered from it.
 */
import * as Result from "effect/Result"
import type { InvalidOption } from "./InvalidOption.ts"
import * as Options from "./Options.ts"
import type { Reader, Rule, TextForm } from "./Rule.ts"

/** A flag of `serve`, whether programs have it as an option or not. */
export interface Flag<A, Default> extends Rule<A> {
  /** The name of the flag, without the leading dashes. */
  readonly flag: string
  readonly reader: Reader<A>
  readonly default: Default
  /** The default as a user would type it, or a description of it. */
  readonly defaultText: string
  /** Whether messages must not contain the value. */
  readonly isSecret?: boolean
}

/** An option of programs that is not a flag of `serve`; `noFlag` is the reason. */
export interface ProgramOption<A, Default> extends Rule<A> {
  readonly default: Default
  readonly defaultText: string | undefined
  readonly noFlag: string
}

/** An option of programs whose value is an object; `fields` is the table of its properties. */
export interface ObjectOption<A, Fields> extends Rule<A> {
  readonly default: undefined
  readonly fields: Fields
}

/** The option for each property of `Options`; a table that lacks one does not compile. */
export type OptionTable<Options extends object> = {
  readonly [name in keyof Options]-?: Option<Exclude<Options[name], undefined>, Options[name]>
}

type Option<A, Default> = { readonly default: Default } & (
  | Flag<A, Default>
  | ProgramOption<A, Default>
  | ObjectOption<A, object>
)

/** The options of a table after the defaults are applied. */
export type Complete<Table> = {
  readonly [name in keyof Table]: Table[name] extends Rule<infer A> & { readonly default: infer Default }
    ? A | Default
    : never
}

/** Creates a flag. */
export const flag = <A, Default extends A | undefined>(
  name: string,
  { format, isValid, reader, reasonFor }: Rule<A> & TextForm<A>,
  value: Default,
  settings: { readonly defaultText?: string; readonly isSecret?: boolean } = {}
): Flag<A, Default> => {
  const given: A | undefined = value
  const defaultText = given === undefined ? "none" : format(given)
  return { isValid, reasonFor, flag: name, reader, default: value, defaultText, ...settings }
}

/** Creates an option that is not a flag of `serve`; `noFlag` is the reason. */
export const programOnly = <A, Default extends A | undefined>(
  { isValid, reasonFor }: Rule<A>,
  value: Default,
  noFlag: string,
  defaultText?: string
): ProgramOption<A, Default> => ({ isValid, reasonFor, default: value, defaultText, noFlag })

/** Returns the default of each option. */
export const defaults = <Options extends object>(table: OptionTable<Options>): Options =>
  // The cast is safe: a table has a default of the right type for each option.
  Object.fromEntries(
    Object.entries<{ readonly default: unknown }>(table).map(([name, option]) => [name, option.default])
  ) as Options

/** Completes options with the defaults, or fails with the first unknown or invalid option. */
export const resolve = <Options extends object>(
  table: OptionTable<Options>,
  given: unknown
): Result.Result<Options, InvalidOption> =>
  Result.map(Options.check<Options>(table, given), (present) => ({ ...defaults(table), ...present }))
