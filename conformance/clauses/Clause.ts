/** What an implementation is held to: one sentence of the contract, or one answer of ours where it is silent. */

/** `spec`: the contract says so, every implementation must. `design`: our answer to a gap, others may differ. */
export type Level = "spec" | "design"

/** Where a breach can be seen: at a storage port, over HTTP, at both, or from nowhere outside. */
export type Observable = "port" | "http" | "both" | "not"

/** One sentence that can be kept or broken. */
export interface Clause {
  /** Frozen name, such as `list.limit.maximum`. */
  readonly slug: string
  /** Section of the contract, such as `§4.1`; for a design clause the section whose gap it fills. */
  readonly section: string
  readonly level: Level
  readonly observable: Observable
  /** The sentence, in our own words. */
  readonly says: string
  /** Why no check covers it; absent when one does. */
  readonly unchecked?: string
}
