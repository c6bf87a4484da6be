/** Finds the smallest history that shows a violation, by judging parts of the recorded exchanges again. */
import * as RateHeaders from "../http/RateHeaders.ts"
import type { Exchange, Violation } from "../model/Exchange.ts"

export interface History {
  /** The violation as this history shows it. */
  readonly violation: Violation
  readonly exchanges: ReadonlyArray<Exchange>
}

/** Maximum number of exchanges that are judged again for one violation. */
const MAX_JUDGED = 6_000

/**
 * Whether a law counts requests. Its histories must have every request of their key, because without some of them the
 * others would prove something else.
 */
export const isCounted = ({ clause }: Pick<Violation, "clause">): boolean => /^(?:limits|ban)\./.test(clause)

/**
 * Returns the smallest history that was found: the evidence alone, or with the exchanges of the same key before it, as
 * few of them as show the violation. `judgeAll` judges exchanges as if they were a whole run, and `keyOf` returns the
 * caller of an exchange. Once `isLate` returns true, nothing more is tried.
 */
export const smallest = (
  violation: Violation,
  all: ReadonlyArray<Exchange>,
  judgeAll: (exchanges: ReadonlyArray<Exchange>) => ReadonlyArray<Violation>,
  keyOf: (exchange: Exchange) => string,
  isLate: () => boolean = () => false
): History => {
  const last = violation.evidence.at(-1)
  if (last === undefined) return { violation, exchanges: [] }
  const counts = isCounted(violation)
  let judged = 0
  /** Returns the history of these exchanges if they show the violation. */
  const shownBy = (exchanges: ReadonlyArray<Exchange>): History | undefined => {
    judged += exchanges.length
    const found = judgeAll(exchanges).find(
      ({ actual, clause, evidence, expected }) =>
        clause === violation.clause &&
        evidence.at(-1)?.index === last.index &&
        // A law that does not count must say the same, otherwise it found something else.
        (counts || (actual === violation.actual && expected === violation.expected))
    )
    return found && { violation: found, exchanges }
  }
  const before = all.filter(({ index }) => index <= last.index)
  const ofKey = before.filter((exchange) => keyOf(exchange) === keyOf(last))
  const isEnough = () => judged >= MAX_JUDGED || isLate()
  const alone = !counts || violation.evidence.length === 1 ? shownBy(violation.evidence) : undefined
  if (alone !== undefined) return counts ? alone : withFewer(alone, shownBy, isEnough)
  if (counts) {
    for (let at = ofKey.length - 1; at >= 0 && !isEnough(); at--) {
      const shown = isBeginning(ofKey[at]) ? shownBy(ofKey.slice(at)) : undefined
      if (shown !== undefined) return shown
    }
  }
  for (const tail of [ofKey, before]) {
    for (let size = 1; !isEnough(); size *= 2) {
      const shown = shownBy(inOrder(tail.slice(-size), counts ? [] : violation.evidence))
      if (shown !== undefined) return counts ? shown : withFewer(shown, shownBy, isEnough)
      if (size >= tail.length) break
    }
  }
  return { violation, exchanges: inOrder(violation.evidence, []) }
}

/** Whether a replay can begin with an exchange: all requests of a window were left before it, or none. */
const isBeginning = (exchange: Exchange | undefined): boolean => {
  if (exchange?.response?.status === 429) return true
  const rate = exchange?.response && RateHeaders.of(exchange.response)
  return rate !== undefined && rate.remaining >= rate.limit - 1
}

const inOrder = (some: ReadonlyArray<Exchange>, others: ReadonlyArray<Exchange>): ReadonlyArray<Exchange> => {
  const byIndex = new Map([...some, ...others].map((exchange) => [exchange.index, exchange]))
  return [...byIndex.values()].toSorted((a, b) => a.index - b.index)
}

/** Drops exchanges as long as the violation stays. */
const withFewer = (
  history: History,
  shownBy: (exchanges: ReadonlyArray<Exchange>) => History | undefined,
  isEnough: () => boolean
): History => {
  let smallestYet = history
  for (let size = history.exchanges.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at + size < smallestYet.exchanges.length && !isEnough(); ) {
      const shown = shownBy(smallestYet.exchanges.toSpliced(at, size))
      if (shown === undefined) at += size
      else smallestYet = shown
    }
  }
  return smallestYet
}
