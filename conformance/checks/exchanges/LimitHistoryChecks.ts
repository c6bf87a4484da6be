/** Laws about limits over the whole history of a run, whichever check sent the requests (contract §8). */
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { type AmbientCheck, overHistory } from "../AmbientCheck.ts"
import { describedAs, isOfValidKey, ofLevel, rateOf, violation } from "./ExchangeLaws.ts"

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Maximum `Retry-After`, in seconds, of a denial by the per-minute limit. */
const MAX_MINUTE_WAIT_S = 60

/** Minimum number of requests in a row after the first one, because a window may end at one of them. */
const MIN_ROW = 3

/** Maximum difference in seconds between two values of Reset that show the same window. */
const SAME_WINDOW_S = 45

/** Maximum number of different limits of one key: the per-minute limit and the daily limit. */
const MAX_LIMITS = 2

const isSuccess = (exchange: Exchange): boolean =>
  isOfValidKey(exchange) && describedAs(exchange) !== undefined && exchange.response.status < 300

/** Consecutive successes of one key, without any other request between them. */
interface Row {
  readonly all: Array<Exchange>
}

/** Whether one of the earlier requests may leave a sliding window of a minute or a day while the row is sent. */
const mayExpire = (row: Row, before: ReadonlyArray<Exchange>): boolean => {
  const from = row.all[0]?.sentAt ?? 0
  const to = row.all.at(-1)?.receivedAt ?? 0
  const slackMs = 2_000
  return before.some(({ receivedAt, sentAt }) =>
    [MINUTE_MS, DAY_MS].some((ms) => receivedAt + ms >= from - slackMs && sentAt + ms <= to + slackMs)
  )
}

export const checks: ReadonlyArray<AmbientCheck> = ofLevel("spec", [
  overHistory({
    id: "history.each-costs-one",
    profile: "limits",
    law: "Successful requests in a row cost one each, whichever operation they call.",
    clauses: ["limits.remaining-bound", "limits.remaining-truth"],
    begin: () => {
      const earlier: Array<Exchange> = []
      let row: Row = { all: [] }
      return (exchange) => {
        const last = row.all.at(-1)
        const [before, after] = [last && rateOf(last), rateOf(exchange)]
        const isNext =
          last !== undefined &&
          last.key === exchange.key &&
          last.index === exchange.index - 1 &&
          // A clock that stands still between two readings seems to run backwards; the elapsed time is then unknown.
          last.receivedAt <= exchange.sentAt &&
          before !== undefined &&
          after !== undefined &&
          before.limit === after.limit &&
          // Otherwise a new window began, or the window refilled.
          after.remaining <= before.remaining &&
          Math.abs(after.resetAt - before.resetAt) < SAME_WINDOW_S
        if (!isSuccess(exchange) || !exchange.isAlone || after === undefined) row = { all: [] }
        else if (isNext) row.all.push(exchange)
        else row = { all: [exchange] }
        earlier.push(exchange)
        const [first] = row.all
        if (first === undefined || after === undefined || row.all.length <= MIN_ROW) return undefined
        if (mayExpire(row, earlier.slice(0, -row.all.length))) return undefined
        const from = rateOf(first)?.remaining ?? 0
        const refilled = Math.ceil(((exchange.receivedAt - first.sentAt) * after.limit) / MINUTE_MS)
        const sent = row.all.length - 1
        const minCost = sent - 1 - refilled
        if (minCost <= 0) return undefined
        return {
          violation:
            from - after.remaining >= minCost
              ? undefined
              : violation(
                  `Remaining at most ${from - minCost} after ${sent} more successful requests in a row, ${from} before`,
                  `${after.remaining}`
                )
        }
      }
    }
  }),
  overHistory({
    id: "history.admitted-while-remaining",
    law: "The per-minute limit does not deny a request if the previous response showed Remaining of one or more.",
    clauses: ["limits.remaining-truth", "limits.no-early-429"],
    begin: () => {
      let latest: Exchange | undefined
      // Requests that come too early after a denial may count toward a ban, which may be as short as a minute.
      const deniedAt = new Map<string, number>()
      return (exchange) => {
        const previous = latest
        latest = exchange
        const isAfterDenial =
          exchange.sentAt - (deniedAt.get(exchange.key) ?? Number.NEGATIVE_INFINITY) < DAY_MS
        if (exchange.response.status === 429) deniedAt.set(exchange.key, exchange.receivedAt)
        if (isAfterDenial) return undefined
        if (previous?.key !== exchange.key || previous.index !== exchange.index - 1) return undefined
        if (!isOfValidKey(exchange) || !exchange.isAlone || !previous.isAlone) return undefined
        const [before, after] = [rateOf(previous), rateOf(exchange)]
        if (before === undefined || after === undefined || before.limit !== after.limit) return undefined
        if (!isSuccess(previous) || before.remaining === 0) return undefined
        const wait = RateHeaders.retryAfterSeconds(exchange)
        // If Remaining is one or more, the denial is for another window than the one shown.
        const isOfMinute = after.remaining === 0 && wait !== undefined && wait <= MAX_MINUTE_WAIT_S
        return {
          violation:
            exchange.response.status === 429 && isOfMinute
              ? violation(
                  `a request admitted with ${before.remaining} remaining`,
                  "429 by the per-minute limit"
                )
              : undefined
        }
      }
    }
  }),
  overHistory({
    id: "history.limits-of-key",
    law: "The admitted requests of a key show at most two limits: its per-minute limit and its daily limit.",
    clauses: ["limits.plan-in-force"],
    begin: () => {
      const seen = new Map<string, Set<number>>()
      return (exchange) => {
        const rate = rateOf(exchange)
        if (rate === undefined || !isSuccess(exchange)) return undefined
        const limits = seen.get(exchange.key) ?? new Set()
        seen.set(exchange.key, limits)
        const isNew = !limits.has(rate.limit)
        const known = [...limits]
        limits.add(rate.limit)
        return {
          violation:
            isNew && known.length >= MAX_LIMITS
              ? violation(`Limit ${known.join(" or ")}, as before for this key`, `Limit ${rate.limit}`)
              : undefined
        }
      }
    }
  })
])
