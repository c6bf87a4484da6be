/** Defines clauses: sentences of the contract, and our decisions on points that the contract leaves open. */

/** `spec`: the contract requires it. `design`: our decision on an open point; other implementations may differ. */
export type Level = "spec" | "design"

/** Where a clause is checked: at a storage port or over HTTP. */
export type Observable = "port" | "http"

interface Sentence {
  /** The sentence, in our own words. */
  readonly says: string
  /** The reason why no check covers the clause; absent if a check does. */
  readonly unchecked?: string
  /** The reason why a run may never try the clause on a correct service, which is then not applicable. */
  readonly optional?: string
}

/** One requirement of the contract or of our design, as a sentence. */
export interface Clause<Slug extends string = string> extends Sentence {
  /** Frozen name, such as `list.limit.range`. */
  readonly slug: Slug
  /** Section of the contract, such as `§4.1`; for a design clause, the section that leaves the point open. */
  readonly section: string
  readonly level: Level
  readonly observable: Observable
}

/** Creates a sentence that no check covers; `reason` states why. */
export const unchecked = (says: string, reason: string): Sentence => ({ says, unchecked: reason })

/** Creates a sentence that some runs cannot try; `reason` states why. */
export const optional = (says: string, reason: string): Sentence => ({ says, optional: reason })

/** Creates a sentence that is tried only if a list can show all animals. */
export const unlessFull = (says: string): Sentence =>
  optional(says, "No list that must show every animal decides it.")

/** Creates clauses of one level from sentences, keyed by slug, each after its section: `§2: An id is unique.` */
const of =
  (level: Level, observable: Observable) =>
  <Slug extends string>(
    sentences: Readonly<Record<Slug, string | Sentence>>
  ): ReadonlyArray<Clause<Slug>> => {
    const clauses: Array<Clause<Slug>> = []
    for (const slug in sentences) {
      const given: string | Sentence = sentences[slug]
      const sentence = typeof given === "string" ? { says: given } : given
      const [section = "", says = ""] = sentence.says.split(/: (.*)/s)
      clauses.push({ ...sentence, slug, section, says, level, observable })
    }
    return clauses
  }

export const spec = of("spec", "http")
export const design = of("design", "http")
export const port = of("design", "port")
