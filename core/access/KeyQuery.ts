/** Selects keys for lists that are read in pages, newest first, and counts them by state. */
import type { KeyStatus } from "./KeyStatus.ts"

/**
 * The states of keys. `near_limit` means that at least 80 % of a window is used; `active` that the key is valid and has
 * no other state. A valid key can be rotating, banned and near its limit at once.
 */
export const states = ["active", "near_limit", "banned", "rotating", "expired", "revoked"] as const

export type KeyState = (typeof states)[number]

const NEAR = 0.8

/** Returns the states of a key at `now` (epoch milliseconds); at least one. */
export const statesOf = (
  { expiresAt, revokedAt, secrets, usage }: KeyStatus,
  now: number
): ReadonlyArray<KeyState> => {
  if (revokedAt !== undefined) return ["revoked"]
  if (expiresAt !== undefined && expiresAt <= now) return ["expired"]
  const { bannedUntil, day, minute } = usage
  const isNear = minute.limit - minute.remaining >= minute.limit * NEAR || day.used >= day.limit * NEAR
  const found: ReadonlyArray<KeyState> = [
    ...(isNear ? ["near_limit" as const] : []),
    ...(bannedUntil === undefined ? [] : ["banned" as const]),
    ...(secrets.some((secret) => secret.expiresAt !== undefined && secret.expiresAt > now)
      ? ["rotating" as const]
      : [])
  ]
  return found.length === 0 ? ["active"] : found
}

/** Which keys to select; absent fields select all. */
export interface KeyQuery {
  readonly plan?: string | undefined
  readonly account?: string | undefined
  /** A text that the label or the id contains, in any case. */
  readonly label?: string | undefined
  readonly state?: KeyState | undefined
  /** The id of the last key of the previous page. */
  readonly cursor?: string | undefined
}

/**
 * Returns one page of at most `limit` keys, the cursor of the next page, and the number of keys with each state on all
 * pages, whatever `state` is selected; `keys` are all keys, oldest first.
 */
export const page = (
  keys: ReadonlyArray<KeyStatus>,
  { account, cursor, label = "", plan, state }: KeyQuery,
  limit: number,
  now: number
) => {
  const counts = { all: 0, active: 0, near_limit: 0, banned: 0, rotating: 0, expired: 0, revoked: 0 }
  const text = label.toLowerCase()
  const newestFirst = keys.toReversed()
  // After an unknown cursor, the list starts again.
  const start = newestFirst.findIndex(({ id }) => id === cursor)
  const selected: Array<KeyStatus> = []
  for (const [index, key] of newestFirst.entries()) {
    if (plan !== undefined && key.plan !== plan) continue
    if (account !== undefined && key.account !== account) continue
    if (text !== "" && !`${key.id}\n${key.label ?? ""}`.toLowerCase().includes(text)) continue
    const found = statesOf(key, now)
    counts.all++
    for (const name of found) counts[name]++
    if (index > start && (state === undefined || found.includes(state))) selected.push(key)
  }
  const shown = selected.slice(0, limit)
  return { keys: shown, next: limit < selected.length ? shown.at(-1)?.id : undefined, counts }
}
