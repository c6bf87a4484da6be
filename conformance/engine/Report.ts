/** The result of a run. Its JSON is the complete report; all other reports are renderings of it. */

import type { Level } from "../clauses/Clause.ts"
import type { Profile } from "../evaluation/Profile.ts"

/** Version of the shape of this value. */
export const schemaVersion = 1

/**
 * `fail`: a counterexample exists. `warn`: only a recommendation is violated. `inconclusive`: undecided, never a pass.
 * `not-applicable`: the subject declares that it does not have this. `excluded`: excluded by the user. `error`: the suite
 * itself failed.
 */
export type Status = "pass" | "fail" | "warn" | "inconclusive" | "not-applicable" | "excluded" | "error"

/** One call or request to the subject, and its result. */
export interface ReportedStep {
  readonly did: string
  readonly got: string
}

export interface Counterexample {
  readonly expected: string
  readonly actual: string
  /** The violated clause, if it is not one of the check's own: a step that the check depends on failed. */
  readonly clause: string | undefined
  /** The smallest failing case, as text that `replay` accepts. */
  readonly case: string
  readonly steps: ReadonlyArray<ReportedStep>
  /** How often the case failed again, and the number of further tries. */
  readonly reproduced: { readonly times: number; readonly of: number }
  /** Numbers of random cases before the failure, and of shrinking steps; 0 for a boundary example. */
  readonly found: { readonly runs: number; readonly shrinks: number }
  /** A shell script of `curl` calls; absent for ports. */
  readonly script: string | undefined
  /** The token for `replay`; absent if it would contain a key. */
  readonly token: string | undefined
}

export interface CheckResult {
  readonly id: string
  readonly law: string
  readonly clauses: ReadonlyArray<string>
  readonly level: Level
  readonly profile: Profile
  readonly status: Status
  /** The reason, unless it passed. */
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
  /** The part of it that was spent waiting for limits. */
  readonly waitedMs: number
  readonly requests: number
  readonly counts: {
    readonly planned: number
    readonly executed: number
  } & { readonly [S in Status]: number }
  /** Findings of the doctor, one line each. */
  readonly findings: ReadonlyArray<string>
  readonly checks: ReadonlyArray<CheckResult>
  readonly clauses: ReadonlyArray<ClauseResult>
  readonly verdict: Verdict
  /** 0 conformant, 1 not conformant, 2 the set-up or the suite failed, 3 inconclusive. */
  readonly exitCode: 0 | 1 | 2 | 3
}
