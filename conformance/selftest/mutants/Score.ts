/** Counts mutants by result; mutants that keep the contract are counted separately. */
import type { MutantResult } from "./Hunt.ts"
import * as Legal from "./Legal.ts"
import type { Mutant } from "./Mutant.ts"

/** A mutant, its result, and the reason why it is legal, if there is one. */
export interface Scored {
  readonly mutant: Mutant
  readonly result: MutantResult
  readonly legal: string | undefined
}

/**
 * Numbers of mutants by result. The first four numbers count faulty mutants: mutants that break the contract as far as
 * is known, because they are neither equal nor legal.
 */
export interface Score {
  /** A check of level spec failed. */
  readonly spec: number
  /** A check failed, but only at level design. */
  readonly design: number
  /** No check failed, but the run at level spec is not conformant: a check was not decided, or the run did not end. */
  readonly undecided: number
  /** No check failed at either level, and the run at level spec is conformant. */
  readonly open: number
  /** The mutant changed no value in the run and in a long random conversation. */
  readonly equal: number
  /** By a rule, the mutant keeps the contract, and level spec does not reject it: the run may be undecided. */
  readonly legal: number
  /** By a rule, the mutant keeps the contract, but level spec rejects it. */
  readonly disputed: number
  readonly tried: number
}

/** Combines mutants with their results, in the order of `mutants`; omits mutants without a result. */
export const scored = (
  mutants: ReadonlyArray<Mutant>,
  results: ReadonlyArray<MutantResult>
): ReadonlyArray<Scored> => {
  const byId = new Map(results.map((result) => [result.id, result]))
  return mutants.flatMap((mutant) => {
    const result = byId.get(mutant.id)
    if (result === undefined) return []
    return [{ mutant, result, legal: result.outcome === "equal" ? undefined : Legal.reasonFor(mutant) }]
  })
}

/** Whether level spec rejects a mutant that a rule declares legal; then either the rule or a check is wrong. */
export const isDisputed = ({ legal, result }: Scored): boolean =>
  legal !== undefined && result.outcome === "spec"

/** Whether no check rejects a mutant that no rule declares legal. */
export const isOpen = ({ legal, result }: Scored): boolean =>
  legal === undefined && result.outcome === "survived"

export const of = (all: ReadonlyArray<Scored>): Score => {
  const count = (matches: (item: Scored) => boolean): number => all.filter(matches).length
  const faulty = (outcome: MutantResult["outcome"]): number =>
    count(({ legal, result }) => result.outcome === outcome && legal === undefined)
  return {
    spec: faulty("spec"),
    design: faulty("design"),
    undecided: faulty("undecided"),
    open: faulty("survived"),
    equal: count(({ result }) => result.outcome === "equal"),
    legal: count((item) => item.legal !== undefined && !isDisputed(item)),
    disputed: count(isDisputed),
    tried: all.length
  }
}

/** Returns the number of faulty mutants: mutants that break the contract as far as is known. */
export const faulty = ({ design, open, spec, undecided }: Score): number => spec + design + undecided + open

/**
 * Returns the share of the faulty mutants that the suite rejects at one of the levels, rounded down, such as `93.4%`; `–`
 * if there are no faulty mutants.
 */
export const percent = (score: Score): string =>
  faulty(score) === 0 ? "–" : `${Math.floor(((score.spec + score.design) / faulty(score)) * 1_000) / 10}%`

/** Groups the results by a property and scores each group, in the order of first appearance. */
export const grouped = (
  all: ReadonlyArray<Scored>,
  by: (mutant: Mutant) => string
): ReadonlyArray<readonly [string, Score]> => {
  const groups = new Map<string, Array<Scored>>()
  for (const item of all) {
    const name = by(item.mutant)
    groups.set(name, [...(groups.get(name) ?? []), item])
  }
  return [...groups].map(([name, members]) => [name, of(members)])
}
