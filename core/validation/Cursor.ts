/**
 * Page cursors: the id after which a page starts, sealed together with the page's filter, so that a cursor that was
 * made up, cut, made by another server or meant for another filter is refused instead of answered with other animals.
 */

import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import type * as Int64 from "../domain/Int64.ts"
import type { PetStatus } from "../domain/PetStatus.ts"
import * as Immediate from "../ports/Immediate.ts"

/** Writes and reads cursors under one key. */
export interface Cursor {
  /** The text of a cursor: 16 hexadecimal digits of id, which is not negative, and 16 of seal. */
  readonly encode: (after: Int64.Int64, status: PetStatus | undefined) => Effect.Effect<string>
  /** The id, or `undefined` unless this text was made for this filter with this key. */
  readonly decode: (text: string, status: PetStatus | undefined) => Effect.Effect<Int64.Int64 | undefined>
}

/**
 * The key that all nodes on one store share, 32 bytes or more. A store that lasts keeps it and provides it; `undefined`
 * where there is none: cursors then end with their service.
 */
export const SharedKey = Context.Reference<Uint8Array | undefined>(
  "animal-store/core/validation/Cursor/SharedKey",
  {
    defaultValue: () => undefined
  }
)

/** Of the id and of the seal alike: 64 bits. */
const DIGITS = 16

/**
 * Cursors under `key`, a secret of 32 bytes or more that all nodes on one store share. The seal is SHA-256 over key
 * and content, cut to 64 bits: a cursor grants nothing that its holder could not list, so it only has to resist guesses.
 */
export const make = (key: Uint8Array): Effect.Effect<Cursor, never, Digest.Digest> =>
  Effect.map(Digest.Digest, (digest) => {
    const seal = (id: string, status: PetStatus | undefined): Effect.Effect<string> => {
      const content = `${id}${status ?? ""}`
      const bytes = new Uint8Array(key.length + content.length)
      bytes.set(key)
      for (let index = 0; index < content.length; index++)
        bytes[key.length + index] = content.charCodeAt(index)
      return Effect.mapEager(Immediate.start(digest.digestHex(Digest.sha256, bytes)), (hex) =>
        hex.slice(0, DIGITS)
      )
    }
    // Most lists are first pages, whose cursors are the same until the end of time.
    const latest = new Map<PetStatus | undefined, { readonly after: Int64.Int64; readonly text: string }>()
    return {
      encode: (after, status) => {
        const known = latest.get(status)
        if (known?.after === after) return Effect.succeed(known.text)
        const id = after.toString(16).padStart(DIGITS, "0")
        return Effect.mapEager(seal(id, status), (sealed) => {
          const text = id + sealed
          latest.set(status, { after, text })
          return text
        })
      },
      decode: (text, status) => {
        if (!/^[0-7][0-9a-f]{31}$/.test(text)) return Effect.succeed(undefined)
        const id = text.slice(0, DIGITS)
        return Effect.mapEager(seal(id, status), (sealed) =>
          text === id + sealed ? BigInt(`0x${id}`) : undefined
        )
      }
    }
  })
