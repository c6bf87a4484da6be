/** Runs the suite against a mutant until the first check fails. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Level } from "../../clauses/Clause.ts"
import type { CheckResult } from "../../engine/Report.ts"
import * as HttpSubject from "../../subjects/HttpSubject.ts"
import * as SelfTest from "../SelfTest.ts"
import * as Subjects from "../Subjects.ts"
import * as Draws from "./Draws.ts"
import * as Mutant from "./Mutant.ts"
import { mutants } from "./Mutants.ts"
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
}

/** Number of requests in the random conversation. */
const CONVERSATION_REQUESTS = 1_500

/** Timeout of one run, in milliseconds. */
const TIMEOUT_MS = 60_000

interface Judgment {
  readonly killer?: string
  readonly undecided?: string
}

const subjectOf = (mutant: Mutant.Mutant, tally: Mutant.Tally) =>
  Effect.suspend(() => Subjects.ofFault({ id: mutant.id, where: Mutant.install(mutant, tally) }))

/** Whether the mutant changes any value in a long random conversation. */
const hasEffect = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number) {
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  yield* SelfTest.withSubject(subjectOf(mutant, tally), seed, (subject) =>
    HttpSubject.is(subject)
      ? RandomConversation.run(subject.target, CONVERSATION_REQUESTS, Draws.make(seed))
      : Effect.void
  )
  return tally.changed > 0
})

/** Runs the suite on a new server with the mutant until a check fails; a timeout counts as undecided. */
const runOnce = (
  mutant: Mutant.Mutant,
  tally: Mutant.Tally,
  level: Level,
  seed: number
): Effect.Effect<Judgment> =>
  SelfTest.examineBriefly(subjectOf(mutant, tally), {
    level,
    seed,
    endsAt: ({ status }) => status === "fail"
  }).pipe(
    Effect.map(judgmentOf),
    Effect.timeoutOption(TIMEOUT_MS),
    Effect.map(Option.getOrElse((): Judgment => ({ undecided: "the run did not end in a minute" }))),
    // A run whose server does not start is undecided.
    Effect.catchCause(() => Effect.succeed<Judgment>({ undecided: "the server did not start" }))
  )

/** Returns the check that failed, otherwise the first undecided check, if any. */
const judgmentOf = (results: ReadonlyArray<CheckResult>): Judgment => {
  const last = results.at(-1)
  if (last?.status === "fail") return { killer: last.id }
  const undecided = results.find(({ status }) => status === "error" || status === "inconclusive")
  return undecided === undefined ? {} : { undecided: undecided.id }
}

const outcomeOf = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number, tally: Mutant.Tally) {
  const spec = yield* runOnce(mutant, tally, "spec", seed)
  if (spec.killer !== undefined) return ["spec", spec.killer] as const
  const { reached } = tally
  const design = yield* runOnce(mutant, tally, "design", seed)
  if (design.killer !== undefined) return ["design", design.killer] as const
  // An equivalent mutant: it changed no value, neither in the runs nor in a long random conversation.
  if (tally.changed === 0 && !(yield* Effect.orElseSucceed(hasEffect(mutant, seed), () => true))) {
    return ["equal", undefined] as const
  }
  if (spec.undecided !== undefined) return ["undecided", spec.undecided] as const
  return ["survived", reached === 0 ? "not reached" : undefined] as const
})

/** Runs the suite on a mutant at level spec and, if no check fails, at level design. */
export const hunt = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number) {
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  const [outcome, by] = yield* outcomeOf(mutant, seed, tally)
  const result: MutantResult = { id: mutant.id, outcome, by, changed: tally.changed }
  return result
})

export interface Task {
  readonly id: string
  readonly seed: number
}

/** Runs the suite on the mutant with an id; for `Threads.map`. */
export const task = async ({ id, seed }: Task): Promise<MutantResult> => {
  const mutant = mutants.find((candidate) => candidate.id === id)
  if (mutant === undefined) throw new Error(`the mutant ${id} does not exist`)
  return Effect.runPromise(hunt(mutant, seed))
}
