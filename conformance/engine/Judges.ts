/** Joins the judges of a level: the model of the contract, and at level `design` also our decisions. */
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Design from "../design/Design.ts"
import { type Exchange, precedes, type Setup, type Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"

export interface Knowledge {
  readonly model: Model.Knowledge
  /** `undefined` at level `spec`. */
  readonly design: Design.Knowledge | undefined
}

export interface Judgment {
  readonly violations: ReadonlyArray<Violation>
  /** The clauses that were kept or broken; every other one was not tried. */
  readonly decided: ReadonlySet<ClauseSlug>
  readonly known: Knowledge
}

export const begin = (setup: Setup, level: Level): Knowledge => ({
  model: Model.begin(setup),
  design: level === "design" ? Design.begin(setup) : undefined
})

/** Groups exchanges that were in flight at the same time, in the order in which responses arrived. */
export const groups = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<ReadonlyArray<Exchange>> => {
  const all: Array<Array<Exchange>> = []
  let isClosed = true
  for (const exchange of exchanges) {
    const open = isClosed ? undefined : all.at(-1)
    if (open === undefined || exchange.isAlone || open.every((each) => precedes(each, exchange)))
      all.push([exchange])
    else open.push(exchange)
    isClosed = exchange.isAlone || exchange.isLast === true
  }
  return all
}

/** Judges exchanges that were in flight at the same time; usually one. */
export const judge = (known: Knowledge, exchanges: ReadonlyArray<Exchange>): Judgment => {
  const model = Model.judge(known.model, exchanges)
  const design = known.design && Design.judge(known.design, exchanges)
  return {
    violations: [...model.violations, ...(design?.violations ?? [])],
    decided: new Set([...model.decided, ...(design?.decided ?? [])]),
    known: { model: model.known, design: design?.known }
  }
}

/** Judges what no exchange shows. */
export const close = (known: Knowledge): Judgment => ({ ...Model.close(known.model), known })

/**
 * Creates the judge of a run. `see` judges a part of its exchanges; none was in flight at the same time as one of another
 * part. `close` ends the run, and returns what is known.
 */
export const make = (setup: Setup, level: Level) => {
  const violations: Array<Violation> = []
  /** How many exchanges decided each clause. */
  const decided = new Map<ClauseSlug, number>()
  let known = begin(setup, level)
  const take = (judged: Judgment): Knowledge => {
    violations.push(...judged.violations)
    for (const clause of judged.decided) decided.set(clause, (decided.get(clause) ?? 0) + 1)
    known = judged.known
    return known
  }
  const see = (part: ReadonlyArray<Exchange>): void => {
    for (const group of groups(part)) take(judge(known, group))
  }
  return { violations, decided, see, close: () => take(close(known)) }
}

/** Judges exchanges as if they were a whole run. */
export const violationsOf = (
  setup: Setup,
  level: Level,
  exchanges: ReadonlyArray<Exchange>
): ReadonlyArray<Violation> => {
  const judge = make(setup, level)
  judge.see(exchanges)
  judge.close()
  return judge.violations
}
