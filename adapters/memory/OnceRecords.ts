/** Records, in memory, what must be executed only once, until the records expire. */
import * as Once from "../../core/idempotency/Once.ts"

/** A record of something executed once; it expires at `expiresAt`, in epoch milliseconds. */
export interface OnceRecord<Value> {
  readonly fingerprint: string
  value: Value
  readonly expiresAt: number
}

/** The records of one store. */
export class OnceRecords<Value> {
  /** Oldest first, by caller and key joined by a line break; no key contains a line break. */
  readonly #records = new Map<string, OnceRecord<Value>>()

  /** The number of records, including those that have expired since the last call of `find`. */
  get size(): number {
    return this.#records.size
  }

  /** Deletes expired records, and returns the record of this caller and key, if there is one. */
  find({ caller, key, now }: Once.Once): OnceRecord<Value> | undefined {
    for (const [id, { expiresAt }] of this.#records) {
      if (expiresAt > now) break
      this.#records.delete(id)
    }
    const found = this.#records.get(idOf(caller, key))
    return found === undefined || found.expiresAt <= now ? undefined : found
  }

  /** Adds a record; replaces an expired one of the same caller and key. */
  add({ caller, fingerprint, key, now }: Once.Once, value: Value): void {
    const id = idOf(caller, key)
    // Without the deletion, `set` would keep the position of an expired record, and the map would not be in order of
    // expiry.
    this.#records.delete(id)
    this.#records.set(id, { fingerprint, value, expiresAt: now + Once.RETENTION_MS })
  }

  /** Deletes the record of this caller and key, if there is one. */
  delete({ caller, key }: Once.Once): void {
    this.#records.delete(idOf(caller, key))
  }
}

const idOf = (caller: string, key: string): string => `${caller}\n${key}`
