/** Runs programs on a server, and judges every exchange. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import { type Program, Stopped } from "../programs/Program.ts"
import * as Traffic from "../programs/Traffic.ts"
import type { Budget } from "../subjects/HttpSubject.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as Judges from "./Judges.ts"

/** A connection to a server whose every exchange is judged. */
export interface Session {
  readonly setup: Setup
  readonly traffic: Traffic.Traffic
  readonly exchanges: ReadonlyArray<Exchange>
  readonly violations: ReadonlyArray<Violation>
  /** How many exchanges decided each clause. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  /** Judges what is left, and returns what is known; nothing can be sent afterwards. */
  readonly close: () => Judges.Knowledge
}

export interface Options {
  readonly programs: ReadonlyArray<Program>
  readonly seed: number
  /** Called before each program; if it returns true, no further program starts. */
  readonly isEnough?: ((violations: ReadonlyArray<Violation>) => boolean) | undefined
  readonly onProgress?: ((program: Program, index: number) => void) | undefined
  /** Ends the run early. */
  readonly signal?: AbortSignal | undefined
}

/** What is known after a run. */
export interface Completed {
  readonly known: Judges.Knowledge
  /** The reasons for which programs stopped, by the name of the program. */
  readonly stopped: ReadonlyMap<string, string>
  /** The programs that failed because of a mistake in the suite, each with the error. */
  readonly errors: ReadonlyMap<string, string>
}

/** Number of letters at the start of a name that identify the run. */
const MARK_LENGTH = 5

/** Returns what the user declares about a server. */
export const setupOf = ({ basePath, declared, keys }: HttpSubject.HttpTarget): Setup => {
  const plans: { readonly [name: string]: Plan | undefined } = { tiny: keys.tiny, victim: keys.victim }
  return {
    basePath,
    categories: declared?.categories ?? "any",
    keys: Object.entries(HttpSubject.secretsOf(keys)).flatMap(([name, secret]) => {
      const isValid = name !== "revoked" && name !== "expired"
      return secret === undefined ? [] : [{ name, secret, plan: plans[name], isValid }]
    })
  }
}

/** Returns a different word for each whole number from 0: `a`, `b`, …, `z`, `aa`, …; some servers reject digits. */
const letters = (number: number): string =>
  number < 26 ? String.fromCharCode(97 + number) : letters(Math.floor(number / 26) - 1) + letters(number % 26)

/** Creates a function that returns new names; the run's mark is random, so that runs on one store do not meet. */
const naming = Effect.map(Random.nextIntBetween(0, 26 ** MARK_LENGTH - 1), (mark) => {
  const word = letters(mark + 26 ** MARK_LENGTH).slice(-MARK_LENGTH)
  const prefix = word.charAt(0).toUpperCase() + word.slice(1)
  // Three letters each, so that names with the same tail have the same length.
  let names = 26 + 26 ** 2
  return (tail = "") => `${prefix}${letters(names++).toUpperCase()}${tail}`
})

/** Opens a session; fails if the clock does not respond. `exchanges` receives each exchange. */
export const open = Effect.fnUntraced(function* (
  target: HttpSubject.HttpTarget,
  {
    budget,
    exchanges = [],
    level
  }: { readonly budget: Budget; readonly level: Level; readonly exchanges?: Array<Exchange> }
): Effect.fn.Return<Session, Stopped> {
  const violations: Array<Violation> = []
  const setup = setupOf(target)
  const decided = new Map<ClauseSlug, number>()
  let known = Judges.begin(setup, level)
  const take = (judged: Judges.Judgment): void => {
    known = judged.known
    violations.push(...judged.violations)
    for (const clause of judged.decided) decided.set(clause, (decided.get(clause) ?? 0) + 1)
  }
  const see = (exchange: Exchange): void => {
    exchanges.push(exchange)
    take(Judges.judge(known, exchange))
  }
  const close = () => {
    take(Judges.close(known))
    return known
  }
  const traffic = yield* Traffic.make({ target, budget, see, name: yield* naming })
  return { setup, traffic, exchanges, violations, decided, close }
})

/** Returns what a program needs and a server lacks. */
export const missing = ({ needs = [] }: Pick<Program, "needs">, target: HttpSubject.HttpTarget) => {
  const has = HttpSubject.capabilitiesOf(target)
  return needs.filter((need) => !has.has(need))
}

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

/** Runs the programs for which the server has what they need, and closes the session. */
export const complete = Effect.fnUntraced(function* (
  { close, traffic, violations }: Session,
  target: HttpSubject.HttpTarget,
  { isEnough = () => false, onProgress, programs, seed, signal }: Options
): Effect.fn.Return<Completed> {
  const stopped = new Map<string, string>()
  const errors = new Map<string, string>()
  for (const [index, program] of programs.entries()) {
    if (isEnough(violations)) break
    if (missing(program, target).length > 0) continue
    onProgress?.(program, index)
    yield* until(program.run(traffic), signal).pipe(
      Random.withSeed(`${seed} ${program.name}`),
      Effect.catchTag("Stopped", ({ reason }) => Effect.sync(() => void stopped.set(program.name, reason))),
      Effect.catchDefect((defect) => Effect.sync(() => void errors.set(program.name, String(defect))))
    )
  }
  return { known: close(), stopped, errors }
})
