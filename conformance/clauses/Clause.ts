/** One sentence of the contract, or one of our decisions on a point that the contract leaves open. */

/** `spec`: required by the contract of every implementation. `design`: our decision on an open point; others may differ. */
export type Level = "spec" | "design"

/** Where a violation is visible: at a storage port, over HTTP, at both, or not from outside. */
export type Observable = "port" | "http" | "both" | "not"

/** One sentence that can be kept or violated. */
export interface Clause<Slug extends string = string> {
  /** Frozen name, such as `list.limit.maximum`. */
  readonly slug: Slug
  /** Section of the contract, such as `§4.1`; for a design clause the section that leaves the point open. */
  readonly section: string
  readonly level: Level
  readonly observable: Observable
  /** The sentence, in our own words. */
  readonly says: string
  /** The reason why no check covers it; absent if one does. */
  readonly unchecked?: string
}

type Sentence = Pick<Clause, "says" | "unchecked">

/** A sentence without a check, with the reason. */
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
