/**
 * Generates, validates and hashes secrets: `ast_` for an API key or `asa_` for an admin token, 27 base-62 digits that
 * encode 160 random bits, and the CRC-32 of both as 6 base-62 digits. Because of the checksum, the service can reject
 * mistyped secrets without a lookup, and secret scanners that search for `ast_[0-9A-Za-z]{33}` can rule out false
 * positives.
 */

import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Base62 from "./Base62.ts"
import * as Crc32 from "./Crc32.ts"
import { Realm } from "./Realm.ts"

type Prefix = Realm["secretPrefix"]

const PREFIX: Prefix = "ast_"
const RANDOM_BYTES = 20
const RANDOM_DIGITS = 27
const CHECKSUM_DIGITS = 6

/** The pattern of the secrets of API keys, for validators and secret scanners. */
export const pattern: RegExp = /^ast_[0-9A-Za-z]{33}$/

const patterns: { readonly [prefix in Prefix]: RegExp } = { ast_: pattern, asa_: /^asa_[0-9A-Za-z]{33}$/ }

const CHECKSUM_OFFSET = PREFIX.length + RANDOM_DIGITS

const checksum = (text: string): string => Base62.encode(BigInt(Crc32.of(asciiBytes(text))), CHECKSUM_DIGITS)

/**
 * Returns the bytes of `text`, for hashing, if it has the format and the checksum of a secret with this prefix, otherwise
 * `undefined`. Does not look up the key.
 */
export const parse = (text: string, prefix: Prefix = PREFIX): Uint8Array | undefined => {
  if (!patterns[prefix].test(text)) return undefined
  const bytes = asciiBytes(text)
  return Crc32.of(bytes, CHECKSUM_OFFSET) === Base62.decode(bytes, CHECKSUM_OFFSET) ? bytes : undefined
}

/** Generates a new secret of the `Realm` in the context, which is shown to its owner once and never stored. */
export const generate: Effect.Effect<
  Redacted.Redacted<string>,
  never,
  SecureRandom.SecureRandom
> = Effect.gen(function* () {
  const { secretPrefix } = yield* Realm
  const bytes = yield* (yield* SecureRandom.SecureRandom).randomBytes(RANDOM_BYTES)
  const body = secretPrefix + Base62.encodeBytes(bytes, RANDOM_DIGITS)
  return Redacted.make(body + checksum(body))
})

/** Returns the SHA-256 of the secret in lower-case hexadecimal, the only form in which stores save it. */
export const hash = (secret: string): Effect.Effect<string, never, Digest.Digest> =>
  Effect.flatMap(Digest.Digest, (digest) => hashWith(digest, asciiBytes(secret)))

/** Hashes the bytes of a secret with a given digest, so that the effect requires no service. */
export const hashWith = (digest: Digest.Digest["Service"], secret: Uint8Array): Effect.Effect<string> =>
  digest.digestHex(Digest.sha256, secret)

/** Returns one byte per UTF-16 code unit. A non-ASCII unit becomes 0, a byte that no secret contains. */
const asciiBytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    bytes[index] = unit < 0x80 ? unit : 0
  }
  return bytes
}
