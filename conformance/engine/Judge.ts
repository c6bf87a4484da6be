/** Judges the exchanges of a run one after another; pure, so that parts of a run can be judged again. */
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"

export interface Judge {
  readonly see: (exchange: Exchange) => ReadonlyArray<Violation>
  /** Judges what is left; nothing can be seen afterwards. */
  readonly close: () => ReadonlyArray<Violation>
  /** How many exchanges decided each clause so far. */
  readonly decided: ReadonlyMap<ClauseSlug, number>
  readonly known: () => Model.Knowledge
}

type Judgment = Pick<Model.Judgment, "violations" | "decided">

/** Creates a judge that has seen nothing. */
export const make = (setup: Setup, level: Level): Judge => {
  let known = Model.begin(setup)
  const decided = new Map<ClauseSlug, number>()
  const take = (judgment: Judgment): ReadonlyArray<Violation> => {
    for (const clause of judgment.decided) decided.set(clause, (decided.get(clause) ?? 0) + 1)
    return judgment.violations.filter((violation) => Model.isOfLevel(violation, level))
  }
  return {
    see: (exchange) => {
      const judged = Model.judge(known, exchange)
      known = judged.known
      return take(judged)
    },
    close: () => take(Model.close(known)),
    decided,
    known: () => known
  }
}

/** Judges exchanges as if they were a whole run. */
export const violationsOf = (
  setup: Setup,
  level: Level,
  exchanges: ReadonlyArray<Exchange>
): ReadonlyArray<Violation> => {
  const judge = make(setup, level)
  return [...exchanges.flatMap(judge.see), ...judge.close()]
}
