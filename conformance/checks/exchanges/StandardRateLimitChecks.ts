/** Laws about the header fields `RateLimit` and `RateLimit-Policy`, in the responses that have them. */
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import * as StandardRateLimit from "../../http/StandardRateLimit.ts"
import type { AmbientCheck } from "../AmbientCheck.ts"
import { isOfValidKey, ofLevel, rateOf, received, unless, violation } from "./ExchangeLaws.ts"

const limitsOf = ({ response }: Exchange): ReadonlyArray<StandardRateLimit.Item> =>
  StandardRateLimit.itemsOf(response, "RateLimit") ?? []

const policiesOf = ({ response }: Exchange): ReadonlyArray<StandardRateLimit.Item> =>
  StandardRateLimit.itemsOf(response, "RateLimit-Policy") ?? []

/** Returns the parameters of each window in RateLimit. */
const numbersByPolicy = (exchange: Exchange): ReadonlyMap<string, StandardRateLimit.Item["numbers"]> =>
  new Map(limitsOf(exchange).map(({ numbers, policy }) => [policy, numbers]))

const isAtLeast = (value: number | undefined, min: number): boolean => value !== undefined && value >= min

const wellFormed = {
  RateLimit: ({ numbers }: StandardRateLimit.Item) =>
    isAtLeast(numbers.get("r"), 0) && isAtLeast(numbers.get("t") ?? 0, 0),
  "RateLimit-Policy": ({ numbers }: StandardRateLimit.Item) =>
    isAtLeast(numbers.get("q"), 0) && isAtLeast(numbers.get("w") ?? 1, 1)
}

const show = (policy: string, parameter: string, value: number | undefined): string =>
  `"${policy}";${parameter}=${value}`

const SECOND_MS = 1_000

/** Tolerance in ms for the times of two exchanges, which may be derived from `Date`. */
const SLACK_MS = 2_000

/** Whether two exchanges of a key are successes, one directly after the other. */
const areConsecutiveSuccesses = (previous: Exchange | undefined, next: Exchange): previous is Exchange =>
  previous?.index === next.index - 1 &&
  isOfValidKey(next) &&
  next.response.status < 300 &&
  previous.response.status < 300

