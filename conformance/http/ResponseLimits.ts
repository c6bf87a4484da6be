/** Limits the header section and the body of a response, for both transports. */
import type { Header } from "./Wire.ts"

/** Maximum size of a header section in bytes; Node has the same default limit for requests. */
export const MAX_HEADERS = 16_384

/** Maximum number of fields in a header section. */
const MAX_FIELDS = 128

export const headersTooLong = "the header section is longer than 16 KiB"

/** Returns a message about the limit that a header section exceeds, or `undefined`. */
export const headersExceed = (headers: ReadonlyArray<Header>): string | undefined => {
  if (headers.length > MAX_FIELDS) return `the header section has more than ${MAX_FIELDS} fields`
  // Each field has a colon, a space and a line break.
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  return bytes > MAX_HEADERS ? headersTooLong : undefined
}

/** Maximum size of a body in bytes: three times the longest page of 100 animals whose names are all escapes. */
export const MAX_BODY = 1_000_000

/** The message for a body that exceeds `MAX_BODY`. */
export const bodyTooLong = "the body is longer than 1 MB"

/** Creates an empty body, which collects its parts, however many, in one buffer of at most `MAX_BODY` bytes. */
export const boundedBody = () => {
  let buffer = Buffer.alloc(0)
  let length = 0
  return {
    /** Adds a part and returns true; returns false, without adding it, if the body would exceed `MAX_BODY`. */
    add: (part: Uint8Array): boolean => {
      const needed = length + part.length
      if (needed > MAX_BODY) return false
      if (needed > buffer.length) buffer = Buffer.concat([buffer], Math.min(MAX_BODY, 2 * needed))
      buffer.set(part, length)
      length = needed
      return true
    },
    bytes: () => new Uint8Array(buffer.subarray(0, length))
  }
}
