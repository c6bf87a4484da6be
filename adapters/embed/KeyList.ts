/**
 * Lists keys for a page that is read again and again. To list thousands of keys takes a tenth of a second, so a longer
 * list is used for five seconds; an action discards it.
 */
import type { KeyStatus } from "../../core/access/KeyStatus.ts"

/** Number of keys from which on a list is used again. */
const LONG = 500

const MAX_AGE_MS = 5_000

type Keys = ReadonlyArray<KeyStatus>

export interface KeyList {
  /** Returns all keys; `now` is in epoch milliseconds. */
  readonly all: (now: number) => Promise<Keys>
  /** Discards the list, because a key has changed. */
  readonly discard: () => void
}

export const make = (read: () => Promise<Keys>): KeyList => {
  let latest: { readonly at: number; readonly keys: Keys } | undefined
  let actions = 0
  return {
    all: async (now) => {
      if (latest !== undefined && Math.abs(now - latest.at) < MAX_AGE_MS) return latest.keys
      const before = actions
      const keys = await read()
      if (before === actions) latest = keys.length < LONG ? undefined : { at: now, keys }
      return keys
    },
    discard: () => {
      actions++
      latest = undefined
    }
  }
}
