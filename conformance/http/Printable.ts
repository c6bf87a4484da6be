/** Makes untrusted text safe for terminals, logs and scripts, and short. */
import { text as textOf } from "./Wire.ts"

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"]
])

/** Returns a character as an escape with its code point. */
export const escaped = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/**
 * Matches the second `#` of a command for a CI service, anywhere in a line: `##[…]` (GitHub Actions), `##vso[…]` (Azure
 * Pipelines) and `##teamcity[…]`.
 */
const command = /(?<=#)#(?=(?:vso|teamcity)?\[)/gi

/** Matches the first `:` of `::…` at the start of a line, which GitHub Actions trims and executes as a command. */
const leadingCommand = /^(\s*):(?=:)/

/**
 * Returns untrusted text as one visible line. Control characters (with line breaks and ANSI escapes), bidi overrides,
 * other invisible characters and lone surrogates become escapes such as `\n` and `\u{1b}`. One character of a command
 * for a CI service also becomes an escape, so that no service executes it.
 */
export const printable = (text: string): string =>
  text
    .replace(unprintable, (character) => shortEscapes.get(character) ?? escaped(character))
    .replace(command, "\\u{23}")
    .replace(leadingCommand, "$1\\u{3a}")

/**
 * Returns what was sent as one visible line in which no two texts look alike: combining marks and spaces other than
 * U+0020 become escapes as well.
 */
export const visible = (text: string): string => printable(text.replace(/\p{M}|(?! )\p{Zs}/gu, escaped))

/**
 * Returns the beginning of a body, and its size if it is longer than `length` UTF-16 code units. Decodes only what is
 * returned. It ends before a word that does not fit, because redaction does not recognize half of a key.
 */
export const excerpt = (content: Uint8Array, length: number): string => {
  // A UTF-16 code unit takes three bytes of UTF-8 at most.
  const beginning = textOf(content.subarray(0, 3 * (length + 1)))
  if (beginning.length <= length) return beginning
  const words = beginning.slice(0, length).replace(/[^\s"'<>,;:/?&=]+$/, "")
  return `${words}… (${content.length} bytes)`
}
