/** Defines what a run found out about clauses: how often each was decided, and which are violated. */
import type { ClauseSlug } from "./Clauses.ts"

/** One request or call to the subject, and its result. */
export interface Step {
  readonly did: string
  readonly got: string
  /** The request as a shell command; absent for ports, and for steps that only let time pass. */
  readonly curl?: string | undefined
}

/** A violation of a clause, with the smallest known history that shows it. */
export interface Finding {
  readonly clause: ClauseSlug
  readonly expected: string
  readonly actual: string
  readonly steps: ReadonlyArray<Step>
  /** How many of the first steps only help to understand the others; 0 if absent. */
  readonly hints?: number | undefined
  /** What the requests of a long history were, if their number matters. */
  readonly tally?: string | undefined
  /** The token that replays the history; absent for ports, and if it would contain a key. */
  readonly token?: string | undefined
  /** How many violations of the clause the run saw; 1 if absent. */
  readonly times?: number | undefined
  /** What the violating responses have in common, such as operation and status; for the search of causes. */
  readonly shapes?: ReadonlyArray<string> | undefined
  /** The same of the responses in the history before the last one, if it does not matter how many they are. */
  readonly earlier?: ReadonlyArray<string> | undefined
}

/** What a run found out, over HTTP or at storage ports. */
export interface Findings {
  /** How many exchanges or calls decided each clause. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  readonly findings: ReadonlyArray<Finding>
}
