/**
 * An insert that happens once, however often its request is sent. A store keeps a record of it for a day, in the same
 * transaction as the animal.
 */
import type { Pet } from "../domain/Pet.ts"

/** Milliseconds for which a store keeps a record. */
export const RETENTION_MS = 24 * 60 * 60 * 1000

/** What identifies the insert. */
export interface Once {
  /** The id of the API key; callers do not share keys. */
  readonly caller: string
  /** The value of `Idempotency-Key`. */
  readonly key: string
  /** SHA-256 of the validated body, in lower-case hexadecimal. */
  readonly fingerprint: string
  /** When the request arrived, in epoch milliseconds. */
  readonly now: number
}

/** What happened. */
export type Outcome =
  | { readonly _tag: "Inserted"; readonly pet: Pet }
  /** An earlier request with this key and body has stored the animal. */
  | { readonly _tag: "Replayed"; readonly pet: Pet }
  /** The key belongs to a request with another body; nothing was stored. */
  | { readonly _tag: "Mismatch" }
  /** Another request with this key has not ended; nothing was stored. */
  | { readonly _tag: "InProgress" }
