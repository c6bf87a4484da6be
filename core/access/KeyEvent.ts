/** Defines events: the recorded actions of administrators on API keys. Events contain no secrets and no hashes. */
import type { ApiKey } from "./ApiKey.ts"

/** All actions that are recorded as events. */
export const actions = ["issued", "rotated", "revoked", "changed", "unbanned"] as const

export type KeyAction = (typeof actions)[number]

/**
 * A value before and after an event: text, a number, or null if absent. Times are in epoch milliseconds, metadata is JSON
 * text.
 */
export interface ValueChange {
  readonly from: string | number | null
  readonly to: string | number | null
}

/** One action of an administrator. */
export interface KeyEvent {
  /** Epoch milliseconds. */
  readonly at: number
  /** The administrator who performed the action; see `Actor`. */
  readonly actor: string
  readonly keyId: string
  readonly action: KeyAction
  /** The changed values, by field name. */
  readonly changes: { readonly [field: string]: ValueChange }
}

/**
 * Returns the changes between two records of a key, in the fields that administrators set; `before` is `undefined` for
 * a new key.
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
  account: key.account ?? null,
  metadata: key.metadata === undefined ? null : JSON.stringify(key.metadata),
  expiresAt: key.expiresAt ?? null,
  revokedAt: key.revokedAt ?? null
})
