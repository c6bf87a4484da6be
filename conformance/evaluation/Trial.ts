/** One evaluation of a law on one case: its steps, the circumstances it met, and names that no other evaluation uses. */
import type { Exchange } from "../http/Exchange.ts"
import * as Letters from "./Letters.ts"

/** One call or request, in terms of the domain; over HTTP with the exchange. */
export interface Step {
  readonly did: string
  readonly got: string
  readonly exchange?: Exchange
  /** Ms of the subject's time that the step let pass. */
  readonly passedMs?: number
}

export interface Trial {
  /** Marks everything that this evaluation creates; no other evaluation of any run has the same token. */
  readonly token: string
  /** A new name for an animal, marked with the token. Without a tail it is a few letters, which few servers reject. */
  readonly name: (tail?: string) => string
  readonly record: (step: Step) => void
  /** Records that a circumstance occurred that the check requires (`mustSee`). */
  readonly saw: (circumstance: string) => void
  /** Records that the law was decided for this case of a product: names of values by dimension. */
  readonly tried: (tuple: { readonly [dimension: string]: string }) => void
  readonly tuples: ReadonlyArray<{ readonly [dimension: string]: string }>
  readonly steps: ReadonlyArray<Step>
  readonly seen: ReadonlySet<string>
}

/** A trial that has not begun. */
export const make = (token: string): Trial => {
  const steps: Array<Step> = []
  const seen = new Set<string>()
  const tuples: Array<{ readonly [dimension: string]: string }> = []
  let names = 0
  return {
    token,
    name: (tail = "") => `${token}${Letters.of(names++).toUpperCase()}${tail}`,
    record: (step) => {
      steps.push(step)
    },
    saw: (circumstance) => {
      seen.add(circumstance)
    },
    tried: (tuple) => {
      tuples.push(tuple)
    },
    steps,
    seen,
    tuples
  }
}
