/** Tests the suite itself: it must catch every faulty backend and accept every correct one. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
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
  /** The number of seeds with which the named check failed and reported the named words. */
  readonly kills: number
  /** The report of the named check with the first seed that missed. */
  readonly missed: string | undefined
}

/** Profiles that send enough requests for the checks of every exchange and of the end of a run. */
const TRAFFIC = ["core", "auth", "limits"] as const

const levelOf = (id: string): Level | undefined =>
  [...checks, ...ambientChecks].find((check) => check.id === id)?.level

const said = ({ counterexample, reason = "" }: CheckResult): string =>
  counterexample === undefined ? reason : `${counterexample.expected} ${counterexample.actual} ${reason}`

/** Runs the checks against a new subject. */
export const examine = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  options: Run.RunOptions
): Effect.Effect<Report, unknown> =>
  Effect.scoped(Effect.flatMap(subject, (opened) => Run.run(opened, options))).pipe(
    // The same seed gives the same run: names of animals are random too.
    Random.withSeed(options.seed ?? 0)
  )

const isKill = ({ words }: Fault, result: CheckResult | undefined): boolean =>
  result?.status === "fail" && said(result).includes(words)

/** Runs only the named check of a fault, once for each seed. */
export const hunt = Effect.fnUntraced(function* (fault: Fault, seeds: ReadonlyArray<number>) {
  const level = levelOf(fault.killedBy) ?? "design"
  const isAboutAll =
    ambientChecks.some(({ id }) => id === fault.killedBy) ||
    checks.some(({ id, isClosing }) => id === fault.killedBy && isClosing === true)
  const only = isAboutAll ? [fault.killedBy, ...TRAFFIC] : [fault.killedBy]
  let kills = 0
  let missed: string | undefined
  for (const seed of seeds) {
    const report = yield* examine(Subjects.ofFault(fault), { level, seed, only })
    const result = report.checks.find(({ id }) => id === fault.killedBy)
    if (isKill(fault, result)) kills++
    else missed ??= result === undefined ? "it does not apply" : `${result.status}: ${said(result)}`
  }
  const hunted: Hunt = { fault, seeds: seeds.length, kills, missed }
  return hunted
})

/** The ids of all checks that fail on a fault, with one seed. */
export const killersOf = (fault: Fault, seed: number): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(examine(Subjects.ofFault(fault), { level: "design", seed }), (report) =>
    report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)
  )

/** The complaints about a decoy at its level; empty if it passes. */
export const complaints = (
  decoy: Decoys.Decoy,
  seed: number
): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(examine(Subjects.ofDecoy(decoy), { level: Decoys.levelOf(decoy), seed }), objections)

/** The results in a report that a conforming subject would not have. */
export const objections = ({ checks: results }: Report): ReadonlyArray<string> =>
  results
    .filter(({ status }) => status === "fail" || status === "error" || status === "inconclusive")
    .map((result) => `${result.id} ${result.status}: ${said(result)}`)
