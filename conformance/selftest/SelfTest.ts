/** Tests the suite itself: it must reject every faulty backend and accept every correct one. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import { ambientChecks, checks } from "../checks/Checks.ts"
import type { Level } from "../clauses/Clause.ts"
import type { CheckResult, Report } from "../engine/Report.ts"
import * as Run from "../engine/Run.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as BriefRun from "./BriefRun.ts"
import * as ConformingVariants from "./ConformingVariants.ts"
import type { Fault } from "./Fault.ts"
import * as Subjects from "./Subjects.ts"

/** Profiles with enough requests for the checks that look at every exchange or at the end of a run. */
const TRAFFIC = ["core", "auth", "limits"] as const

/** Whether the check that a fault names looks at requests that other checks send. */
export const coversWholeRun = ({ killedBy }: Fault): boolean =>
  ambientChecks.some(({ id }) => id === killedBy) ||
  checks.some(({ id, isClosing }) => id === killedBy && isClosing === true)

const describe = ({ counterexample, reason = "" }: CheckResult): string =>
  counterexample === undefined ? reason : `${counterexample.expected} ${counterexample.actual} ${reason}`

/** Opens a subject, passes it to `use`, and closes it; with the same seed, the run is the same. */
export const withSubject = <A>(
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  seed: number,
  use: (opened: Subject) => Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  Effect.scoped(Effect.flatMap(subject, use)).pipe(
    // The names of animals are random.
    Random.withSeed(seed),
    // Logs of a backend about its deliberate fault are of no use.
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Opens the subject, runs the suite on it, and closes it. */
export const examine = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: Run.RunOptions
): Effect.Effect<Report, unknown> =>
  withSubject(subject, options.seed ?? 0, (opened) => Run.run(opened, options))

/** Like `examine`, but only until a result ends the run, and without shrinking. */
export const examineBriefly = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: BriefRun.Options
): Effect.Effect<ReadonlyArray<CheckResult>, unknown> =>
  withSubject(subject, options.seed, (opened) => BriefRun.run(opened, options))

/** Runs the check that a fault names; for a check over whole runs, other checks send requests before. */
const resultFor = (fault: Fault, seed: number): Effect.Effect<CheckResult | undefined, unknown> => {
  const { killedBy } = fault
  const level: Level = [...checks, ...ambientChecks].find(({ id }) => id === killedBy)?.level ?? "design"
  const isNamed = ({ id }: { readonly id: string }): boolean => id === killedBy
  const subject = Subjects.ofFault(fault)
  if (!coversWholeRun(fault)) {
    const report = examine(subject, { level, seed, only: [killedBy] })
    return Effect.map(report, (report) => report.checks.find(isNamed))
  }
  const results = examineBriefly(subject, {
    level,
    seed,
    only: [killedBy, ...TRAFFIC],
    isAmbientWanted: (id) => id === killedBy,
    endsAt: (result) => isNamed(result) && result.status === "fail"
  })
  return Effect.map(results, (all) => all.find(isNamed))
}

/**
 * Returns why the check that a fault names missed the fault; `undefined` if the check failed and reported the expected
 * words.
 */
export const missOf = (fault: Fault, seed: number): Effect.Effect<string | undefined, unknown> =>
  Effect.map(resultFor(fault, seed), (result) => {
    if (result === undefined) return "it does not apply"
    const isCaught = result.status === "fail" && describe(result).includes(fault.words)
    return isCaught ? undefined : `${result.status}: ${describe(result)}`
  })

/** Runs all checks of level `design` on a fault, and returns the ids of the checks that fail. */
export const killersOf = (fault: Fault, seed: number): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(examineBriefly(Subjects.ofFault(fault), { level: "design", seed }), (results) =>
    results.filter(({ status }) => status === "fail").map(({ id }) => id)
  )

/** Runs the suite on a conforming variant at its level, and returns the complaints; empty if the variant passes. */
export const complaints = (
  variant: ConformingVariants.ConformingVariant,
  seed: number
): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(
    examine(Subjects.ofVariant(variant), { level: ConformingVariants.levelOf(variant), seed }),
    objections
  )

/** Describes each result of a report that failed, ended with an error, or is inconclusive. */
export const objections = ({ checks: results }: Report): ReadonlyArray<string> =>
  results
    .filter(({ status }) => status === "fail" || status === "error" || status === "inconclusive")
    .map((result) => `${result.id} ${result.status}: ${describe(result)}`)
