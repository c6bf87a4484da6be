/** Generates values of `X-Request-Id`, which are unique per request and unrelated to the caller. */

import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"

/** Creates an id generator. Its ids consist of one random prefix and a counter. */
export const make: Effect.Effect<() => string, never, SecureRandom.SecureRandom> = Effect.map(
  SecureRandom.SecureRandom.use((random) => random.randomBytes(8)),
  (bytes) => {
    const prefix = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
    let count = 0
    return () => `${prefix}-${(count++).toString(36)}`
  }
)
