/** Tries the suite on a mutant until the first check fails. */
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
 * `spec`: a check failed at level spec. `design`: one failed at level design only. `undecided`: none failed, but the run is not conformant, because checks could not be
 * decided. `equal`: no check failed, and a long random conversation with the mutant showed no difference either.
 * `survived`: the run is conformant although the mutant differs.
 */
export type Outcome = "spec" | "design" | "undecided" | "equal" | "survived"

export interface Hunted {
  readonly id: string
  readonly outcome: Outcome
  /** The check that failed, or the first one without a decision; `not reached` if the run never met the mutant. */
  readonly by?: string | undefined
  /** Values that it changed while the suite ran. */
  readonly changed: number
  readonly milliseconds: number
}

/** After so many checks the laws of all exchanges are tried; the last time is at the end. */
const AMBIENT_AFTER = [2, 6, 15, 30]

/** Requests of the random conversation. */
const CONVERSATION = 1_500

/** Longest time for one mutant, in ms. */
const TIMEOUT_MS = 60_000

interface Found {
  readonly killer?: string
  readonly open?: string
}

/** The first check that fails, or else the first one that is undecided. */
const judge = Effect.fnUntraced(function* (subject: Subject, level: Level, seed: number) {
  let open: string | undefined
  const nextToken = yield* Run.tokens
  const selection: Selection.Selection = { level, only: [], exclude: [] }
  const ambient = Run.ambientFor(subject, level)
  const found = (status: string, id: string): Found | undefined => {
    if (status === "fail") return { killer: id }
    if (status === "error" || status === "inconclusive") open ??= id
    return undefined
  }
  const failing = (): Found | undefined =>
    ambient
      .map((check) => Run.atLevel(examineExchanges(check, subject), level))
      .filter(({ status }) => status === "fail")
      .map(({ id }): Found => ({ killer: id }))[0]

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
    const decided = found(status, check.id) ?? (AMBIENT_AFTER.includes(index) ? failing() : undefined)
    if (decided !== undefined) return decided
  }
  for (const check of ambient) {
    const decided = found(Run.atLevel(examineExchanges(check, subject), level).status, check.id)
    if (decided !== undefined) return decided
  }
  return open === undefined ? {} : { open }
})

const subjectOf = (mutant: Mutant.Mutant, tally: Mutant.Tally) =>
  Effect.suspend(() => Subjects.ofFault({ id: mutant.id, where: Mutant.install(mutant, tally) }))

/** Whether the mutant changes anything in a long random conversation. */
const differs = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number) {
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  const subject = yield* subjectOf(mutant, tally)
  if (HttpSubject.is(subject)) {
    yield* RandomConversation.run(subject.target, CONVERSATION, Draws.make(seed))
  }
  return tally.changed > 0
})

/** Runs the suite on a new server with the mutant. */
const tried = (
  mutant: Mutant.Mutant,
  tally: Mutant.Tally,
  level: Level,
  seed: number
): Effect.Effect<Found> =>
  Effect.scoped(Effect.flatMap(subjectOf(mutant, tally), (subject) => judge(subject, level, seed))).pipe(
    Effect.timeoutOption(TIMEOUT_MS),
    Effect.map(Option.getOrElse((): Found => ({ open: "a whole run in a minute" }))),
    // A server that does not even start is no server: the run ends with an error.
    Effect.catchCause(() => Effect.succeed<Found>({ open: "the start of the server" }))
  )

const outcomeOf = Effect.fnUntraced(function* (mutant: Mutant.Mutant, seed: number, tally: Mutant.Tally) {
  const spec = yield* tried(mutant, tally, "spec", seed)
  if (spec.killer !== undefined) return ["spec", spec.killer] as const
  const changed = tally.changed
  const strict = yield* tried(mutant, tally, "design", seed)
  if (strict.killer !== undefined) return ["design", strict.killer] as const
  // What the suite and a long conversation cannot tell from our server is no fault.
  if (
    tally.changed === 0 &&
    !(yield* Effect.orElseSucceed(Effect.scoped(differs(mutant, seed)), () => true))
  ) {
    return ["equal", undefined] as const
  }
  if (spec.open !== undefined) return ["undecided", spec.open] as const
  return ["survived", changed === 0 ? "not reached" : undefined] as const
})

/** Runs the suite on a mutant, at level spec and then at level design. */
export const hunt = Effect.fnUntraced(
  function* (mutant: Mutant.Mutant, seed: number) {
    const begun = performance.now()
    const tally: Mutant.Tally = { reached: 0, changed: 0 }
    const [outcome, by] = yield* outcomeOf(mutant, seed, tally)
    const hunted: Hunted = {
      id: mutant.id,
      outcome,
      by,
      changed: tally.changed,
      milliseconds: Math.round(performance.now() - begun)
    }
    return hunted
  },
  (effect, _mutant, seed) =>
    effect.pipe(Random.withSeed(seed), Effect.provideService(References.MinimumLogLevel, "None"))
)
