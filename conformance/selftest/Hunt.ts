/** Runs the programs on a faulty or a correct server, and returns what the model says. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Level } from "../clauses/Clause.ts"
import * as JudgedRun from "../engine/JudgedRun.ts"
import type { Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"
import { programs } from "../programs/Programs.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as ConformingVariants from "./ConformingVariants.ts"
import type { Where } from "./Fault.ts"
import { faults } from "./Faults.ts"
import * as Mutant from "./mutants/Mutant.ts"
import { mutants } from "./mutants/Mutants.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"

export interface Task {
  readonly kind: "fault" | "mutant" | "variant" | "reference"
  readonly id: string
  readonly seed: number
  /** The level of the violations that count; a variant counts at its own level. */
  readonly level: Level
  /** Whether to end with the first violation. */
  readonly isBrief: boolean
  /** Only the programs whose name begins with this. */
  readonly only?: string | undefined
}

export interface Result extends Task {
  readonly found: ReadonlyArray<string>
  readonly requests: number
  readonly ms: number
  readonly stopped: ReadonlyArray<string>
  /** The number of values that a mutant changed. */
  readonly changed: number
}

/** Timeout of one run, in milliseconds. */
const TIMEOUT_MS = 60_000

const line = ({ actual, clause, evidence, expected }: Violation): string =>
  `${clause}: expected ${expected}, got ${actual} [${evidence.map(({ did, index }) => `#${index} ${did}`).join(" ; ")}]`

type Opened = Effect.Effect<Subject, unknown, Scope.Scope>

const subjectOf = ({ id, kind, level }: Task, tally: Mutant.Tally): readonly [Opened, Level] => {
  if (kind === "reference") return [Subjects.reference, level]
  if (kind === "variant") {
    const variant = ConformingVariants.conformingVariants.find((each) => each.id === id)
    if (variant === undefined) throw new Error(`there is no variant ${id}`)
    return [Subjects.ofVariant(variant), ConformingVariants.levelOf(variant)]
  }
  const fault = kind === "fault" ? faults.find((each) => each.id === id) : undefined
  const mutant = kind === "mutant" ? mutants.find((each) => each.id === id) : undefined
  const where: Where | undefined = fault?.where ?? (mutant && Mutant.install(mutant, tally))
  if (where?.at !== "http") throw new Error(`there is no ${kind} of a server with the id ${id}`)
  return [Subjects.ofFault({ id, where }), level]
}

/** Runs one hunt; for `Threads.map`. */
export const task = (given: Task): Promise<Result> => {
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  const [subject, level] = subjectOf(given, tally)
  const chosen = programs.filter(
    ({ isDesign = false, name }) => (level === "design" || !isDesign) && name.startsWith(given.only ?? "")
  )
  const isCounted = (violation: Violation) => Model.isOfLevel(violation, level)
  const begun = performance.now()
  return Effect.runPromise(
    SelfTest.withSubject(subject, given.seed, (opened) => {
      if (!HttpSubject.is(opened)) throw new Error(`${opened.name} is not reached over HTTP`)
      return JudgedRun.run(opened.target, {
        programs: chosen,
        seed: given.seed,
        level,
        budget: HttpSubject.defaultBudget,
        isEnough: (violations) => given.isBrief && violations.some(isCounted)
      })
    }).pipe(
      Effect.timeoutOption(TIMEOUT_MS),
      Effect.map(Option.getOrUndefined),
      Effect.catchCause((cause) =>
        Effect.sync(() => void console.error(given.id, String(cause).slice(0, 500)))
      ),
      Effect.map((result) => ({
        ...given,
        found: result?.violations.filter(isCounted).map(line) ?? [],
        requests: result?.exchanges.length ?? 0,
        ms: Math.round(performance.now() - begun),
        stopped: [...(result?.stopped ?? [])].map(([name, { reason }]) => `${name}: ${reason}`),
        changed: tally.changed
      }))
    )
  )
}