// A response without the fields also satisfies these laws, because the fields are optional.
export const checks: ReadonlyArray<AmbientCheck> = ofLevel("design", [
  {
    id: "every.ratelimit-syntax",
    law: "RateLimit and RateLimit-Policy are lists of policies with whole numbers: r and t, or q and w.",
    clauses: ["limits.standard-syntax"],
    isAbout: () => true,
    examine: (exchange) => {
      for (const name of ["RateLimit", "RateLimit-Policy"] as const) {
        const items = StandardRateLimit.itemsOf(exchange.response, name)
        if (items?.every(wellFormed[name]) !== true) {
          return violation(`${name} as a list of policies with whole numbers`, received(exchange, name))
        }
      }
      const known = new Set(policiesOf(exchange).map(({ policy }) => policy))
      const unknown = limitsOf(exchange).find(({ policy }) => known.size > 0 && !known.has(policy))
      return unless(
        unknown === undefined,
        "a RateLimit-Policy for each item of RateLimit",
        `none for "${unknown?.policy}"`
      )
    }
  },
  {
    id: "every.ratelimit-remaining",
    law: "RateLimit shows the window of the X-RateLimit headers with the same numbers, and no window with less remaining.",
    clauses: ["limits.standard-remaining"],
    isAbout: () => true,
    examine: (exchange) => {
      const limits = limitsOf(exchange)
      const shown = rateOf(exchange)
      if (limits.length === 0 || shown === undefined) return undefined
      const min = Math.min(...limits.map(({ numbers }) => numbers.get("r") ?? 0))
      if (min !== shown.remaining) {
        return violation(`a minimum of r=${shown.remaining}, as X-RateLimit-Remaining`, `r=${min}`)
      }
      const quotas = policiesOf(exchange)
      if (quotas.length === 0) return undefined
      const isShown = limits.some(
        ({ numbers, policy }) =>
          numbers.get("r") === shown.remaining &&
          quotas.some((quota) => quota.policy === policy && quota.numbers.get("q") === shown.limit)
      )
      return unless(
        isShown,
        `a policy with q=${shown.limit} and r=${shown.remaining}, as in the X-RateLimit headers`,
        `${received(exchange, "RateLimit-Policy")}; ${received(exchange, "RateLimit")}`
      )
    }
  },
  {
    id: "every.ratelimit-falls-by-one",
    law: "Between two consecutive successes of a key, r of each policy falls by at most one.",
    clauses: ["limits.standard-remaining"],
    isAbout: () => true,
    examine: (exchange, previous) => {
      if (!areConsecutiveSuccesses(previous, exchange)) return undefined
      const before = numbersByPolicy(previous)
      for (const { numbers, policy } of limitsOf(exchange)) {
        const left = numbers.get("r") ?? 0
        const min = (before.get(policy)?.get("r") ?? 0) - 1
        if (left < min) return violation(`${show(policy, "r", min)} at least`, show(policy, "r", left))
      }
      return undefined
    }
  },
  {
    id: "every.ratelimit-costs-one",
    law: "Until t of a window in RateLimit has passed, each success of a key lowers r by one.",
    clauses: ["limits.standard-more"],
    isAbout: () => true,
    examine: (exchange, previous) => {
      if (!areConsecutiveSuccesses(previous, exchange)) return undefined
      const maxElapsed = exchange.receivedAt - previous.sentAt
      const before = numbersByPolicy(previous)
      for (const { numbers, policy } of limitsOf(exchange)) {
        const [left, until] = [before.get(policy)?.get("r") ?? 0, before.get(policy)?.get("t") ?? 0]
        // `t` is rounded up by at most one second.
        const isUnchanged = maxElapsed < (until - 1) * SECOND_MS - SLACK_MS
        const now = numbers.get("r") ?? 0
        if (isUnchanged && left > 0 && now >= left) {
          return violation(
            `${show(policy, "r", left - 1)}, one less than before`,
            `${show(policy, "r", now)}, although ${show(policy, "t", until)} of the previous response has not passed`
          )
        }
      }
      return undefined
    }
  },
  {
    id: "every.ratelimit-more",
    law: "Once t of a window in RateLimit has passed, the window has one more request.",
    clauses: ["limits.standard-more"],
    isAbout: () => true,
    examine: (exchange, previous) => {
      if (!areConsecutiveSuccesses(previous, exchange)) return undefined
      const minElapsed = exchange.sentAt - previous.receivedAt
      const before = numbersByPolicy(previous)
      for (const { numbers, policy } of limitsOf(exchange)) {
        const [left, until] = [before.get(policy)?.get("r") ?? 0, before.get(policy)?.get("t")]
        if (until === undefined || minElapsed < until * SECOND_MS + SLACK_MS) continue
        const now = numbers.get("r") ?? 0
        // One more than before, minus one for this request.
        if (now < left) {
          return violation(
            `${show(policy, "r", left)} at least, ${Math.floor(minElapsed / SECOND_MS)} s after ${show(policy, "t", until)}`,
            show(policy, "r", now)
          )
        }
      }
      return undefined
    }
  },
  {
    id: "every.ratelimit-wait",
    law: "In RateLimit, t of an exhausted window is at most Retry-After; without Retry-After, t is at most the window.",
    clauses: ["limits.standard-wait"],
    isAbout: () => true,
    examine: (exchange) => {
      const wait = RateHeaders.retryAfterSeconds(exchange)
      const windows = new Map(policiesOf(exchange).map(({ numbers, policy }) => [policy, numbers.get("w")]))
      for (const { numbers, policy } of limitsOf(exchange)) {
        const until = numbers.get("t") ?? 0
        const isExhausted = numbers.get("r") === 0
        const max = wait === undefined ? windows.get(policy) : isExhausted ? wait : undefined
        if (max !== undefined && until > max) {
          return violation(`${show(policy, "t", max)} at most`, show(policy, "t", until))
        }
      }
      return undefined
    }
  }
])
