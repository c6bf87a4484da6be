/** Computes fingerprints of requests, with which stores detect that a key is reused for another request. */
import * as Digest from "effect/crypto/Digest"
import type * as Effect from "effect/Effect"

/** Returns the SHA-256 of a text encoded as UTF-16 (big-endian), in lower-case hexadecimal. */
export const hashWith = (digest: Digest.Digest["Service"], text: string): Effect.Effect<string> => {
  const bytes = new Uint8Array(2 * text.length)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    bytes[2 * index] = unit >> 8
    bytes[2 * index + 1] = unit & 0xff
  }
  return digest.digestHex(Digest.sha256, bytes)
}
