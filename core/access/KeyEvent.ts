/** Actions of administrators on API keys. Events contain no secret and no hash. */
import type { ApiKey } from "./ApiKey.ts"

/** The kinds of events. */
export const actions = ["issued", "rotated", "revoked", "changed", "unbanned"] as const

/** A kind of event. */
export type KeyAction = (typeof actions)[number]

/** A value before and after an event: text, a number, or null if absent. Times are epoch milliseconds. */
export interface ValueChange {
  readonly from: string | number | null
  readonly to: string | number | null
}

/** One action of an administrator. */
export interface KeyEvent {
  /** Epoch milliseconds. */
  readonly at: number
  /** Who did it; see `Actor`. */
  readonly actor: string
  readonly keyId: string
  readonly action: KeyAction
  /** The changes, by field name. */
  readonly changes: { readonly [field: string]: ValueChange }
}

/**
 * Returns the fields set by administrators that differ between two records of a key; `undefined` stands for a key that
 * did not exist.
 *
 * @internal
 */
export const changesBetween = (before: ApiKey | undefined, after: ApiKey): KeyEvent["changes"] => {
  const old = before === undefined ? {} : fieldsOf(before)
  return Object.fromEntries(
    Object.entries(fieldsOf(after)).flatMap(([field, to]) => {
      const from = old[field] ?? null
      return from === to ? [] : [[field, { from, to }]]
    })
  )
}

const fieldsOf = (key: ApiKey): { readonly [field: string]: string | number | null } => ({
  plan: key.plan,
  perMinute: key.limits.perMinute,
  perDay: key.limits.perDay,
  label: key.label ?? null,
  expiresAt: key.expiresAt ?? null,
  revokedAt: key.revokedAt ?? null
})
