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
import * as Decoys from "./Decoys.ts"
import type { Fault } from "./Fault.ts"
import * as Subjects from "./Subjects.ts"

/** The result for a fault over a number of seeds. */
export interface Hunt {
  readonly fault: Fault
  readonly seeds: number
  /** The number of seeds with which the check named by the fault failed and reported the expected words. */
  readonly kills: number
  /** The result of that check with the first seed with which it missed the fault. */
  readonly missed: string | undefined
}

/** Profiles with enough requests for the checks that look at every exchange or at the end of a run. */
const TRAFFIC = ["core", "auth", "limits"] as const

const levelOf = (id: string): Level | undefined =>
  [...checks, ...ambientChecks].find((check) => check.id === id)?.level

const describe = ({ counterexample, reason = "" }: CheckResult): string =>
  counterexample === undefined ? reason : `${counterexample.expected} ${counterexample.actual} ${reason}`

/** Opens the subject, runs the suite on it, and closes it. */
export const examine = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: Run.RunOptions
): Effect.Effect<Report, unknown> =>
  Effect.scoped(Effect.flatMap(subject, (opened) => Run.run(opened, options))).pipe(
    // The same seed must give the same run, including the random names of animals.
    Random.withSeed(options.seed ?? 0),
    // Logs of a backend about its deliberate fault are of no use.
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const isKill = ({ words }: Fault, result: CheckResult | undefined): boolean =>
  result?.status === "fail" && describe(result).includes(words)

/** Runs the check that a fault names with each seed; for a check over whole runs, other checks also send requests. */
export const hunt = Effect.fnUntraced(function* (fault: Fault, seeds: ReadonlyArray<number>) {
  const level = levelOf(fault.killedBy) ?? "design"
  const coversWholeRun =
    ambientChecks.some(({ id }) => id === fault.killedBy) ||
    checks.some(({ id, isClosing }) => id === fault.killedBy && isClosing === true)
  const only = coversWholeRun ? [fault.killedBy, ...TRAFFIC] : [fault.killedBy]
  let kills = 0
  let missed: string | undefined
  for (const seed of seeds) {
    const report = yield* examine(Subjects.ofFault(fault), { level, seed, only })
    const result = report.checks.find(({ id }) => id === fault.killedBy)
    if (isKill(fault, result)) kills++
    else missed ??= result === undefined ? "it does not apply" : `${result.status}: ${describe(result)}`
  }
  const hunted: Hunt = { fault, seeds: seeds.length, kills, missed }
  return hunted
})

/** Runs all checks of level `design` on a fault with one seed, and returns the ids of the checks that fail. */
export const killersOf = (fault: Fault, seed: number): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(examine(Subjects.ofFault(fault), { level: "design", seed }), (report) =>
    report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)
  )

/** Runs the suite on a decoy at its level, and returns the complaints; empty if the decoy passes. */
export const complaints = (
  decoy: Decoys.Decoy,
  seed: number
): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(examine(Subjects.ofDecoy(decoy), { level: Decoys.levelOf(decoy), seed }), objections)

/** Describes each result of a report that failed, ended with an error, or is inconclusive. */
export const objections = ({ checks: results }: Report): ReadonlyArray<string> =>
  results
    .filter(({ status }) => status === "fail" || status === "error" || status === "inconclusive")
    .map((result) => `${result.id} ${result.status}: ${describe(result)}`)
