/** Runs programs on a server, and judges every exchange. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Setup, Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"
import { type Program, Stopped } from "../programs/Program.ts"
import * as Traffic from "../programs/Traffic.ts"
import { type HttpSubject, type HttpTarget, secretsOf } from "../subjects/HttpSubject.ts"
import * as Judges from "./Judges.ts"

export interface Options {
  readonly programs: ReadonlyArray<Program>
  readonly level: Level
  readonly seed: number
  /** Called before each program; if it returns true, no further program starts. */
  readonly isEnough?: ((violations: ReadonlyArray<Violation>) => boolean) | undefined
  readonly onProgress?: ((program: Program, index: number) => void) | undefined
  /** Ends the run early. */
  readonly signal?: AbortSignal | undefined
}

/** What is known after a run. */
export interface Completed {
  /** The programs that were planned. */
  readonly programs: ReadonlyArray<Program>
  readonly violations: ReadonlyArray<Violation>
  /** How many exchanges decided each clause. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  /** What the server chose where the contract leaves a choice. */
  readonly choices: ReadonlyArray<string>
  /** The reasons for which programs stopped, by the name of the program. */
  readonly stopped: ReadonlyMap<string, string>
  /** The programs that failed because of a mistake in the suite, each with the error. */
  readonly errors: ReadonlyMap<string, string>
}

/** Number of letters at the start of a name that identify the run. */
const MARK_LENGTH = 5

/** Returns what the user declares about a server. */
export const setupOf = ({ basePath, declared, keys }: HttpTarget): Setup => {
  const plans: { readonly [name: string]: Plan | undefined } = { tiny: keys.tiny, victim: keys.victim }
  return {
    basePath,
    categories: declared?.categories ?? "any",
    keys: Object.entries(secretsOf(keys)).flatMap(([name, secret]) => {
      const isValid = name !== "revoked" && name !== "expired"
      return secret === undefined ? [] : [{ name, secret, plan: plans[name], isValid }]
    })
  }
}

/** Returns a different word for each whole number; some servers reject digits. */
const letters = (number: number): string =>
  number.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz".charAt(Number(digit)))

/** Creates a function that returns new names; the run's mark is random, so that runs on one store do not meet. */
const naming = Effect.map(Random.nextIntBetween(0, 26 ** MARK_LENGTH - 1), (mark) => {
  const word = letters(26 ** MARK_LENGTH + mark).slice(-MARK_LENGTH)
  const prefix = word.charAt(0).toUpperCase() + word.slice(1)
  // Three letters each, so that names with the same tail have the same length.
  let names = 26 + 26 ** 2
  return (tail = "") => `${prefix}${letters(names++).toUpperCase()}${tail}`
})

/** Prepares to send requests, whose exchanges are added to those of the subject; fails if its clock does not respond. */
export const open = ({ budget, exchanges, target }: HttpSubject): Effect.Effect<Traffic.Traffic, Stopped> =>
  Effect.flatMap(naming, (name) =>
    Traffic.make({ target, budget, name, see: (exchange) => void exchanges.push(exchange) })
  )

/** Returns what a program needs and a server lacks. */
export const missing = ({ needs = [] }: Program, { capabilities }: HttpSubject) =>
  needs.filter((need) => !capabilities.has(need))

/** Interrupts an effect and fails once a signal is aborted. */
export const until = <A, E>(
  running: Effect.Effect<A, E>,
  signal: AbortSignal | undefined
): Effect.Effect<A, E | Stopped> =>
  signal === undefined
    ? running
    : Effect.raceFirst(
        Effect.callback<never, Stopped>((resume) => {
          const stop = () => resume(Effect.fail(new Stopped({ reason: "the run was interrupted" })))
          if (signal.aborted) stop()
          signal.addEventListener("abort", stop)
          return Effect.sync(() => signal.removeEventListener("abort", stop))
        }),
        running
      )

/** Runs the programs for which the server has what they need, and judges all its exchanges. */
export const complete = Effect.fnUntraced(function* (
  subject: HttpSubject,
  traffic: Traffic.Traffic,
  { isEnough = () => false, level, onProgress, programs, seed, signal }: Options
): Effect.fn.Return<Completed> {
  const { close, see, ...judged } = Judges.make(setupOf(subject.target), level)
  let seen = 0
  const judge = Effect.sync(() => {
    const from = seen
    seen = subject.exchanges.length
    see(subject.exchanges.slice(from))
  })
  const stopped = new Map<string, string>()
  const errors = new Map<string, string>()
  for (const [index, program] of programs.entries()) {
    if (isEnough(judged.violations)) break
    if (missing(program, subject).length > 0) continue
    onProgress?.(program, index)
    yield* until(program.run(traffic), signal).pipe(
      Random.withSeed(`${seed} ${program.name}`),
      Effect.catchTag("Stopped", ({ reason }) => Effect.sync(() => void stopped.set(program.name, reason))),
      Effect.andThen(judge),
      Effect.catchDefect((defect) => Effect.sync(() => void errors.set(program.name, String(defect))))
    )
  }
  yield* judge
  return { ...judged, choices: Model.tells(close().model), programs, stopped, errors }
})
