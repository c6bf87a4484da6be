/** Runs the suite against a faulty server until the model, and no check, finds a violation. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Level } from "../clauses/Clause.ts"
import type { Violation } from "../model/Exchange.ts"
import type { Where } from "./Fault.ts"
import { faults } from "./Faults.ts"
import * as Mutant from "./mutants/Mutant.ts"
import { mutants } from "./mutants/Mutants.ts"
import * as Recording from "./Recording.ts"
import * as Subjects from "./Subjects.ts"

export interface Task {
  readonly kind: "fault" | "mutant"
  readonly id: string
  readonly seed: number
  /** The level of the checks that send requests. */
  readonly level: Level
  /** The level of the violations that count. */
  readonly judgedAt: Level
}

export interface Result extends Task {
  /** The violation that the model found first; absent if it found none. */
  readonly found?: Pick<Violation, "clause" | "expected" | "actual"> & { readonly exchanges: number }
  /** The number of values that a mutant changed. */
  readonly changed: number
}

/** Timeout of one run, in milliseconds. */
const TIMEOUT_MS = 60_000

const whereOf = ({ id, kind }: Task, tally: Mutant.Tally): Where => {
  const fault = kind === "fault" ? faults.find((each) => each.id === id) : undefined
  const mutant = kind === "mutant" ? mutants.find((each) => each.id === id) : undefined
  const where = fault?.where ?? (mutant && Mutant.install(mutant, tally))
  if (where?.at !== "http") throw new Error(`there is no ${kind} of a server with the id ${id}`)
  return where
}

export const hunt = Effect.fnUntraced(function* (given: Task) {
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  const subject = Subjects.ofFault({ id: given.id, where: whereOf(given, tally) })
  const found = yield* Recording.firstViolation(subject, given).pipe(
    Effect.timeoutOption(TIMEOUT_MS),
    Effect.map(Option.getOrUndefined),
    // A server that does not start has no exchanges.
    Effect.catchCause(() => Effect.succeed(undefined))
  )
  const result: Result = {
    ...given,
    changed: tally.changed,
    ...(found === undefined
      ? {}
      : {
          found: {
            clause: found.clause,
            expected: found.expected,
            actual: found.actual,
            exchanges: found.evidence.length
          }
        })
  }
  return result
})

/** Runs one hunt; for `Threads.map`. */
export const task = (given: Task): Promise<Result> => Effect.runPromise(hunt(given))
