/** Defines the report of a run. Its JSON form is complete; all other forms are rendered from it. */
import * as Schema from "effect/Schema"
import { profiles } from "../clauses/Profile.ts"

/** Version of the report's structure. */
export const schemaVersion = 1

/**
 * All statuses, the worst first. `fail`: there is a counterexample. `inconclusive`: undecided, never a pass.
 * `not-applicable`: the clause does not apply to this subject. `excluded`: the user excluded the check. `error`: the
 * suite itself failed.
 */
export const statuses = ["error", "fail", "inconclusive", "excluded", "pass", "not-applicable"] as const

const Status = Schema.Literals(statuses)
export type Status = typeof Status.Type

const Level = Schema.Literals(["spec", "design"])
const Profile = Schema.Literals(profiles)
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Strings = Schema.Array(Schema.String)

const Counterexample = Schema.Struct({
  expected: Schema.String,
  actual: Schema.String,
  steps: Schema.Array(
    Schema.Struct({ did: Schema.String, got: Schema.String, curl: Schema.optional(Schema.String) })
  ),
  /** What the requests of a long history were, if their number matters. */
  tally: Schema.optional(Schema.String),
  /** How many violations of the clause the run saw. */
  times: Count,
  /** The token for `replay`; absent if it would contain a key. */
  token: Schema.optional(Schema.String)
})
/** The smallest known history that violates a clause. */
export type Counterexample = typeof Counterexample.Type

const CheckResult = Schema.Struct({
  /** The slug of the clause. */
  id: Schema.String,
  /** The sentence of the clause. */
  law: Schema.String,
  /** The section of the contract. */
  section: Schema.String,
  level: Level,
  profile: Profile,
  status: Status,
  /** The reason for the status; absent if the check passed. */
  reason: Schema.optional(Schema.String),
  /** How many exchanges or calls decided the clause. */
  decided: Count,
  counterexample: Schema.optional(Counterexample)
})
/** The result of the check of one clause. */
export type CheckResult = typeof CheckResult.Type

const Cause = Schema.Struct({
  /** The check that shows the cause. */
  check: Schema.String,
  /** Other failed checks that were violated only by responses of the same kind. */
  follows: Strings,
  /** The number of violations of these checks, without the one that is shown. */
  more: Count
})
/** Failed checks that probably have the same cause. */
export type Cause = typeof Cause.Type

const Verdict = Schema.Literals(["conformant", "not-conformant", "inconclusive", "selection-passed", "error"])
export type Verdict = typeof Verdict.Type

const Implementation = Schema.Struct({
  name: Schema.String,
  version: Schema.optional(Schema.String),
  /** A URL that begins with `https://`, or an email address. */
  contact: Schema.optional(Schema.String)
})
/** The tested implementation, as its authors declare it. */
export type Implementation = typeof Implementation.Type

const ProfileResult = Schema.Struct({
  profile: Profile,
  planned: Count,
  passed: Count,
  /** The worst status of its checks. */
  status: Status
})
/** The result of the checks of one profile. */
export type ProfileResult = typeof ProfileResult.Type

const RunLimits = Schema.Struct({
  /** Maximum number of requests; absent for ports. */
  requests: Schema.optionalKey(Count),
  /** Maximum duration in milliseconds; absent for ports. */
  milliseconds: Schema.optionalKey(Count),
  /** Multiplier of the number of random cases of ports. */
  effort: Schema.Finite,
  /** Patterns of the selected checks; empty if all were selected. */
  only: Strings,
  exclude: Strings
})
/** What limited the run. */
export type RunLimits = typeof RunLimits.Type

export const Report = Schema.Struct({
  schemaVersion: Schema.Literal(schemaVersion),
  /** Name and version of the package; `laws` is the version of the clauses. */
  suite: Schema.Struct({ name: Schema.String, version: Schema.String, laws: Schema.String }),
  contract: Schema.Struct({ name: Schema.String, version: Schema.String }),
  /** Absent if not declared. */
  implementation: Schema.optional(Implementation),
  subject: Schema.Struct({
    name: Schema.String,
    kind: Schema.Literals(["port", "http"]),
    capabilities: Strings
  }),
  level: Level,
  seed: Schema.Finite,
  /** The start of the run as ISO 8601 in UTC, by the clock of the machine that ran the suite. */
  startedAt: Schema.String,
  milliseconds: Schema.Finite,
  /** The part of `milliseconds` that was spent waiting for the subject's limits. */
  waitedMs: Schema.Finite,
  requests: Count,
  counts: Schema.Struct({
    planned: Count,
    decided: Count,
    ...(Object.fromEntries(statuses.map((status) => [status, Count])) as { [S in Status]: typeof Count }) // each status
  }),
  /** What the doctor found, one line each. */
  findings: Strings,
  /** The programs that did not send all their requests, each with the reason. */
  stopped: Strings,
  /** What the subject chose where the contract leaves a choice, and the cases that it left undecided. */
  choices: Strings,
  /** The failed checks by their probable causes, the most probable one first. */
  causes: Schema.Array(Cause),
  checks: Schema.Array(CheckResult),
  verdict: Verdict,
  /** The results of the profiles with a planned check. */
  profiles: Schema.Array(ProfileResult),
  limits: RunLimits,
  /** The profiles that the subject may claim. */
  claims: Schema.Array(Profile),
  /** 0: conformant; 1: not conformant; 2: the set-up or the suite failed; 3: inconclusive (0 if the run allows that). */
  exitCode: Schema.Literals([0, 1, 2, 3])
})
export type Report = typeof Report.Type
