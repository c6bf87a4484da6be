/** Runs programs on a server, and judges every exchange by the model. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Level } from "../clauses/Clause.ts"
import * as Letters from "../evaluation/Letters.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import type { Program, Stopped } from "../programs/Program.ts"
import * as Traffic from "../programs/Traffic.ts"
import type { Budget } from "../subjects/Budget.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import * as Judges from "./Judges.ts"

export interface Options {
  readonly programs: ReadonlyArray<Program>
  readonly seed: number
  readonly level: Level
  readonly budget: Budget
  /** Called after each exchange; if it returns true, no further program starts. */
  readonly isEnough?: ((violations: ReadonlyArray<Violation>) => boolean) | undefined
}

export interface JudgedRun {
  readonly exchanges: ReadonlyArray<Exchange>
  readonly violations: ReadonlyArray<Violation>
  readonly known: Judges.Knowledge
  /** The reasons for which programs stopped, by the name of the program. */
  readonly stopped: ReadonlyMap<string, Stopped>
}

/** Number of letters at the start of a name that identify the run. */
const MARK_LENGTH = 5

/** Returns what the user declares about a server. */
export const setupOf = ({ basePath, declared, keys }: HttpTarget): Setup => {
  const { expired, main, revoked, tiny, victim } = keys
  return {
    basePath,
    categories: declared?.categories ?? "any",
    keys: [
      { name: "main", secret: main, isValid: true },
      ...(tiny === undefined ? [] : [{ name: "tiny", secret: tiny.secret, plan: tiny, isValid: true }]),
      ...(victim === undefined
        ? []
        : [{ name: "victim", secret: victim.secret, plan: victim, isValid: true }]),
      ...(revoked === undefined ? [] : [{ name: "revoked", secret: revoked, isValid: false }]),
      ...(expired === undefined ? [] : [{ name: "expired", secret: expired, isValid: false }])
    ]
  }
}

/** Creates a function that returns new names; the run's mark is random, so that runs on one store do not meet. */
const naming = Effect.map(Random.nextIntBetween(0, 26 ** MARK_LENGTH - 1), (mark) => {
  const letters = Letters.of(mark + 26 ** MARK_LENGTH).slice(-MARK_LENGTH)
  const prefix = letters.charAt(0).toUpperCase() + letters.slice(1)
  let names = 0
  return (tail = "") => `${prefix}${Letters.of(names++).toUpperCase()}${tail}`
})

export const run = Effect.fnUntraced(function* (
  target: HttpTarget,
  { budget, isEnough = () => false, level, programs, seed }: Options
): Effect.fn.Return<JudgedRun, Stopped> {
  const exchanges: Array<Exchange> = []
  const violations: Array<Violation> = []
  const stopped = new Map<string, Stopped>()
  let known = Judges.begin(setupOf(target), level)
  const see = (exchange: Exchange): void => {
    exchanges.push(exchange)
    const judged = Judges.judge(known, exchange)
    known = judged.known
    violations.push(...judged.violations)
  }
  const traffic = yield* Traffic.make({ target, budget, see, name: yield* naming })
  for (const program of programs) {
    if (isEnough(violations)) break
    if (program.needs?.some((need) => !has(target, need)) === true) continue
    yield* program.run(traffic).pipe(
      Random.withSeed(`${seed} ${program.name}`),
      Effect.catchTag("Stopped", (reason) => Effect.sync(() => stopped.set(program.name, reason)))
    )
  }
  violations.push(...Judges.close(known).violations)
  return { exchanges, violations, known, stopped }
})

const has = ({ clock, declared, keys }: HttpTarget, need: NonNullable<Program["needs"]>[number]): boolean => {
  switch (need) {
    case "clock":
      return clock !== undefined
    case "tinyPlan":
      return keys.tiny !== undefined
    case "victimKey":
      return keys.victim !== undefined
    case "revokedKey":
      return keys.revoked !== undefined
    case "expiredKey":
      return keys.expired !== undefined
    case "anyCategory":
      return (declared?.categories ?? "any") === "any"
    case "parallel":
      return true
    case "outage":
      return false
  }
}
