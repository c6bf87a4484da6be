/** Turns the violations of a run over HTTP into findings: for each violated clause, the smallest history that shows it. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type { Level } from "../clauses/Clause.ts"
import type { Finding } from "../clauses/Finding.ts"
import { visible } from "../http/Printable.ts"
import type { Exchange, Violation } from "../model/Exchange.ts"
import * as Request from "../model/Request.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as Hints from "./Hints.ts"
import * as History from "./History.ts"
import { setupOf } from "./JudgedRun.ts"
import * as Judges from "./Judges.ts"
import * as Replay from "./Replay.ts"
import * as Steps from "./Steps.ts"

/** Number of violations of a clause whose history is searched. */
const MAX_SEARCHED = 2

const operations = { list: "listPets", create: "createPet", get: "getPet", none: "another path" } as const

/**
 * Returns a finding for each violated clause. Once `isLate` returns true, the other findings have their evidence as
 * history.
 */
export const of = Effect.fnUntraced(function* (
  subject: HttpSubject,
  level: Level,
  violations: ReadonlyArray<Violation>,
  isLate: () => boolean
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const { exchanges, target } = subject
  const setup = setupOf(target)
  // Each request is read once, because the search compares every exchange with others.
  const read = new Map(exchanges.map(({ index, request }) => [index, Request.read(request, setup)]))
  const asked = ({ index, request }: Exchange) => read.get(index) ?? Request.read(request, setup)
  const keyOf = (exchange: Exchange) => asked(exchange).caller.key?.name ?? "none"
  const shapeOf = (exchange: Exchange | undefined): ReadonlyArray<string> => {
    if (exchange === undefined) return []
    const { caller, operation } = asked(exchange)
    const { method } = exchange.request
    return [`${method} ${operation.is} ${exchange.response?.status} ${caller.is} ${caller.key?.name}`]
  }
  const operationOf = (exchange: Exchange) => operations[asked(exchange).operation.is]
  const judgeAll = (some: ReadonlyArray<Exchange>) => Judges.violationsOf(setup, level, some)
  const found: Array<Finding> = []
  for (const all of Object.values(Arr.groupBy(violations, ({ clause }) => clause))) {
    const counts = all.some(History.isCounted)
    // A history in which requests are counted has all of them, whatever their responses show.
    const bySize = (a: ReadonlyArray<Exchange>, b: ReadonlyArray<Exchange>) =>
      (counts ? a.length - b.length : 0) || sizeOf(a) - sizeOf(b)
    const candidates = all.toSorted((a, b) => bySize(a.evidence, b.evidence)).slice(0, MAX_SEARCHED)
    const histories: Array<History.History> = []
    for (const each of candidates) {
      // A signal can end the search between two histories.
      yield* Effect.yieldNow
      histories.push(History.smallest(each, exchanges, judgeAll, keyOf, isLate))
    }
    const [history] = histories.toSorted((a, b) => bySize(a.exchanges, b.exchanges))
    if (history === undefined) continue
    const { exchanges: shown, violation } = isLate()
      ? history
      : yield* Hints.added(history, exchanges, target, judgeAll)
    found.push({
      clause: violation.clause,
      expected: visible(violation.expected),
      actual: visible(violation.actual),
      steps: Steps.of(shown, subject, counts, `${violation.expected} ${violation.actual}`),
      hints: shown.length - history.exchanges.length,
      tally: counts ? Steps.tally(shown, operationOf) : undefined,
      token: Replay.tokenOf(violation.clause, shown, level, subject),
      times: all.length,
      shapes: [...new Set(all.flatMap(({ evidence }) => shapeOf(evidence.at(-1))))],
      // A law that counts requests follows from their number, whatever is wrong with some of them.
      earlier: counts ? [] : [...new Set(shown.slice(0, -1).flatMap(shapeOf))]
    })
  }
  return found
})

/** How many bytes of a response take as long to read as one more exchange. */
const EXCHANGE_SIZE = 300

/** Returns how much there is to read in exchanges, in bytes. */
const sizeOf = (exchanges: ReadonlyArray<Exchange>): number =>
  exchanges.reduce(
    (sum, { did, response }) => sum + EXCHANGE_SIZE + did.length + (response?.body.length ?? 0),
    0
  )
