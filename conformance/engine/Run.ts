/** Runs every check that applies, in sequence, and creates the report. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Result from "effect/Result"
import packageJson from "../../package.json" with { type: "json" }
import type { AmbientCheck } from "../checks/AmbientCheck.ts"
import type { Check } from "../checks/Check.ts"
import { checks as allChecks, ambientChecks } from "../checks/Checks.ts"
import type { Level } from "../clauses/Clause.ts"
import { clauses as allClauses, bySlug } from "../clauses/Clauses.ts"
import * as Versions from "../clauses/Versions.ts"
import * as Letters from "../evaluation/Letters.ts"
import * as Trial from "../evaluation/Trial.ts"
import type { Subject } from "../subjects/Subject.ts"
import { examineExchanges } from "./Ambient.ts"
import { resultOf } from "./CheckResults.ts"
import * as Claims from "./Claims.ts"
import * as Counts from "./Counts.ts"
import { investigate } from "./Investigate.ts"
import * as ProfileResults from "./ProfileResults.ts"
import type { CheckResult, ClauseResult, Implementation, Report, Status, Verdict } from "./Report.ts"
import { schemaVersion } from "./Report.ts"
import * as ReportRedaction from "./ReportRedaction.ts"
import * as Selection from "./Selection.ts"
import * as WorstStatus from "./WorstStatus.ts"

export interface RunOptions {
  readonly level: Level
  /** The seed of the random cases; a random one if absent. The report contains the seed. */
  readonly seed?: number | undefined
  readonly only?: ReadonlyArray<string> | undefined
  readonly exclude?: ReadonlyArray<string> | undefined
  /** Multiplier of the number of random cases; 1 by default. */
  readonly effort?: number | undefined
  /** Timeout of the random cases of one check in milliseconds; 20,000 by default. */
  readonly timeLimitMs?: number | undefined
  /** Whether the exit code of an inconclusive run is 0 if the subject may claim at least one profile. */
  readonly allowInconclusive?: boolean | undefined
  /** The tested implementation, for the report. */
  readonly implementation?: Implementation | undefined
  readonly findings?: ReadonlyArray<string> | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Default timeout of the random cases of one check, in milliseconds. */
export const defaultTimeLimitMs = 20_000

/** Returns the default level of a subject: `design` for ports, because their laws are promises of this project. */
export const defaultLevel = ({ kind }: Subject): Level => (kind === "port" ? "design" : "spec")

export interface Progress {
  readonly index: number
  readonly total: number
  readonly id: string
  readonly requests: number
}

/** Returns the checks for this kind of subject at a level, in run order. */
export const checksFor = (subject: Subject, level: Level): ReadonlyArray<Check> =>
  Selection.ordered(
    allChecks.filter((check) => check.on in subject.interfaces && Selection.isOfLevel(check, level))
  )

/** Adds the default profile `core` to a check of every exchange, so that it can be selected. */
export const selectable = (check: AmbientCheck) => ({
  ...check,
  profile: check.profile ?? ("core" as const)
})

/** Fails with the first pattern of a selection that matches no check, clause or profile. */
export const validate = (selection: Selection.Selection): Result.Result<void, Selection.UnknownSelection> =>
  Selection.validate(selection, [...allChecks, ...ambientChecks.map(selectable)])

/** Returns the checks of every exchange at a level; none for ports. */
export const ambientFor = (subject: Subject, level: Level): ReadonlyArray<AmbientCheck> =>
  subject.kind === "http" ? ambientChecks.filter((check) => Selection.isOfLevel(check, level)) : []

/**
 * Creates a function that returns a new token for each evaluation. A random prefix distinguishes the tokens of several
 * runs on the same store.
 */
export const tokens = Effect.map(Random.nextIntBetween(0, 26 ** Trial.MARK_LENGTH - 1), (mark) => {
  const [first = "", ...rest] = Letters.of(mark + 26 ** Trial.MARK_LENGTH).slice(-Trial.MARK_LENGTH)
  let evaluations = 0
  return () => `${first.toUpperCase()}${rest.join("")}${Letters.of(evaluations++)}`
})

