/** Defines subjects: implementations under test, and their optional features. */

/**
 * The features that a check may need in addition to its interface, as they complete the sentence "The check needs …". A
 * subject declares those that it has.
 */
export const capabilities = {
  /** The suite can move the subject's time forward. */
  clock: "a clock that can be moved (--clock URL)",
  /** The subject has a key with low limits, which the suite may use up. */
  tinyPlan: "a key on a small plan (--tiny KEY:PERMINUTE:PERDAY)",
  /** The subject has a key that the suite may cause to be banned. */
  victimKey: "a key that may be banned (--victim KEY:PERMINUTE:PERDAY)",
  /** The subject has a key that was valid until it was revoked. */
  revokedKey: "a revoked key (--revoked KEY)",
  /** The subject has a key that was valid until it expired. */
  expiredKey: "an expired key (--expired KEY)",
  /** The subject accepts every int64 as `categoryId`, not only declared values. */
  anyCategory: "a subject that accepts any categoryId",
  /** The subject has a second set of stores, whose backend does not respond. */
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
