/** What an implementation is held to: one sentence of the contract, or one decision of ours where it is silent. */

/** `spec`: the contract says so, every implementation must. `design`: our decision about a gap, others may differ. */
export type Level = "spec" | "design"

/** Where a violation can be seen: at a storage port, over HTTP, at both, or nowhere from outside. */
export type Observable = "port" | "http" | "both" | "not"

/** One sentence that can be kept or broken. */
export interface Clause<Slug extends string = string> {
  /** Frozen name, such as `list.limit.maximum`. */
  readonly slug: Slug
  /** Section of the contract, such as `§4.1`; for a design clause the section whose gap it fills. */
  readonly section: string
  readonly level: Level
  readonly observable: Observable
  /** The sentence, in our own words. */
  readonly says: string
  /** Why no check covers it; absent when one does. */
  readonly unchecked?: string
}

type Sentence = Pick<Clause, "says" | "unchecked">

/** A sentence that no check covers, with the reason. */
export const unchecked = (says: string, reason: string): Sentence => ({ says, unchecked: reason })

/** Clauses that share a section, a level and the place where a violation shows, by slug. */
export const section = <Slug extends string>(
  name: string,
  level: Level,
  observable: Observable,
  sentences: Readonly<Record<Slug, string | Sentence>>
): ReadonlyArray<Clause<Slug>> => {
  const clauses: Array<Clause<Slug>> = []
  for (const slug in sentences) {
    const sentence: string | Sentence = sentences[slug]
    const own = typeof sentence === "string" ? { says: sentence } : sentence
    clauses.push({ slug, section: name, level, observable, ...own })
  }
  return clauses
}
