/** Texts of others on a terminal. */

// Controls (Cc), invisible ones that can turn the direction of the line (Cf), separators of lines, lone surrogates.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/**
 * The text with every character that could break or disguise a line written as its code point.
 *
 * @example
 * ```ts
 * printable("a\u202Eb\n") // "a\\u{202e}b\\u{a}"
 * ```
 */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
