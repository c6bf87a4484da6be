/** Records one evaluation of a law on one case, and creates names that no other evaluation uses. */
import type { Exchange } from "../http/Exchange.ts"
import * as Letters from "./Letters.ts"

/** One call or request of an evaluation and its result, in words. Over HTTP it also has the exchange. */
export interface Step {
  readonly did: string
  readonly got: string
  readonly exchange?: Exchange
  /** Milliseconds of the subject's time that the step let pass. */
  readonly passedMs?: number
  /** The moment (epoch ms) until which the step let time pass, if the law is about that moment. */
  readonly passedUntil?: number
}

/** Number of letters at the start of a token that identify the run. */
export const MARK_LENGTH = 5

export interface Trial {
  /** The prefix of all unique names that this run creates. */
  readonly mark: string
  /** A string that marks everything that this evaluation creates; no other evaluation of any run has the same token. */
  readonly token: string
  /**
   * Returns a new name for an animal: the token, letters, and `tail`. Without a tail it consists of few letters, which
   * almost every server accepts.
   */
  readonly name: (tail?: string) => string
  readonly record: (step: Step) => void
  /** Records that a circumstance occurred that the check must see (`mustSee`). */
  readonly saw: (circumstance: string) => void
  /** Records that the law was decided for one case of a product; `tuple` has the name of a value for each dimension. */
  readonly tried: (tuple: { readonly [dimension: string]: string }) => void
  readonly tuples: ReadonlyArray<{ readonly [dimension: string]: string }>
  readonly steps: ReadonlyArray<Step>
  readonly seen: ReadonlySet<string>
}

/** Creates a trial without any records. */
export const make = (token: string): Trial => {
  const steps: Array<Step> = []
  const seen = new Set<string>()
  const tuples: Array<{ readonly [dimension: string]: string }> = []
  let names = 0
  return {
    mark: token.slice(0, MARK_LENGTH),
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
