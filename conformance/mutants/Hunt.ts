/** Runs the suite against a mutant until the first check fails. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as References from "effect/References"
import type { Level } from "../clauses/Clause.ts"
import { examineExchanges } from "../engine/Ambient.ts"
import { investigate } from "../engine/Investigate.ts"
import * as Run from "../engine/Run.ts"
import * as Selection from "../engine/Selection.ts"
import * as Subjects from "../gallery/Subjects.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Draws from "./Draws.ts"
import * as Mutant from "./Mutant.ts"
import * as RandomConversation from "./RandomConversation.ts"

/**
 * The result of the runs against one mutant:
 * - `spec`: a check failed at level spec.
 * - `design`: a check failed, but only at level design.
 * - `undecided`: no check failed, but at level spec a check could not be decided, or the run did not end.
 * - `equal`: no check failed, and the mutant changed no value, not even in a long random conversation.
 * - `survived`: no check failed, and the run at level spec is conformant, although the mutant changes values.
 */
export type Outcome = "spec" | "design" | "undecided" | "equal" | "survived"

export interface MutantResult {
  readonly id: string
  readonly outcome: Outcome
  /**
   * The check that failed, the first undecided check, or why the run did not end; `not reached` if the mutant survived
   * and no request at level spec met its condition.
   */
  readonly by?: string | undefined
  /** Number of values that the mutant changed while the suite ran. */
  readonly changed: number
  readonly milliseconds: number
}

/** Indices of the checks after which the ambient checks run. They also run after the last check. */
const AMBIENT_AFTER = [2, 6, 15, 30]

/** Number of requests in the random conversation. */
const CONVERSATION_REQUESTS = 1_500

/** Timeout of one run, in milliseconds. */
const TIMEOUT_MS = 60_000

interface Judgment {
  readonly killer?: string
  readonly undecided?: string
}

/** Returns the first check that fails, otherwise the first undecided check, if any. */
const judge = Effect.fnUntraced(function* (subject: Subject, level: Level, seed: number) {
  let undecided: string | undefined
  const nextToken = yield* Run.tokens
  const selection: Selection.Selection = { level, only: [], exclude: [] }
  const ambient = Run.ambientFor(subject, level)
  const judgmentOf = (status: string, id: string): Judgment | undefined => {
    if (status === "fail") return { killer: id }
    if (status === "error" || status === "inconclusive") undecided ??= id
    return undefined
  }
  const failedAmbient = (): Judgment | undefined =>
    ambient
      .map((check) => Run.atLevel(examineExchanges(check, subject), level))
      .filter(({ status }) => status === "fail")
      .map(({ id }): Judgment => ({ killer: id }))[0]

  for (const [index, check] of Run.checksFor(subject, level).entries()) {
    if (!Selection.planOf(check, subject, selection).run) continue
    const result = yield* investigate(check, subject, {
      seed,
      effort: undefined,
      timeLimitMs: Run.defaultTimeLimitMs,
      nextToken,
      isBrief: true
    })
    const { status } = Run.atLevel(result, level)
    const judgment =
      judgmentOf(status, check.id) ?? (AMBIENT_AFTER.includes(index) ? failedAmbient() : undefined)
    if (judgment !== undefined) return judgment
  }
  for (const check of ambient) {
    const judgment = judgmentOf(Run.atLevel(examineExchanges(check, subject), level).status, check.id)
    if (judgment !== undefined) return judgment
  }
  return undecided === undefined ? {} : { undecided }
})

const subjectOf = (mutant: Mutant.Mutant, tally: Mutant.Tally) =>
  Effect.suspend(() => Subjects.ofFault({ id: mutant.id, where: Mutant.install(mutant, tally) }))

/** Whether the mutant changes any value in a long random conversation. */
const hasEffect = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number) {
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  const subject = yield* subjectOf(mutant, tally)
  if (HttpSubject.is(subject)) {
    yield* RandomConversation.run(subject.target, CONVERSATION_REQUESTS, Draws.make(seed))
  }
  return tally.changed > 0
})

/** Runs the suite on a new server with the mutant; a timeout counts as undecided. */
const runOnce = (
  mutant: Mutant.Mutant,
  tally: Mutant.Tally,
  level: Level,
  seed: number
): Effect.Effect<Judgment> =>
  Effect.scoped(Effect.flatMap(subjectOf(mutant, tally), (subject) => judge(subject, level, seed))).pipe(
    Effect.timeoutOption(TIMEOUT_MS),
    Effect.map(Option.getOrElse((): Judgment => ({ undecided: "the run did not end in a minute" }))),
    // A run whose server does not start is undecided.
    Effect.catchCause(() => Effect.succeed<Judgment>({ undecided: "the server did not start" }))
  )

const outcomeOf = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number, tally: Mutant.Tally) {
  const spec = yield* runOnce(mutant, tally, "spec", seed)
  if (spec.killer !== undefined) return ["spec", spec.killer] as const
  const { reached } = tally
  const design = yield* runOnce(mutant, tally, "design", seed)
  if (design.killer !== undefined) return ["design", design.killer] as const
  // An equivalent mutant: it changed no value, neither in the runs nor in a long random conversation.
  if (
    tally.changed === 0 &&
    !(yield* Effect.orElseSucceed(Effect.scoped(hasEffect(mutant, seed)), () => true))
  ) {
    return ["equal", undefined] as const
  }
  if (spec.undecided !== undefined) return ["undecided", spec.undecided] as const
  return ["survived", reached === 0 ? "not reached" : undefined] as const
})

/** Runs the suite on a mutant at level spec and, if no check fails, at level design. */
export const hunt = Effect.fnUntraced(
  function* (mutant: Mutant.Mutant, seed: number) {
    const startedAt = performance.now()
    const tally: Mutant.Tally = { reached: 0, changed: 0 }
    const [outcome, by] = yield* outcomeOf(mutant, seed, tally)
    const result: MutantResult = {
      id: mutant.id,
      outcome,
      by,
      changed: tally.changed,
      milliseconds: Math.round(performance.now() - startedAt)
    }
    return result
  },
  (effect, _mutant, seed) =>
    effect.pipe(Random.withSeed(seed), Effect.provideService(References.MinimumLogLevel, "None"))
)
