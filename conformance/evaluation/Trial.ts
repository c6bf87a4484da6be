/** One evaluation of a law on one case: what it did, what it came across, and names that nobody else uses. */
import type { Exchange } from "../http/Exchange.ts"
import * as Letters from "./Letters.ts"

/** One thing done to the subject, in words of the domain; over HTTP with what went over the wire. */
export interface Step {
  readonly did: string
  readonly got: string
  readonly exchange?: Exchange
  /** Ms of the subject's time that were let pass. */
  readonly passedMs?: number
}

export interface Trial {
  /** Marks everything made by this evaluation: no other evaluation of any run has it. */
  readonly token: string
  /** A new name for an animal, marked with the token; without a tail it is a few letters, which hardly a server refuses. */
  readonly name: (tail?: string) => string
  readonly record: (step: Step) => void
  /** Notes that a circumstance came about that the check wants to have met. */
  readonly saw: (circumstance: string) => void
  readonly steps: ReadonlyArray<Step>
  readonly seen: ReadonlySet<string>
}

/** A trial that has not begun. */
export const make = (token: string): Trial => {
  const steps: Array<Step> = []
  const seen = new Set<string>()
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
    steps,
    seen
  }
}
