/** Results of mutants in numbers, and which survivors are legal. */
import type { Hunted } from "./Hunt.ts"
import * as Legal from "./Legal.ts"
import type { Mutant } from "./Mutant.ts"

/** A mutant, its result, and why it is legal, if it is. */
export interface Scored {
  readonly mutant: Mutant
  readonly hunted: Hunted
  readonly legal: string | undefined
}

export interface Score {
  readonly tried: number
  /** A check of level spec failed. */
  readonly spec: number
  /** A check failed, but only at level design. */
  readonly design: number
  /** Not conformant, but no check failed: the run ends with a code other than 0. */
  readonly undecided: number
  /** Without any difference in the run and in a long random conversation. */
  readonly equal: number
  /** Survivors that keep the contract. */
  readonly legal: number
  /** Survivors that break it, or for which nothing else is shown. */
  readonly open: number
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
    return [{ mutant, hunted, legal: hunted.outcome === "survived" ? Legal.reasonFor(mutant) : undefined }]
  })
}

export const of = (all: ReadonlyArray<Scored>): Score => {
  const count = (is: (one: Scored) => boolean): number => all.filter(is).length
  return {
    tried: all.length,
    spec: count(({ hunted }) => hunted.outcome === "spec"),
    design: count(({ hunted }) => hunted.outcome === "design"),
    undecided: count(({ hunted }) => hunted.outcome === "undecided"),
    equal: count(({ hunted }) => hunted.outcome === "equal"),
    legal: count(({ legal }) => legal !== undefined),
    open: count(({ hunted, legal }) => hunted.outcome === "survived" && legal === undefined)
  }
}

/** Mutants that break the contract, as far as is known: neither equal nor legal. */
export const faulty = ({ equal, legal, tried }: Score): number => tried - equal - legal

/** A part of the faulty ones, such as `93.4 %`; never rounded up. */
export const percentOf = (count: number, score: Score): string =>
  faulty(score) === 0 ? "100 %" : `${Math.floor((count / faulty(score)) * 1_000) / 10} %`

/** The part of the faulty ones that the suite rejects. */
export const percent = (score: Score): string => percentOf(score.spec + score.design + score.undecided, score)

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
