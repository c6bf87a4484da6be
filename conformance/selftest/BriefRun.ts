/** Runs the suite on a subject without shrinking or repeating failing cases, and ends early if a result decides. */
import * as Effect from "effect/Effect"
import type { Level } from "../clauses/Clause.ts"
import { examineExchanges } from "../engine/Ambient.ts"
import { investigate } from "../engine/Investigate.ts"
import type { CheckResult } from "../engine/Report.ts"
import * as Run from "../engine/Run.ts"
import * as Selection from "../engine/Selection.ts"
import type { Subject } from "../subjects/Subject.ts"

export interface Options {
  readonly level: Level
  readonly seed: number
  /** Ids, profiles or patterns of the checks to run; all if absent. */
  readonly only?: ReadonlyArray<string>
  /** Whether to run a check of every exchange; all if absent. */
  readonly isAmbientWanted?: (id: string) => boolean
  /** Whether a result ends the run; if absent, all checks run. */
  readonly endsAt?: (result: CheckResult) => boolean
}

/** Whether the checks of every exchange run after the check with this index: after the 1st, 2nd, 4th, 8th, … check. */
const isMilestone = (index: number): boolean => (index & (index + 1)) === 0

/** Runs the checks in the order of the suite; a result that ends the run is the last one. */
export const run = Effect.fnUntraced(function* (
  subject: Subject,
  { endsAt, isAmbientWanted = () => true, level, only = [], seed }: Options
): Effect.fn.Return<ReadonlyArray<CheckResult>> {
  const nextToken = yield* Run.tokens
  const selection: Selection.Selection = { level, only, exclude: [] }
  const ambient = Run.ambientFor(subject, level).filter(({ id }) => isAmbientWanted(id))
  const examineAmbient = () => ambient.map((check) => Run.atLevel(examineExchanges(check, subject), level))
  const results: Array<CheckResult> = []
  const planned = Run.checksFor(subject, level).filter(
    (check) => Selection.planOf(check, subject, selection).run
  )
  for (const [index, check] of planned.entries()) {
    const investigated = yield* investigate(check, subject, {
      seed,
      effort: undefined,
      timeLimitMs: Run.defaultTimeLimitMs,
      nextToken,
      isBrief: true
    })
    const result = Run.atLevel(investigated, level)
    results.push(result)
    if (endsAt?.(result)) return results
    const end = endsAt && isMilestone(index) ? examineAmbient().find(endsAt) : undefined
    if (end !== undefined) return [...results, end]
  }
  for (const result of examineAmbient()) {
    results.push(result)
    if (endsAt?.(result)) break
  }
  return results
})
