/** Defines the report of a run. Its JSON form is complete; all other forms are rendered from it. */

import type { Level } from "../clauses/Clause.ts"
import type { Coverage } from "../dimensions/Coverage.ts"
import type { Profile } from "../evaluation/Profile.ts"

/** Version of the report's structure. */
export const schemaVersion = 1

/**
 * `fail`: there is a counterexample. `warn`: only a recommendation is violated. `inconclusive`: undecided, never a
 * pass. `not-applicable`: the law does not apply to this subject. `excluded`: the user excluded the check. `error`: the
 * suite itself failed.
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
  /** The violated clause, if the check does not list it: a step that the check depends on failed. */
  readonly clause: string | undefined
  /** The smallest failing case, as text that `replay` accepts. */
  readonly case: string
  readonly steps: ReadonlyArray<ReportedStep>
  /** How often the case failed again (`times`), and how often it was repeated (`of`). */
  readonly reproduced: { readonly times: number; readonly of: number }
  /** Number of random cases until the failure, and number of shrinking steps; both are 0 for a boundary example. */
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
  /** The reason for the status; absent if the check passed. */
  readonly reason: string | undefined
  /** Whether the check is not applicable only because of the subject's time or data, so that another run can decide it. */
  readonly isPostponed?: boolean | undefined
  /** Numbers of evaluations of the law. */
  readonly runs: { readonly planned: number; readonly executed: number; readonly decided: number }
  readonly requests: number
  readonly milliseconds: number
  readonly counterexample: Counterexample | undefined
  /** How much of its product of dimensions the check has tried; absent if it has no product. */
  readonly coverage?: Coverage | undefined
}

export interface ClauseResult {
  readonly slug: string
  readonly section: string
  readonly says: string
  readonly checks: ReadonlyArray<string>
  /** The worst status of its checks; `unchecked` if none was planned. */
  readonly status: Status | "unchecked"
}

export type Verdict = "conformant" | "not-conformant" | "inconclusive" | "selection-passed" | "error"

/** The tested implementation, as its authors declare it. */
export interface Implementation {
  readonly name: string
  readonly version?: string
  /** A URL that begins with `https://`, or an email address. */
  readonly contact?: string
}

/** The result of the checks of one profile. */
export interface ProfileResult {
  readonly profile: Profile
  readonly planned: number
  readonly passed: number
  /** The worst status of its checks. */
  readonly status: Status
}

/** The limits of the run; a check that exceeds one is inconclusive. */
export interface RunLimits {
  /** Maximum number of requests; absent for ports. */
  readonly requests?: number
  /** Maximum duration in milliseconds; absent for ports. */
  readonly milliseconds?: number
  /** Timeout of the random cases of one check, in milliseconds. */
  readonly checkMilliseconds: number
  /** Multiplier of the number of random cases. */
  readonly effort: number
  /** Patterns of the selected checks; empty if all were selected. */
  readonly only: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

export interface Report {
  readonly schemaVersion: typeof schemaVersion
  /** Name and version of the package; `laws` is the version of the checks and clauses, absent in old reports. */
  readonly suite: { readonly name: string; readonly version: string; readonly laws?: string }
  /** The contract and its version; absent in old reports. */
  readonly contract?: { readonly name: string; readonly version: string }
  /** Absent if not declared. */
  readonly implementation?: Implementation
  readonly subject: {
    readonly name: string
    readonly kind: "port" | "http"
    readonly capabilities: ReadonlyArray<string>
  }
  readonly level: Level
  readonly seed: number
  /** The start of the run as ISO 8601 in UTC, by the clock of the machine that ran the suite. */
  readonly startedAt: string
  readonly milliseconds: number
  /** The part of `milliseconds` that was spent waiting for the subject's limits. */
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
  /** The results of the profiles with a planned check; absent in old reports. */
  readonly profiles?: ReadonlyArray<ProfileResult>
  /** Absent in old reports. */
  readonly limits?: RunLimits
  /** The profiles that the subject may claim, by `Claims.of`; absent in old reports. */
  readonly claims?: ReadonlyArray<Profile>
  /**
   * 0: conformant; 1: not conformant; 2: the set-up or the suite failed; 3: inconclusive (0 if the run allows that).
   */
  readonly exitCode: 0 | 1 | 2 | 3
}
