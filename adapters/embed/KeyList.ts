/**
 * Lists keys for a page that is read again and again. To list thousands of keys takes tenths of a second, so a longer
 * list is used for ten seconds, and renewed in the background; an action discards it.
 */
import type { KeyStatus } from "../../core/access/KeyStatus.ts"

/** Number of keys from which on a list is used again. */
const LONG = 500

/** Milliseconds for which a list is used, and after which it is renewed. */
const MAX_AGE_MS = 10_000
const RENEWED_AFTER_MS = 3_000

type Keys = ReadonlyArray<KeyStatus>

export class KeyList {
  readonly #read: () => Promise<Keys>
  #latest: { readonly at: number; readonly keys: Keys } | undefined
  #pending: Promise<Keys> | undefined

  constructor(read: () => Promise<Keys>) {
    this.#read = read
  }

  /** Returns all keys; `now` is in epoch milliseconds. The usage of a key may be that of ten seconds ago. */
  all(now: number): Promise<Keys> {
    const latest = this.#latest
    const age = latest === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - latest.at)
    if (latest === undefined || age > MAX_AGE_MS) return this.#renew(now)
    if (age > RENEWED_AFTER_MS) this.#renew(now).catch(() => undefined)
    return Promise.resolve(latest.keys)
  }

  /** Discards the list, because a key has changed. */
  discard(): void {
    this.#latest = undefined
    this.#pending = undefined
  }

  #renew(now: number): Promise<Keys> {
    if (this.#pending !== undefined) return this.#pending
    const pending = this.#read()
      .then((keys) => {
        // Unless a key has changed in the meantime.
        if (this.#pending === pending && keys.length >= LONG) this.#latest = { at: now, keys }
        return keys
      })
      .finally(() => {
        if (this.#pending === pending) this.#pending = undefined
      })
    this.#pending = pending
    return pending
  }
}
