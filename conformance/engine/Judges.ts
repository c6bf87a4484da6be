/** Joins the judges of a level: the model of the contract, and at level `design` also our decisions. */
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
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
  /** The clauses that were kept or broken; every other one was not tried. */
  readonly decided: ReadonlySet<ClauseSlug>
  readonly known: Knowledge
}

export const begin = (setup: Setup, level: Level): Knowledge => ({
  model: Model.begin(setup),
  design: level === "design" ? Design.begin(setup) : undefined
})

/** Judges the next exchange, in the order in which responses arrived. */
export const judge = ({ design, model }: Knowledge, exchange: Exchange): Judgment =>
  join(Model.judge(model, exchange), design && Design.judge(design, exchange))

/** Judges what is still pending, and what no exchange shows. */
export const close = ({ design, model }: Knowledge): Judgment =>
  join(Model.close(model), design && Design.close(design))

/** Judges exchanges as if they were a whole run. */
export const violationsOf = (
  setup: Setup,
  level: Level,
  exchanges: ReadonlyArray<Exchange>
): ReadonlyArray<Violation> => {
  let known = begin(setup, level)
  const violations: Array<Violation> = []
  for (const exchange of exchanges) {
    const judged = judge(known, exchange)
    known = judged.known
    violations.push(...judged.violations)
  }
  return [...violations, ...close(known).violations]
}

const join = (model: Model.Judgment, design: Design.Judgment | undefined): Judgment => ({
  violations:
    design === undefined
      ? model.violations.filter((violation) => Model.isOfLevel(violation, "spec"))
      : [...model.violations, ...design.violations],
  decided: new Set([...model.decided, ...(design?.decided ?? [])]),
  known: { model: model.known, design: design?.known }
})
