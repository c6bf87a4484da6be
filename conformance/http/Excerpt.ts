/** Shortens texts from a subject, for messages and reports. */
import { text } from "./Wire.ts"

/** Copies a slice of a text, because V8 keeps the whole text in memory while a slice of it is in use. */
const copy = (slice: string): string => Buffer.from(slice, "utf16le").toString("utf16le")

/** Returns at most `length` UTF-16 code units of a text, followed by `…` if it is longer. */
export const of = (content: string, length: number): string =>
  content.length > length ? `${copy(content.slice(0, length))}…` : content

/**
 * Returns a text of at most `length` UTF-16 code units unchanged, and otherwise its beginning and the length of the whole
 * text. The beginning ends before a word that does not fit, because redaction does not recognize half of a key.
 */
export const words = (content: string, length: number): string =>
  content.length > length ? `${wholeWords(content, length)}… (${content.length})` : content

/**
 * Does the same as `words` for a body, but decodes only the returned part. `size` is the size of the whole body in
 * bytes.
 */
export const body = (content: Uint8Array, length: number, size = content.length): string => {
  // A UTF-16 code unit takes three bytes of UTF-8 at most.
  const maxBytes = 3 * (length + 1)
  if (size === content.length && size <= maxBytes) return words(text(content), length)
  return `${wholeWords(text(content.subarray(0, maxBytes)), length)}… (${size} bytes)`
}

const wholeWords = (content: string, length: number): string =>
  copy(content.slice(0, length).replace(/[^\s"'<>,;:/?&=]+$/, ""))
