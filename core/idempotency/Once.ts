/**
 * Defines requests that are executed once, even if they are sent several times. A store keeps a record of each for 24
 * hours: of an insert (`PetRepository.insertOnce`) in the same transaction as the animal, of another operation by
 * `ResponseStore`.
 */
import type { Pet } from "../domain/Pet.ts"

/** Time for which a store keeps a record, in milliseconds. */
export const RETENTION_MS = 24 * 60 * 60 * 1000

/** Identifies a request that is executed once. */
export interface Once {
  /** The id of the API key; callers can use the same idempotency key independently. */
  readonly caller: string
  /** The value of `Idempotency-Key`. */
  readonly key: string
  /** SHA-256 of what must be the same in a later request with the key, in lower-case hexadecimal. */
  readonly fingerprint: string
  /** Arrival time of the request in epoch milliseconds. */
  readonly now: number
}

/** The outcome of an insert that is executed once. */
export type Outcome =
  | { readonly _tag: "Inserted"; readonly pet: Pet }
  /** An earlier request with this key and body stored the animal. */
  | { readonly _tag: "Replayed"; readonly pet: Pet }
  /** The key belongs to a request with another body; nothing was stored. */
  | { readonly _tag: "Mismatch" }
  /** Another request with this key is still in progress; nothing was stored. */
  | { readonly _tag: "InProgress" }
