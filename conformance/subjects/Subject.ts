/** Defines subjects: implementations under test, and their optional features. */

/**
 * The features that a check may need in addition to its interface, as they complete the sentence "The check needs …". A
 * subject declares those that it has.
 */
export const capabilities = {
  clock: "a clock that can be moved (--clock URL)",
  tinyPlan: "a key on a small plan (--tiny KEY:PERMINUTE:PERDAY)",
  victimKey: "a key that may be banned (--victim KEY:PERMINUTE:PERDAY)",
  revokedKey: "a revoked key (--revoked KEY)",
  expiredKey: "an expired key (--expired KEY)",
  outage: "a store whose backend does not respond"
} as const

export type Capability = keyof typeof capabilities

/** An implementation under test. Programs get one from `Conformance`. */
export interface Subject {
  /** The name in reports. */
  readonly name: string
  readonly kind: "port" | "http"
  /** What the suite can use: keys, a clock and so on. */
  readonly capabilities: ReadonlySet<Capability>
}
