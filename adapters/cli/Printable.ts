/** Escapes untrusted text for terminal output. */

// Control characters, format characters such as text direction marks, line separators and lone surrogates.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/**
 * Replaces every character that could break or disguise a line with its code point.
 *
 * @example
 * ```ts
 * printable("a\u202Eb\n") // "a\\u{202e}b\\u{a}"
 * ```
 */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
