/** Results of mutants in numbers, and which of them keep the contract. */
import type { Hunted } from "./Hunt.ts"
import * as Legal from "./Legal.ts"
import type { Mutant } from "./Mutant.ts"

/** A mutant, its result, and why it is legal, if it is. */
export interface Scored {
  readonly mutant: Mutant
  readonly hunted: Hunted
  readonly legal: string | undefined
}

/** The first four count mutants that break the contract, as far as is known: those that are neither equal nor legal. */
export interface Score {
  /** A check of level spec failed. */
  readonly spec: number
  /** A check failed, but only at level design. */
  readonly design: number
  /** Not conformant, but no check failed: the run ends with a code other than 0. */
  readonly undecided: number
  /** Conformant at both levels. */
  readonly open: number
  /** Without any difference in the run and in a long random conversation. */
  readonly equal: number
  /** They keep the contract, and level spec accepts them. */
  readonly legal: number
  /** A rule says that they keep the contract, and level spec rejects them. */
  readonly disputed: number
  readonly tried: number
}

/** The results with their mutants, in the order of `mutants`. */
export const scored = (
  mutants: ReadonlyArray<Mutant>,
  results: ReadonlyArray<Hunted>
): ReadonlyArray<Scored> => {
  const byId = new Map(results.map((hunted) => [hunted.id, hunted]))
  return mutants.flatMap((mutant) => {
    const hunted = byId.get(mutant.id)
    if (hunted === undefined) return []
    return [{ mutant, hunted, legal: hunted.outcome === "equal" ? undefined : Legal.reasonFor(mutant) }]
  })
}

/** Whether a rule calls legal what level spec rejects: one of the two is wrong. */
export const isDisputed = ({ hunted, legal }: Scored): boolean =>
  legal !== undefined && hunted.outcome === "spec"

export const of = (all: ReadonlyArray<Scored>): Score => {
  const count = (is: (one: Scored) => boolean): number => all.filter(is).length
  const faulty = (outcome: Hunted["outcome"]): number =>
    count(({ hunted, legal }) => hunted.outcome === outcome && legal === undefined)
  return {
    spec: faulty("spec"),
    design: faulty("design"),
    undecided: faulty("undecided"),
    open: faulty("survived"),
    equal: count(({ hunted }) => hunted.outcome === "equal"),
    legal: count((one) => one.legal !== undefined && !isDisputed(one)),
    disputed: count(isDisputed),
    tried: all.length
  }
}

/** Mutants that break the contract, as far as is known. */
export const faulty = ({ design, open, spec, undecided }: Score): number => spec + design + undecided + open

/** A part of the faulty ones, such as `93.4 %`; never rounded up. */
export const percentOf = (count: number, score: Score): string =>
  faulty(score) === 0 ? "–" : `${Math.floor((count / faulty(score)) * 1_000) / 10} %`

/** The part of the faulty ones that the suite rejects at one of the levels. */
export const percent = (score: Score): string => percentOf(score.spec + score.design, score)

/** The results by a property, in the order of their first appearance. */
export const grouped = (
  all: ReadonlyArray<Scored>,
  by: (mutant: Mutant) => string
): ReadonlyArray<readonly [string, Score]> => {
  const groups = new Map<string, Array<Scored>>()
  for (const one of all) {
    const name = by(one.mutant)
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups].map(([name, members]) => [name, of(members)])
}
