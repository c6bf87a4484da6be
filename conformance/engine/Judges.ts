/**
 * Joins the judges of a level: the model of the contract, and at level `design` also our decisions. Exchanges in flight
 * at the same time are judged together, once the last of them has arrived.
 */
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Design from "../design/Design.ts"
import { type Exchange, precedes, type Setup, type Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"

export interface Knowledge {
  readonly model: Model.Knowledge
  /** `undefined` at level `spec`. */
  readonly design: Design.Knowledge | undefined
  /** The exchanges of a burst of which others may still be in flight. */
  readonly pending: ReadonlyArray<Exchange>
}

export interface Judgment {
  readonly violations: ReadonlyArray<Violation>
  /** The clauses that were kept or broken; every other one was not tried. */
  readonly decided: ReadonlySet<ClauseSlug>
  readonly known: Knowledge
}

export const begin = (setup: Setup, level: Level): Knowledge => ({
  model: Model.begin(setup),
  design: level === "design" ? Design.begin(setup) : undefined,
  pending: []
})

/** Judges the next exchange, in the order in which responses arrived. */
export const judge = (known: Knowledge, exchange: Exchange): Judgment => {
  const isLater = exchange.isAlone || known.pending.every((each) => precedes(each, exchange))
  const before = isLater ? settle(known) : nothing(known)
  const waiting = { ...before.known, pending: [...before.known.pending, exchange] }
  return join(before, exchange.isAlone || exchange.isLast === true ? settle(waiting) : nothing(waiting))
}

/** Judges what is still pending, and what no exchange shows. */
export const close = (known: Knowledge): Judgment => {
  const settled = settle(known)
  return join(settled, { ...Model.close(settled.known.model), known: settled.known })
}

const nothing = (known: Knowledge): Judgment => ({ violations: [], decided: new Set(), known })

const settle = (known: Knowledge): Judgment => {
  const { pending } = known
  if (pending.length === 0) return nothing(known)
  const model = Model.judge(known.model, pending)
  const settled = { ...known, model: model.known, pending: [] }
  if (known.design === undefined) return { ...model, known: settled }
  const design = Design.judge(known.design, pending)
  return { ...join(model, design), known: { ...settled, design: design.known } }
}

/** Returns the judgment after both. */
const join = <Known>(
  first: Pick<Judgment, "violations" | "decided">,
  second: Pick<Judgment, "violations" | "decided"> & { readonly known: Known }
) => ({
  violations: [...first.violations, ...second.violations],
  decided: new Set([...first.decided, ...second.decided]),
  known: second.known
})

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
