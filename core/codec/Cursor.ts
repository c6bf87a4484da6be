/**
 * Encodes and decodes page cursors: the id after which a page starts, signed together with the page's filter. Cursors
 * that are forged, truncated, signed with another key or for another filter are rejected.
 */

import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import type * as Int64 from "../domain/Int64.ts"
import type { PetStatus } from "../domain/PetStatus.ts"

/** Encodes and decodes cursors with one key. */
export class Cursor extends Context.Service<
  Cursor,
  {
    /** Encodes a cursor: 16 hexadecimal digits for the non-negative id and 16 for the signature. */
    readonly encode: (after: Int64.Int64, status: PetStatus | undefined) => Effect.Effect<string>
    /** Returns the id, or `undefined` if the cursor was not encoded for this filter with the same key. */
    readonly decode: (text: string, status: PetStatus | undefined) => Effect.Effect<Int64.Int64 | undefined>
  }
>()("animal-store/core/codec/Cursor") {}

/**
 * The cursor key, at least 32 bytes long, that all nodes on one store share. Persistent stores save and provide it.
 * Without this key and without the `cursorKey` option, cursors become invalid when the service restarts.
 */
export const SharedKey = Context.Reference<Uint8Array | undefined>(
  "animal-store/core/codec/Cursor/SharedKey",
  {
    defaultValue: () => undefined
  }
)

/** Number of hexadecimal digits of the id, and of the signature: 64 bits each. */
const DIGITS = 16

/**
 * Creates the cursor service for `key`, a secret of at least 32 bytes that all nodes on one store share. The signature
 * is the SHA-256 of key and content, truncated to 64 bits: a cursor grants no access, so its signature only has to
 * resist guessing.
 *
 * @internal
 */
export const make = (key: Uint8Array): Effect.Effect<Cursor["Service"], never, Digest.Digest> =>
  Effect.map(Digest.Digest, (digest) => {
    const sign = (id: string, status: PetStatus | undefined): Effect.Effect<string> => {
      const content = `${id}${status ?? ""}`
      const bytes = new Uint8Array(key.length + content.length)
      bytes.set(key)
      for (let index = 0; index < content.length; index++)
        bytes[key.length + index] = content.charCodeAt(index)
      return Effect.map(digest.digestHex(Digest.sha256, bytes), (hex) => hex.slice(0, DIGITS))
    }
    return {
      encode: (after, status) => {
        const id = after.toString(16).padStart(DIGITS, "0")
        return Effect.map(sign(id, status), (signature) => id + signature)
      },
      decode: (text, status) => {
        if (!/^[0-7][0-9a-f]{31}$/.test(text)) return Effect.succeed(undefined)
        const id = text.slice(0, DIGITS)
        return Effect.map(sign(id, status), (signature) =>
          text === id + signature ? BigInt(`0x${id}`) : undefined
        )
      }
    }
  })