/** Runs the checks on a subject. Fails only for a pattern that matches nothing. */
export const run = Effect.fnUntraced(function* (
  subject: Subject,
  options: RunOptions
): Effect.fn.Return<Report, Selection.UnknownSelection> {
  const startedAt = yield* Clock.currentTimeMillis
  const seed = options.seed ?? (yield* Random.nextIntBetween(0, 2 ** 31 - 1))
  const { exclude = [], level, only = [], timeLimitMs = defaultTimeLimitMs } = options
  const selection: Selection.Selection = { level, only, exclude }
  yield* Effect.fromResult(validate(selection))

  const nextToken = yield* tokens
  const planned = checksFor(subject, level)
  const results: Array<CheckResult> = []
  for (const [index, check] of planned.entries()) {
    options.onProgress?.({ index, total: planned.length, id: check.id, requests: subject.exchanges.length })
    const plan = Selection.planOf(check, subject, selection)
    const result = plan.run
      ? yield* investigate(check, subject, { seed, effort: options.effort, timeLimitMs, nextToken })
      : resultOf(check, plan)
    results.push(atLevel(result, level))
  }
  for (const check of ambientFor(subject, level)) {
    results.push(
      Selection.isSelected(selectable(check), selection)
        ? atLevel(examineExchanges(check, subject), level)
        : resultOf(selectable(check), Selection.unselected)
    )
  }
  const report = summarize(subject, options, results, {
    seed,
    startedAt,
    milliseconds: (yield* Clock.currentTimeMillis) - startedAt
  })
  return subject.redact === undefined ? report : ReportRedaction.ofReport(report, subject.redact)
})

/** Adapts a result to a level: at level `spec`, the violation of a recommendation is only a warning. */
export const atLevel = (result: CheckResult, level: Level): CheckResult => {
  const { clause } = result.counterexample ?? {}
  const isDesignLevel =
    clause === undefined ? result.level === "design" : bySlug.get(clause)?.level === "design"
  return level === "spec" && isDesignLevel && result.status === "fail"
    ? { ...result, status: "warn" }
    : result
}

const exitCodes = {
  conformant: 0,
  "selection-passed": 0,
  "not-conformant": 1,
  error: 2,
  inconclusive: 3
} as const satisfies { readonly [verdict in Verdict]: number }

/** Returns the status of a check for its own clauses: inconclusive if the check failed because of another clause. */
const statusFor = ({ counterexample, status }: CheckResult): Status =>
  status === "fail" && counterexample?.clause !== undefined ? "inconclusive" : status

const summarize = (
  subject: Subject,
  {
    allowInconclusive = false,
    effort = 1,
    exclude = [],
    findings = [],
    implementation,
    level,
    only = [],
    timeLimitMs = defaultTimeLimitMs
  }: RunOptions,
  results: ReadonlyArray<CheckResult>,
  time: { readonly seed: number; readonly startedAt: number; readonly milliseconds: number }
): Report => {
  const counts = Counts.of(results)
  const verdict = Counts.verdictOf(counts)
  const claims = Claims.of(results)
  const isAllowed = allowInconclusive && verdict === "inconclusive" && claims.length > 0
  const violatedClauses = new Set(
    results.filter(({ status }) => status === "fail").map(({ counterexample }) => counterexample?.clause)
  )
  const clauses = allClauses
    .filter((clause) => level === "design" || clause.level === "spec")
    .map(({ says, section, slug }): ClauseResult => {
      const coveringChecks = results.filter((result) => result.clauses.includes(slug))
      return {
        slug,
        section,
        says,
        checks: coveringChecks.map(({ id }) => id),
        status:
          WorstStatus.of([
            ...coveringChecks.map((result) => statusFor(result)),
            ...(violatedClauses.has(slug) ? ["fail" as const] : [])
          ]) ?? "unchecked"
      }
    })
  return {
    schemaVersion,
    suite: { name: packageJson.name, version: packageJson.version, laws: Versions.suite },
    contract: Versions.contract,
    ...(implementation === undefined ? {} : { implementation }),
    subject: { name: subject.name, kind: subject.kind, capabilities: [...subject.capabilities] },
    level,
    seed: time.seed,
    startedAt: new Date(time.startedAt).toISOString(),
    milliseconds: time.milliseconds,
    waitedMs: subject.waitedMs?.() ?? 0,
    requests: subject.exchanges.length,
    counts,
    findings,
    checks: results,
    clauses,
    verdict,
    profiles: ProfileResults.of(results),
    limits: { ...subject.budget, checkMilliseconds: timeLimitMs, effort, only, exclude },
    claims,
    exitCode: isAllowed ? 0 : exitCodes[verdict]
  }
}
