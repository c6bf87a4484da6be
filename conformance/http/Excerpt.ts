/** Shortens bodies from a subject, for messages and reports. */
import { text } from "./Wire.ts"

/**
 * Returns the beginning of a body, and its size if it is longer than `length` UTF-16 code units. Decodes only what is
 * returned. It ends before a word that does not fit, because redaction does not recognize half of a key.
 */
export const body = (content: Uint8Array, length: number): string => {
  // A UTF-16 code unit takes three bytes of UTF-8 at most.
  const beginning = text(content.subarray(0, 3 * (length + 1)))
  if (beginning.length <= length) return beginning
  const words = beginning.slice(0, length).replace(/[^\s"'<>,;:/?&=]+$/, "")
  return `${words}… (${content.length} bytes)`
}
