import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitHeaders from "../../core/service/RateLimitHeaders.ts"
import * as Wire from "../http/Wire.ts"
import type { Exchange, Setup } from "../model/Exchange.ts"
import * as Design from "./Design.ts"

const SECRET = "Secret-0123456789"
const plans = { key: { perMinute: 5, perDay: 60 }, network: Plan.standard.Free }
const bans = { key: BanPolicy.standard, network: undefined }

const setup: Setup = {
  basePath: "/v1",
  categories: "any",
  keys: [{ name: "tiny", secret: SECRET, plan: plans.key, isValid: true }]
}

type Kind = "list" | "guess" | "malformed"

/** Requests in flight at the same time, which the service handles at one moment. */
interface Group {
  readonly pauseMs: number
  readonly requests: ReadonlyArray<Kind>
}

const kind = fc.constantFrom<Kind>("list", "guess", "malformed")

const upTo = (...all: ReadonlyArray<number>) => fc.oneof(...all.map((max) => fc.integer({ min: 0, max })))

const DAY_MS = 86_400_000

const together: fc.Arbitrary<Group> = fc.record({
  pauseMs: upTo(0, 50, 2_000, 70_000, 2 * DAY_MS),
  requests: fc.oneof(
    fc.tuple(kind),
    fc.array(kind, { maxLength: 8 }),
    fc.array(kind, { maxLength: 70, size: "max" })
  )
})

/** Requests one after the other, enough to exhaust a minute, or at the same time. */
const groups: fc.Arbitrary<ReadonlyArray<Group>> = fc
  .array(
    fc
      .tuple(together, upTo(0, 12, 65))
      .map(([group, more]) => [
        group,
        ...Array.from({ length: more }, () => ({ pauseMs: 5, requests: group.requests.slice(0, 1) }))
      ]),
    { minLength: 1, maxLength: 12, size: "max" }
  )
  .map((all) => all.flat())

const pairs = (flat: ReadonlyArray<string>): ReadonlyArray<Wire.Header> =>
  flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""] as const] : []))

type Rejection = readonly [status: number, code: string]

const rejections: { readonly [kind in Kind]: Rejection | undefined } = {
  list: undefined,
  guess: [401, "invalid_api_key"],
  malformed: [400, "malformed_request"]
}

const denials: { readonly [outcome in RateLimit.Outcome]: Rejection | undefined } = {
  admitted: undefined,
  limited: [429, "rate_limit_exceeded"],
  banned: [429, "api_key_banned"]
}

/** Returns what our service responds: bytes that are no HTTP request count for the network, and are never denied. */
const responseOf = (kind: Kind, verdict: RateLimit.Verdict): Wire.WireResponse => {
  const [status, code] = (kind === "malformed" ? undefined : denials[verdict.outcome]) ??
    rejections[kind] ?? [200]
  const wait = status === 429 ? ["Retry-After", String(verdict.retryAfter)] : []
  return {
    status,
    headers: pairs([...RateLimitHeaders.of(verdict, true), ...wait]),
    body: Wire.bytes(code === undefined ? "[]" : JSON.stringify({ code, message: "No.", status }))
  }
}

/** Sends the groups to the limits of the service. */
const record = (groups: ReadonlyArray<Group>, start: number): ReadonlyArray<ReadonlyArray<Exchange>> => {
  const states = new Map<string, RateLimit.State>()
  let [now, index] = [start, 0]
  return groups.map(({ pauseMs, requests }) => {
    now += pauseMs
    const handled = requests.map((kind): Exchange => {
      const caller = kind === "list" ? "key" : "network"
      const policy = { plan: plans[caller], ban: bans[caller] }
      const [verdict, next] = RateLimit.step(states.get(caller), now, policy)
      states.set(caller, next)
      return {
        index: index++,
        did: kind,
        request: {
          method: kind === "malformed" ? "FOO" : "GET",
          target: "/v1/pets",
          headers: [["Authorization", kind === "guess" ? "Bearer guess" : `Bearer ${SECRET}`]],
          body: undefined
        },
        response: responseOf(kind, verdict),
        from: now,
        to: now,
        isAlone: requests.length === 1
      }
    })
    // Responses need not arrive in the order in which the service handled the requests.
    return handled.toSorted((a, b) => String(a.index).localeCompare(String(b.index)))
  })
}

const judge = (groups: ReadonlyArray<ReadonlyArray<Exchange>>) => {
  let known = Design.begin(setup)
  return groups.flatMap((exchanges) => {
    const judged = Design.judge(known, exchanges)
    known = judged.known
    return judged.violations
      .filter(({ clause }) => /^(?:limits|ban)\./.test(clause))
      .map(
        ({ actual, clause, evidence, expected }) =>
          `${evidence.at(-1)?.index} ${clause}: ${expected}, not ${actual}`
      )
  })
}

const single = (kind: Kind, pauseMs = 5): Group => ({ pauseMs, requests: [kind] })

/** Exhausts the minute of a network, so that a malformed request gets 400 although it is over the limit. */
const malformed = [
  ...Array.from({ length: 60 }, () => single("guess")),
  single("malformed"),
  single("guess", 61_000)
]

describe("Design.judge", () => {
  it("finds no limit of our service broken, whatever is sent alone or at the same time", () => {
    const property = fc.property(groups, fc.integer({ min: 0, max: DAY_MS }), (drawn, start) => {
      expect(judge(record(drawn, Date.parse("2027-03-04T00:00:00Z") + start))).toEqual([])
    })
    // Shrinking hundreds of requests would take minutes.
    fc.assert(property, { numRuns: 50, endOnFailure: true, examples: [[malformed, 600]] })
  })
})
