import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import * as ApiKeySecret from "./ApiKeySecret.ts"

export const randomBytes = fc.uint8Array({ minLength: 20, maxLength: 20 })

/** Returns the secret that is generated from these random bytes. */
export const secretOf = (bytes: Uint8Array): string =>
  Redacted.value(
    Effect.runSync(
      Effect.provideService(
        ApiKeySecret.generate,
        SecureRandom.SecureRandom,
        SecureRandom.make((size) => bytes.slice(0, size))
      )
    )
  )

/** Generated secrets, from random bytes that fast-check chooses and can shrink. */
export const secret: fc.Arbitrary<string> = randomBytes.map(secretOf)
