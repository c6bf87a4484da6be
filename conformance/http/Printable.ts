/** Makes untrusted text safe for terminals, logs and scripts. */

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"]
])

/**
 * Commands of CI services in a log, anywhere in a line: `##[…]` (GitHub Actions), `##vso[…]` (Azure Pipelines) and
 * `##teamcity[…]`.
 */
const command = /(?<=#)#(?=(?:vso|teamcity)?\[)/gi

/** GitHub Actions reads `::…` as a command at the beginning of a line; it trims the line first. */
const leadingCommand = /^(\s*):(?=:)/

/**
 * Untrusted text as one visible line: control characters (line breaks and ANSI escapes
 * among them), bidi overrides, other invisible characters and lone surrogates become escapes such as `\n` and
 * `\u{1b}`. One character of a command for a CI service becomes an escape too, so that no service obeys it.
 */
export const printable = (text: string): string =>
  text
    .replace(
      unprintable,
      (character) => shortEscapes.get(character) ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
    )
    .replace(command, "\\u{23}")
    .replace(leadingCommand, "$1\\u{3a}")
