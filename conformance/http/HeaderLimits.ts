/** Limits the header section of a response, for both transports. */
import type { Header } from "./Wire.ts"

/** Maximum size of a header section in bytes; Node has the same default limit for requests. */
export const MAX_BYTES = 16_384

/** Maximum number of fields in a header section. */
export const MAX_FIELDS = 128

export const tooLong = "the header section is longer than 16 KiB"

const tooMany = `the header section has more than ${MAX_FIELDS} fields`

/** Returns a message about the limit that a header section exceeds, or `undefined`. */
export const exceeded = (headers: ReadonlyArray<Header>): string | undefined => {
  if (headers.length > MAX_FIELDS) return tooMany
  // Each field has a colon, a space and a line break.
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  return bytes > MAX_BYTES ? tooLong : undefined
}
