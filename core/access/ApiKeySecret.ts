/**
 * The text of an API key: `ast_`, 27 base-62 digits that carry 160 random bits, and 6 base-62 digits of CRC-32 over
 * all before them. The checksum lets a mistyped or made-up key be refused without a lookup, and secret scanners find
 * leaked keys without false alarms: `ast_[0-9A-Za-z]{33}`.
 */

import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Base62 from "./Base62.ts"
import * as Crc32 from "./Crc32.ts"

const PREFIX = "ast_"
const RANDOM_BYTES = 20
const RANDOM_DIGITS = 27
const CHECKSUM_DIGITS = 6

/** The form of every secret, for validators and secret scanners. */
export const pattern: RegExp = /^ast_[0-9A-Za-z]{33}$/

const checksum = (text: string): string => Base62.encode(BigInt(Crc32.ofAscii(text)), CHECKSUM_DIGITS)

/** Whether `text` has the format and its checksum is right; says nothing about whether the key exists. */
export const isWellFormed = (text: string): boolean =>
  pattern.test(text) &&
  Crc32.ofAscii(text.slice(0, -CHECKSUM_DIGITS)) === Base62.decode(text.slice(-CHECKSUM_DIGITS))

/** A new secret; shown to its owner once and stored nowhere. */
export const generate: Effect.Effect<
  Redacted.Redacted<string>,
  never,
  SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const body = PREFIX + Base62.encodeBytes(yield* random.randomBytes(RANDOM_BYTES), RANDOM_DIGITS)
  return Redacted.make(body + checksum(body))
})

/** SHA-256 of the secret in lower-case hexadecimal: all that a store keeps of it. */
export const hash = (secret: string): Effect.Effect<string, never, Digest.Digest> =>
  Effect.flatMap(Digest.Digest, (digest) => hashWith(digest, secret))

/** `hash` with the service in hand, for the request path, where looking it up would cost more than hashing. */
export const hashWith = (digest: Digest.Digest["Service"], secret: string): Effect.Effect<string> =>
  digest.digestHex(Digest.sha256, asciiBytes(secret))

const asciiBytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}
