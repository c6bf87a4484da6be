/** Defines how the values of options are written as text, in flags, environment variables and the help. */
import * as Result from "effect/Result"
import * as Duration from "./Duration.ts"
import * as Parse from "./Parse.ts"

/** Reads values from text. */
export type Reader<A> = OneText<A> | ManyTexts<A>

/** Reads a value from one text. A `toggle` is a boolean, whose flag needs no text. */
export interface OneText<A> {
  readonly kind: "value" | "toggle"
  /** The word that stands for a value in the help. */
  readonly placeholder: string
  readonly parse: Parse.Parse<A>
}

/** Reads a value from any number of texts: a repeated flag, or a variable whose texts are separated. */
export interface ManyTexts<A> {
  readonly kind: "list"
  readonly placeholder: string
  readonly separator: keyof typeof separators
  /** Returns the value, or why a text is invalid. */
  readonly parse: (
    texts: ReadonlyArray<string>
  ) => Result.Result<A, { readonly text: string; readonly reason: string }>
}

/** The pattern of a text between separators. */
export const separators = { spaces: /\S+/g, "line breaks": /[^\r\n]+/g } as const

/** The text form of an `A`. */
export interface TextForm<A> {
  readonly reader: Reader<A>
  /** Returns the text of a value, for the help. */
  readonly format: (value: A) => string
}

/** A text that `parse` converts. */
export const one = <A>(
  placeholder: string,
  parse: Parse.Parse<A>,
  format: (value: A) => string = String
): TextForm<A> => ({ reader: { kind: "value", placeholder, parse }, format })

/** Any text that is not empty. */
export const text: TextForm<string> = one("TEXT", Parse.text)

/** A whole number in decimal digits. */
export const integer = ({ max, min }: { readonly min: number; readonly max: number }): TextForm<number> =>
  one("N", Parse.between(min, max))

/** A number from 0 to 1. */
export const fraction: TextForm<number> = one("RATIO", Parse.fraction)

/** A duration with a unit, for a number of milliseconds. */
export const duration = ({ max, min }: { readonly min: number; readonly max: number }): TextForm<number> =>
  one("DURATION", Duration.parse(min, max), Duration.format)

/** One of several words. */
export const oneOf = <const Value extends string>(values: ReadonlyArray<Value>): TextForm<Value> =>
  one(values.join("|"), Parse.oneOf(values))

/** A boolean. */
export const toggle: TextForm<boolean> = {
  reader: { kind: "toggle", placeholder: "", parse: Parse.boolean },
  format: (value) => (value ? "on" : "off")
}

/** A list whose elements `parse` converts and `collect` combines. */
export const list = <Element, A>(
  placeholder: string,
  separator: ManyTexts<A>["separator"],
  parse: Parse.Parse<Element>,
  collect: (elements: ReadonlyArray<Element>) => A
): TextForm<A> => ({
  reader: {
    kind: "list",
    placeholder,
    separator,
    parse: (texts) =>
      Result.map(
        Result.all(
          texts.map((given) => Result.mapError(parse(given), (reason) => ({ text: given, reason })))
        ),
        collect
      )
  },
  format: () => "none"
})
