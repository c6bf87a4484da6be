/** Defines the report of a run. Its JSON form is complete; all other forms are rendered from it. */
import type { Level } from "../clauses/Clause.ts"
import type { Profile } from "../clauses/Profile.ts"
import type { Finding } from "../evaluation/Finding.ts"

/** Version of the report's structure. */
export const schemaVersion = 1

/**
 * `fail`: there is a counterexample. `warn`: only a recommendation of a standard is violated. `inconclusive`: undecided,
 * never a pass. `not-applicable`: the clause does not apply to this subject. `excluded`: the user excluded the check.
 * `error`: the suite itself failed.
 */
export type Status = "pass" | "fail" | "warn" | "inconclusive" | "not-applicable" | "excluded" | "error"

/** The smallest known history that violates a clause. */
export interface Counterexample extends Pick<Finding, "expected" | "actual" | "steps"> {
  /** How many violations of the clause the run saw. */
  readonly times: number
  /** The token for `replay`; absent if it would contain a key. */
  readonly token: string | undefined
}

/** The result of the check of one clause. */
export interface CheckResult {
  /** The slug of the clause. */
  readonly id: string
  /** The sentence of the clause. */
  readonly law: string
  /** The section of the contract. */
  readonly section: string
  readonly level: Level
  readonly profile: Profile
  readonly status: Status
  /** The reason for the status; absent if the check passed. */
  readonly reason: string | undefined
  /** How many exchanges or calls decided the clause. */
  readonly decided: number
  readonly counterexample: Counterexample | undefined
}

/** Failed checks that probably have the same cause. */
export interface Cause {
  /** The check with the smallest history. */
  readonly check: string
  /** Other failed checks that were violated only by responses of the same kind. */
  readonly follows: ReadonlyArray<string>
  /** The number of violations of these checks, without the one that is shown. */
  readonly more: number
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

/** What limited the run. */
export interface RunLimits {
  /** Maximum number of requests; absent for ports. */
  readonly requests?: number
  /** Maximum duration in milliseconds; absent for ports. */
  readonly milliseconds?: number
  /** Multiplier of the number of random cases of ports. */
  readonly effort: number
  /** Patterns of the selected checks; empty if all were selected. */
  readonly only: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

export interface Report {
  readonly schemaVersion: typeof schemaVersion
  /** Name and version of the package; `laws` is the version of the clauses. */
  readonly suite: { readonly name: string; readonly version: string; readonly laws: string }
  readonly contract: { readonly name: string; readonly version: string }
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
  readonly counts: { readonly planned: number; readonly decided: number } & { readonly [S in Status]: number }
  /** What the doctor found, one line each. */
  readonly findings: ReadonlyArray<string>
  /** The programs that did not send all their requests, each with the reason. */
  readonly stopped: ReadonlyArray<string>
  /** What the subject chose where the contract leaves a choice, and the cases that it left undecided. */
  readonly choices: ReadonlyArray<string>
  /** The failed checks by their probable causes, the smallest history first. */
  readonly causes: ReadonlyArray<Cause>
  readonly checks: ReadonlyArray<CheckResult>
  readonly verdict: Verdict
  /** The results of the profiles with a planned check. */
  readonly profiles: ReadonlyArray<ProfileResult>
  readonly limits: RunLimits
  /** The profiles that the subject may claim. */
  readonly claims: ReadonlyArray<Profile>
  /**
   * 0: conformant; 1: not conformant; 2: the set-up or the suite failed; 3: inconclusive (0 if the run allows that).
   */
  readonly exitCode: 0 | 1 | 2 | 3
}
