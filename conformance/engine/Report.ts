/** The result of a run. Its JSON is the complete report; all other reports are renderings of it. */

import type { Level } from "../clauses/Clause.ts"
import type { Coverage } from "../dimensions/Coverage.ts"
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
  /** What was tried of the product of dimensions from which the check draws its cases, if it has one. */
  readonly coverage?: Coverage | undefined
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

/** Who and what was tested, as its authors declare. */
export interface Implementation {
  readonly name: string
  readonly version?: string
  /** A URL that begins with `https://`, or a mail address. */
  readonly contact?: string
}

/** The checks of one profile. */
export interface ProfileResult {
  readonly profile: Profile
  readonly planned: number
  readonly passed: number
  /** The worst status of its checks. */
  readonly status: Status
}

/** What bounded the run: a check that exceeds a limit is inconclusive. */
export interface RunLimits {
  /** Maximum number of requests; absent for ports. */
  readonly requests?: number
  /** Maximum duration in ms; absent for ports. */
  readonly milliseconds?: number
  /** Timeout of the random cases of one check, in ms. */
  readonly checkMilliseconds: number
  /** Multiplier of the number of random cases. */
  readonly effort: number
  /** Patterns of the checks that were selected; none for all. */
  readonly only: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

export interface Report {
  readonly schemaVersion: typeof schemaVersion
  /** Name and version of the package; `laws` is the version of the checks and clauses, absent in old reports. */
  readonly suite: { readonly name: string; readonly version: string; readonly laws?: string }
  /** The contract and its version; absent in old reports. */
  readonly contract?: { readonly name: string; readonly version: string }
  /** Absent if it was not declared. */
  readonly implementation?: Implementation
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
  /** The profiles with a planned check; absent in old reports. */
  readonly profiles?: ReadonlyArray<ProfileResult>
  /** Absent in old reports. */
  readonly limits?: RunLimits
  /** The profiles that the subject may claim: every one of their checks was decided, and none failed. */
  readonly claims?: ReadonlyArray<Profile>
  /** 0 conformant, 1 not conformant, 2 the set-up or the suite failed, 3 inconclusive; 0 if the run allows that. */
  readonly exitCode: 0 | 1 | 2 | 3
}
