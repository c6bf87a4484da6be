/** Limits of the header section of a response, for both transports. */
import type { Header } from "./Wire.ts"

/** Longest header section in bytes. Servers and proxies send less; they accept no more in a request either. */
export const MAX_BYTES = 16_384

/** Maximum number of fields. */
export const MAX_FIELDS = 128

export const tooLong = "the header section is longer than 16 KiB"

const tooMany = `the header section has more than ${MAX_FIELDS} fields`

/** Which limit a header section exceeds, if any. */
export const exceeded = (headers: ReadonlyArray<Header>): string | undefined => {
  if (headers.length > MAX_FIELDS) return tooMany
  // Each field has a colon, a space and a line break.
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  return bytes > MAX_BYTES ? tooLong : undefined
}
