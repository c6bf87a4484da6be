/** Selects keys for lists that are read in pages. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiKey from "./ApiKey.ts"
import * as KeyLifecycle from "./KeyLifecycle.ts"
import * as KeyStatus from "./KeyStatus.ts"

/**
 * The states of keys. `near_limit` means that at least 80 % of a window is used; `active` that the key is valid and has
 * no other state. A valid key can be rotating, banned and near its limit at once.
 */
export const states = ["active", "near_limit", "banned", "rotating", "expired", "revoked"] as const

export type KeyState = (typeof states)[number]

const NEAR = 0.8

/** Returns the states of a key at `now` (epoch milliseconds); at least one. */
export const statesOf = (key: KeyStatus.KeyStatus, now: number): ReadonlyArray<KeyState> => {
  if (key.revokedAt !== undefined) return ["revoked"]
  if (ApiKey.isExpired(key, now)) return ["expired"]
  const { bannedUntil, day, minute } = key.usage
  const found: Array<KeyState> = []
  if (minute.limit - minute.remaining >= minute.limit * NEAR || day.used >= day.limit * NEAR)
    found.push("near_limit")
  if (bannedUntil !== undefined) found.push("banned")
  if (key.secrets.some(({ expiresAt = now }) => expiresAt > now)) found.push("rotating")
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
  readonly limit: number
}

/** Returns a page of at most `limit` keys with their usage, newest first, and the cursor of the next page, if any. */
export const page = Effect.fn("KeyQuery.page")(function* (query: KeyQuery) {
  const { account, cursor, label = "", limit, plan, state } = query
  const newestFirst = (yield* KeyLifecycle.list).toReversed()
  // After an unknown cursor, the list starts again.
  const start = newestFirst.findIndex(({ id }) => id === cursor) + 1
  const text = label.toLowerCase()
  const found = newestFirst.slice(start).filter((key) => {
    if (plan !== undefined && key.plan !== plan) return false
    if (account !== undefined && key.account !== account) return false
    return `${key.id}\n${key.label ?? ""}`.toLowerCase().includes(text)
  })
  // To read the usage of thousands of keys takes longer than to list them.
  const read = yield* KeyStatus.ofKeys(state === undefined ? found.slice(0, limit + 1) : found)
  const now = yield* Clock.currentTimeMillis
  const selected = read.filter((key) => state === undefined || statesOf(key, now).includes(state))
  const keys = selected.slice(0, limit)
  return { keys, next: limit < selected.length ? keys.at(-1)?.id : undefined }
})
