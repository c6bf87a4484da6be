/** Turns the violations of a run over HTTP into findings: for each violated clause, the smallest history that shows it. */
import * as Arr from "effect/Array"
import type { Level } from "../clauses/Clause.ts"
import type { Finding } from "../evaluation/Finding.ts"
import { visible } from "../http/Printable.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import * as Request from "../model/Request.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as History from "./History.ts"
import * as Judges from "./Judges.ts"
import * as Replay from "./Replay.ts"
import * as Steps from "./Steps.ts"

/** Number of violations of a clause whose history is searched. */
const MAX_SEARCHED = 2

/** Returns a finding for each violated clause, the one with the smallest history first. */
export const of = (
  subject: HttpSubject,
  setup: Setup,
  level: Level,
  exchanges: ReadonlyArray<Exchange>,
  violations: ReadonlyArray<Violation>
): ReadonlyArray<Finding> => {
  const asked = (exchange: Exchange) => Request.read(exchange.request, setup)
  const keyOf = (exchange: Exchange) => asked(exchange).caller.key?.name ?? "none"
  const shapeOf = (exchange: Exchange | undefined): ReadonlyArray<string> => {
    if (exchange === undefined) return []
    const { caller, operation } = asked(exchange)
    const { method } = exchange.request
    return [`${method} ${operation.is} ${exchange.response?.status} ${caller.is} ${caller.key?.name}`]
  }
  const judgeAll = (some: ReadonlyArray<Exchange>) => Judges.violationsOf(setup, level, some)
  return Object.values(Arr.groupBy(violations, ({ clause }) => clause))
    .map((all) => {
      const { exchanges: shown, violation } = all
        .toSorted((a, b) => a.evidence.length - b.evidence.length || sizeOf(a) - sizeOf(b))
        .slice(0, MAX_SEARCHED)
        .map((each) => History.smallest(each, exchanges, judgeAll, keyOf))
        .reduce((a, b) => (b.exchanges.length < a.exchanges.length ? b : a))
      return {
        at: violation.evidence.at(-1)?.index ?? 0,
        length: shown.length,
        finding: {
          clause: violation.clause,
          expected: visible(violation.expected),
          actual: visible(violation.actual),
          steps: Steps.of(shown, subject, History.isCounted(violation)),
          case: Replay.encode(shown, level, subject),
          times: all.length,
          shapes: [...new Set(all.flatMap(({ evidence }) => shapeOf(evidence.at(-1))))]
        }
      }
    })
    .toSorted((a, b) => a.length - b.length || a.at - b.at)
    .map(({ finding }) => finding)
}

/** Returns the number of bytes that the evidence of a violation shows. */
const sizeOf = ({ evidence }: Violation): number =>
  evidence.reduce(
    (sum, { request, response }) =>
      sum + request.target.length + (request.body?.length ?? 0) + (response?.body.length ?? 0),
    0
  )
