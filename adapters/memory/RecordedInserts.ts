/** Records, in memory, the inserts that must be executed only once, until the records expire. */
import type { Pet } from "../../core/domain/Pet.ts"
import * as Once from "../../core/idempotency/Once.ts"

/** A recorded insert; the record expires at `expiresAt`, in epoch milliseconds. */
export interface Recorded {
  readonly fingerprint: string
  readonly pet: Pet
  readonly expiresAt: number
}

/** The records of one repository. */
export class RecordedInserts {
  /** Oldest first, by caller and key joined by a line break; no key contains a line break. */
  readonly #records = new Map<string, Recorded>()

  /** The number of records, including those that have expired since the last call of `find`. */
  get size(): number {
    return this.#records.size
  }

  /** Deletes expired records, and returns the record of this caller and key, if there is one. */
  find({ caller, key, now }: Once.Once): Recorded | undefined {
    for (const [id, { expiresAt }] of this.#records) {
      if (expiresAt > now) break
      this.#records.delete(id)
    }
    const found = this.#records.get(idOf(caller, key))
    return found === undefined || found.expiresAt <= now ? undefined : found
  }

  /** Records an insert; replaces an expired record of the same caller and key. */
  add({ caller, fingerprint, key, now }: Once.Once, pet: Pet): void {
    const id = idOf(caller, key)
    // Without the deletion, `set` would keep the position of an expired record, and the map would not be in order of
    // expiry.
    this.#records.delete(id)
    this.#records.set(id, { fingerprint, pet, expiresAt: now + Once.RETENTION_MS })
  }
}

const idOf = (caller: string, key: string): string => `${caller}\n${key}`
