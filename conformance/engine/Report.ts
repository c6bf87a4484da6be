/** The result of a run. The JSON of this value is the truth; all other reports are renderings of it. */

import type { Level } from "../clauses/Clause.ts"
import type { Profile } from "../evaluation/Profile.ts"

/** Version of the shape of this value. */
export const schemaVersion = 1

/**
 * `fail`: a counterexample exists. `warn`: breaks a recommendation only. `inconclusive`: it could not be decided, never a
 * pass. `not-applicable`: the subject declares not to have it. `excluded`: left out by whoever ran it. `error`: the suite
 * itself failed.
 */
export type Status = "pass" | "fail" | "warn" | "inconclusive" | "not-applicable" | "excluded" | "error"

/** One thing that was done to the subject, and what came of it. */
export interface ReportedStep {
  readonly did: string
  readonly got: string
}

export interface Counterexample {
  readonly expected: string
  readonly actual: string
  /** The clause that is broken, where it is none of the check's own: what it needs first did not work. */
  readonly clause: string | undefined
  /** The smallest failing case, as text that `replay` takes in. */
  readonly case: string
  readonly steps: ReadonlyArray<ReportedStep>
  /** How often the case failed again, of how many further tries. */
  readonly reproduced: { readonly times: number; readonly of: number }
  /** Tries that the random phase needed, and steps by which the case was made smaller; 0 for a boundary example. */
  readonly found: { readonly runs: number; readonly shrinks: number }
  /** A shell script of `curl` calls; absent for ports. */
  readonly script: string | undefined
  /** For `replay`; absent where a key would have to be told. */
  readonly token: string | undefined
}

export interface CheckResult {
  readonly id: string
  readonly law: string
  readonly clauses: ReadonlyArray<string>
  readonly level: Level
  readonly profile: Profile
  readonly status: Status
  /** Why, unless it passed. */
  readonly reason: string | undefined
  /** Evaluations of the law. */
  readonly runs: { readonly planned: number; readonly executed: number; readonly decided: number }
  readonly requests: number
  readonly milliseconds: number
  readonly counterexample: Counterexample | undefined
}

export interface ClauseResult {
  readonly slug: string
  readonly section: string
  readonly says: string
  readonly checks: ReadonlyArray<string>
  /** The worst of its checks; `unchecked` when none was planned. */
  readonly status: Status | "unchecked"
}

export type Verdict = "conformant" | "not-conformant" | "inconclusive" | "selection-passed" | "error"

export interface Report {
  readonly schemaVersion: typeof schemaVersion
  readonly suite: { readonly name: string; readonly version: string }
  readonly subject: {
    readonly name: string
    readonly kind: "port" | "http"
    readonly capabilities: ReadonlyArray<string>
  }
  readonly level: Level
  readonly seed: number
  /** ISO 8601, UTC, by the machine that ran the suite. */
  readonly startedAt: string
  readonly milliseconds: number
  /** Of those, spent waiting for limits. */
  readonly waitedMs: number
  readonly requests: number
  readonly counts: {
    readonly planned: number
    readonly executed: number
  } & { readonly [S in Status]: number }
  /** What the doctor found, a line each. */
  readonly findings: ReadonlyArray<string>
  readonly checks: ReadonlyArray<CheckResult>
  readonly clauses: ReadonlyArray<ClauseResult>
  readonly verdict: Verdict
  /** 0 conformant, 1 not, 2 configuration, unreachable or the suite's own failure, 3 inconclusive. */
  readonly exitCode: 0 | 1 | 2 | 3
}
