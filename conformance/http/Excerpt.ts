/** The beginning of what a subject sent, for messages and reports. */
import { text } from "./Wire.ts"

/** A string of its own: V8 keeps the whole of a text in memory for the sake of a slice of it. */
const copy = (slice: string): string => Buffer.from(slice, "utf16le").toString("utf16le")

/** At most so many UTF-16 units of a text, with `…` where something is missing. */
export const of = (content: string, length: number): string =>
  content.length > length ? `${copy(content.slice(0, length))}…` : content

/**
 * The beginning of a long text, and its length. It ends before the word that would be cut: half a key is no longer known for
 * one when keys are taken out of a report.
 */
export const words = (content: string, length: number): string =>
  content.length > length ? `${wholeWords(content, length)}… (${content.length})` : content

/** The same of a body, of which no more is decoded than is shown; `size` is that of the whole body, in bytes. */
export const body = (content: Uint8Array, length: number, size = content.length): string => {
  // A UTF-16 unit takes three bytes of UTF-8 at most.
  const most = 3 * (length + 1)
  if (size === content.length && size <= most) return words(text(content), length)
  return `${wholeWords(text(content.subarray(0, most)), length)}… (${size} bytes)`
}

const wholeWords = (content: string, length: number): string =>
  copy(content.slice(0, length).replace(/[^\s"'<>,;:/?&=]+$/, ""))
