/**
 * Defines tables of options. A table states each option once: its rule, its default, its flag and one sentence. Programs
 * and the command line check and complete options with it; the help and the documentation are rendered from it.
 */
import * as Result from "effect/Result"
import type { InvalidOption } from "./InvalidOption.ts"
import * as Options from "./Options.ts"
import type { Rule } from "./Rule.ts"
import type { Reader, TextForm } from "./TextForm.ts"

/** What the documentation shows of an option. */
export interface Described<Default> {
  /** What the option does: one sentence of Markdown. */
  readonly summary: string
  readonly default: Default
  /** Describes a default that is absent, or whose value would explain little. */
  readonly defaultText?: string | undefined
}

/** What an option needs to be a flag of `serve`. */
export interface Flagged<A, Default> extends Described<Default> {
  /** The name of the flag, without the leading dashes. */
  readonly flag: string
  /** The name of the environment variable, if it does not follow from the name of the flag. */
  readonly variable: string | undefined
  readonly placeholder: string
  /** Whether messages must not contain the value. */
  readonly isSecret: boolean
  readonly reader: Reader<A>
  /** The default as a user would type it, or a description of it. */
  readonly typedDefault: string
}

/** An option of programs that is also a flag of `serve`. */
export interface FlagOption<A, Default> extends Rule<A>, Flagged<A, Default> {}

/** An option of programs that `serve` does not have. */
export interface ProgramOption<A, Default> extends Rule<A>, Described<Default> {
  /** Why `serve` does not have it. */
  readonly noFlag: string
}

/** A flag of `serve` that is not an option of programs. */
export interface CommandFlag<A, Default> extends Flagged<A, Default> {
  /** What programs use instead. */
  readonly noOption: string
}

/** An option whose value is an object; the flags belong to its fields. */
export interface GroupOption<A, Default, Fields> extends Rule<A>, Described<Default> {
  readonly fields: Fields
}

/** An option of programs. */
export type Option<A, Default> =
  | FlagOption<A, Default>
  | ProgramOption<A, Default>
  | GroupOption<A, Default, object>

/** The option for each property of `Options`; a table that lacks one does not compile. */
export type OptionTable<Options extends object> = {
  readonly [name in keyof Options]-?: Option<Exclude<Options[name], undefined>, Options[name]>
}

/** The options of a table after the defaults are applied. */
export type Complete<Table> = {
  readonly [name in keyof Table]: Table[name] extends Option<infer A, infer Default> ? A | Default : never
}

interface FlagSettings<Default> extends Described<Default> {
  readonly flag: string
  readonly variable?: string
  readonly placeholder?: string
  readonly isSecret?: boolean
}

/** Creates an option that is also a flag. */
export const flag = <A, Default extends A | undefined>(
  rule: Rule<A> & TextForm<A>,
  settings: FlagSettings<Default>
): FlagOption<A, Default> => ({
  isValid: rule.isValid,
  reasonFor: rule.reasonFor,
  ...flagged<A, Default>(rule, settings)
})

/** Creates an option that `serve` does not have; `noFlag` is the reason. */
export const programOnly = <A, Default extends A | undefined>(
  rule: Rule<A>,
  settings: Described<Default> & { readonly noFlag: string }
): ProgramOption<A, Default> => ({ isValid: rule.isValid, reasonFor: rule.reasonFor, ...settings })

/** Creates a flag that programs do not have as an option; `noOption` is what they use instead. */
export const commandOnly = <A, Default extends A | undefined>(
  form: TextForm<A>,
  { noOption, ...settings }: FlagSettings<Default> & { readonly noOption: string }
): CommandFlag<A, Default> => ({ ...flagged<A, Default>(form, settings), noOption })

/** Creates an option whose value is an object with `fields`. */
export const group = <A, Default extends A | undefined, Fields>(
  rule: Rule<A>,
  fields: Fields,
  settings: Described<Default>
): GroupOption<A, Default, Fields> => ({
  isValid: rule.isValid,
  reasonFor: rule.reasonFor,
  fields,
  ...settings
})

const flagged = <A, Default extends A | undefined>(
  { format, reader }: TextForm<A>,
  settings: FlagSettings<Default>
): Flagged<A, Default> => {
  const value: A | undefined = settings.default
  return {
    variable: undefined,
    placeholder: reader.placeholder,
    isSecret: false,
    reader,
    typedDefault: settings.defaultText ?? (value === undefined ? "none" : format(value)),
    ...settings
  }
}

/** Returns the default of each option. */
export const defaults = <Options extends object>(table: OptionTable<Options>): Options =>
  // The cast is safe: a table has a default of the right type for each option.
  Object.fromEntries(
    Object.entries<Described<unknown>>(table).map(([name, option]) => [name, option.default])
  ) as Options

/** Completes options with the defaults, or fails with the first unknown or invalid option. */
export const resolve = <Options extends object>(
  table: OptionTable<Options>,
  given: unknown
): Result.Result<Options, InvalidOption> =>
  Result.map(Options.check<Options>(table, given), (present) => ({ ...defaults(table), ...present }))
