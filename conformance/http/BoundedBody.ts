/** Collects the parts of a response body, however many, in one buffer with a maximum size. */

/** Maximum size of a body in bytes: three times the longest page of 100 animals whose names are all escapes. */
export const MAX_BODY = 1_000_000

/** The message for a body that exceeds `MAX_BODY`. */
export const tooLong = "the body is longer than 1 MB"

export interface BoundedBody {
  /** Adds a part and returns true; returns false, without adding it, if the body would exceed `MAX_BODY`. */
  readonly add: (part: Uint8Array) => boolean
  readonly bytes: () => Uint8Array
}

/** Creates an empty body. */
export const make = (): BoundedBody => {
  let buffer = new Uint8Array(0)
  let length = 0
  return {
    add: (part) => {
      const needed = length + part.length
      if (needed > MAX_BODY) return false
      if (needed > buffer.length) {
        const larger = new Uint8Array(Math.min(MAX_BODY, Math.max(needed, 2 * buffer.length, 4_096)))
        larger.set(buffer.subarray(0, length))
        buffer = larger
      }
      buffer.set(part, length)
      length = needed
      return true
    },
    bytes: () => buffer.slice(0, length)
  }
}
