/** Joins the judges of a level: the model of the contract, and at level `design` also our decisions. */
import type { Level } from "../clauses/Clause.ts"
import * as Design from "../design/Design.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"

export interface Knowledge {
  readonly model: Model.Knowledge
  /** `undefined` at level `spec`. */
  readonly design: Design.Knowledge | undefined
}

export interface Judgment {
  readonly violations: ReadonlyArray<Violation>
  readonly known: Knowledge
}

export const begin = (setup: Setup, level: Level): Knowledge => ({
  model: Model.begin(setup),
  design: level === "design" ? Design.begin(setup) : undefined
})

/** Judges the next exchange, in the order in which responses arrived. */
export const judge = ({ design, model }: Knowledge, exchange: Exchange): Judgment => {
  const judged = Model.judge(model, exchange)
  if (design === undefined) return { violations: judged.violations, known: { model: judged.known, design } }
  const decided = Design.judge(design, exchange)
  return {
    violations: [...judged.violations, ...decided.violations],
    known: { model: judged.known, design: decided.known }
  }
}

/** Judges what needs the whole history. */
export const close = ({ design, model }: Knowledge): ReadonlyArray<Violation> => [
  ...Model.close(model),
  ...(design === undefined ? [] : Design.close(design).violations)
]
