/** Compares what responses show of limits and bans with the exact count (design of §8). */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { Outcome } from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import * as StandardRateLimit from "../http/StandardRateLimit.ts"
import { header, type WireResponse } from "../http/Wire.ts"
import { type Exchange, isBroken, kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Meter from "./Meter.ts"
import type { Caller } from "./Reading.ts"

/** The name of the bucket of requests without a valid key, which no key has. */
const NETWORK = ""

/** Stands for a caller with a wrong key, where the latest caller is remembered. */
const WRONG = "wrong key"

/** What is known of a caller. */
interface Account {
  /** `undefined` if it is no longer known what was counted. */
  readonly meter: Meter.Meter | undefined
  readonly latest?: { readonly exchange: Exchange; readonly verdict: Meter.Verdict }
}

export interface Limits {
  readonly accounts: ReadonlyMap<string, Account>
  /** Who sent the latest request: the name of a key, or a caller without a valid key. */
  readonly latest: string | undefined
}

export const none: Limits = { accounts: new Map(), latest: undefined }

type Responded = Seen["exchange"]

/** Returns what a response shows; HEAD shows no code, so that its denial is one of the kind that is expected. */
const outcomeOf = ({ request, response }: Responded, expected: Outcome = "limited"): Outcome => {
  if (response.status !== 429) return "admitted"
  if (request.method === "HEAD" && expected !== "admitted") return expected
  return ErrorBody.codeOf(response) === "api_key_banned" ? "banned" : "limited"
}

/** Returns a rank by which requests that were handled in the same millisecond can be sorted. */
export const rank = (exchange: Responded): number => {
  const remaining = RateHeaders.of(exchange.response)?.remaining ?? 0
  const wait = Number(header(exchange.response, "retry-after") ?? 0)
  return { admitted: -remaining, limited: 1e9 + wait, banned: 2e9 + wait }[outcomeOf(exchange)]
}

const nameOf = (caller: Caller): string | undefined =>
  caller.is === "key" ? caller.key.name : caller.is === "nobody" ? NETWORK : undefined

/** Returns what is still known after a request that may have been counted. */
export const afterLoss = (limits: Limits, caller: Caller): Limits => {
  const lost = caller.is === "unclear" ? [...limits.accounts.keys()] : [nameOf(caller) ?? NETWORK]
  const accounts = new Map(limits.accounts)
  for (const each of lost) accounts.set(each, { meter: undefined })
  return { accounts, latest: undefined }
}

const numberOf = (items: ReadonlyArray<StandardRateLimit.Item> | undefined, policy: string, letter: string) =>
  items?.find((item) => item.policy === policy)?.numbers.get(letter)

/** Returns the plan of a key, as declared or as its first response shows; others have the limits of Free. */
const planOf = (caller: Caller, response: WireResponse): Plan.Plan | undefined => {
  if (caller.is !== "key") return Plan.standard.Free
  const policies = StandardRateLimit.itemsOf(response, "RateLimit-Policy")
  const [perMinute, perDay] = [numberOf(policies, "minute", "q"), numberOf(policies, "day", "q")]
  const shown = perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay }
  return caller.key.plan ?? shown
}

/** Counts the next request of its caller, and judges its response; without a verdict, the count is not exact. */
export const judge = (
  limits: Limits,
  caller: Caller,
  exchange: Responded
): readonly [ReadonlyArray<Ruling>, Limits, Meter.Verdict | undefined] => {
  const name = nameOf(caller)
  const { latest: before, meter } = limits.accounts.get(name ?? "") ?? begin(caller, exchange)
  if (name === undefined || meter === undefined || exchange.from !== exchange.to) {
    return [[], afterLoss(limits, caller), undefined]
  }
  const [now, next] = Meter.step(meter, exchange.from)
  const between = limits.latest === name || before === undefined ? undefined : (limits.latest ?? NETWORK)
  const story = { exchange, now, before, meter, between }
  const outcome = ofOutcome(story)
  const shown = outcome.some(isBroken) ? [] : ofShown(story)
  const waits = outcome.some(isBroken) ? [] : [...ofWait(story), ...ofStandard(story)]
  // After a contradiction, it is not known what was counted.
  const isLost = [...outcome, ...shown].some(isBroken)
  const account = isLost ? { meter: undefined } : { meter: next, latest: { exchange, verdict: now } }
  const latest = caller.is === "nobody" && caller.hasCredential ? WRONG : name
  const accounts = new Map(limits.accounts).set(name, account)
  return [[...outcome, ...shown, ...waits], { accounts, latest }, now]
}

const begin = (caller: Caller, { from, response }: Responded): Account => {
  const plan = planOf(caller, response)
  return { meter: plan && Meter.make(plan, caller.is === "key", from) }
}

interface Story {
  readonly exchange: Responded
  readonly now: Meter.Verdict
  readonly before: Account["latest"]
  /** The count before the request. */
  readonly meter: Meter.Meter
  /** Who sent the latest request, if it was not the caller. */
  readonly between: string | undefined
}

const isOfDay = ({ day, limit }: Meter.Verdict): boolean => limit === day.limit

/** Returns the clause that decides how many requests are left now: what is special about the request before. */
const countedBy = ({ before, between, exchange, meter: { isKey }, now }: Story): ClauseSlug => {
  if (now.outcome === "limited" && !isKey) return "limits.anonymous-exhausted"
  if (now.outcome === "limited" && isOfDay(now)) return "limits.day-utc"
  const isOfNetwork = between === undefined || between === NETWORK || between === WRONG
  if (!isKey) return isOfNetwork ? "limits.anonymous" : "limits.anonymous-apart"
  if (!isOfNetwork) return "limits.counted-per-key"
  if (between !== undefined) return between === WRONG ? "limits.guesses-apart" : "limits.anonymous-apart"
  if (before === undefined) return "limits.bucket"
  if (before.verdict.outcome !== "admitted") return "limits.denied-costs-nothing"
  if ((before.exchange.response?.status ?? 0) >= 300) return "limits.every-request-costs"
  if (isOfDay(now)) return "limits.day-utc"
  return exchange.from > before.exchange.to ? "limits.bucket-refill" : "limits.bucket"
}

/** The decision of a request: admitted, limited or banned. */
const ofOutcome = (story: Story): ReadonlyArray<Ruling> => {
  const { exchange, meter, now } = story
  const actual = outcomeOf(exchange, now.outcome)
  const isWrongBan = actual === "banned" && now.outcome !== "banned"
  const isDenial = actual !== "admitted" && now.outcome !== "admitted"
  const ofKey = isWrongBan || isDenial || now.outcome === "banned" ? ofBan : countedBy
  const ofNetwork = isWrongBan ? "ban.anonymous-never" : countedBy(story)
  const clause = meter.isKey ? ofKey(story) : ofNetwork
  const shown = isWrongBan ? "a ban" : `${actual} (${exchange.response.status})`
  const decided = rule(actual === now.outcome, clause, `a request to be ${now.outcome}`, shown)
  // A network whose slots are used up would be banned if it were a key.
  const patient = !meter.isKey && now.denial === "too soon" ? "ban.anonymous-never" : patienceOf(story)
  const isPatient = patient !== undefined && now.outcome !== "banned" && !isWrongBan
  return isPatient ? [decided, kept(patient)] : [decided]
}

/** Returns the clause that decides whether a request meets a ban. */
const ofBan = (story: Story): ClauseSlug => {
  const { before, exchange, meter, now } = story
  switch (now.denial) {
    case "began ban":
      return "ban.rules"
    case "during ban":
      return "ban.answer"
    case "too soon":
      return "ban.strike-interval"
    case "strike": {
      const { strikes, strikesFrom } = meter.state
      const isLate = strikes > 0 && exchange.from - strikesFrom >= BanPolicy.standard.withinMs
      return isLate ? "ban.strikes-expire" : "ban.strike"
    }
    case "slot":
      return (
        patienceOf(story) ?? (before?.verdict.outcome === "limited" ? "ban.workers-never" : "ban.first-429")
      )
    case undefined:
      return patienceOf(story) ?? "ban.retry-after"
  }
}

/** Returns the clause about a client that waited after a denial, if the client did. */
const patienceOf = ({ before, exchange, meter, now }: Story): ClauseSlug | undefined => {
  if (!meter.isKey || before?.verdict.outcome !== "limited") return undefined
  const waited = exchange.from - before.exchange.to
  if (waited >= before.verdict.retryAfter * 1_000) return "ban.polite-never"
  if (isOfDay(now) && now.outcome === "limited" && meter.state.debt > 1) return "ban.day-workers-never"
  return waited >= 30_000 ? "ban.capped-wait-never" : undefined
}

/** The three headers of §8.3. */
const ofShown = (story: Story): ReadonlyArray<Ruling> => {
  const { exchange, meter, now } = story
  const isBan = now.outcome === "banned"
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined) return isBan ? [rule(false, "ban.headers", "three rate headers", "fewer")] : []
  const { limit, remaining, resetAt } = rate
  if (isBan) {
    const isRight = limit === now.limit && remaining === 0
    return [
      rule(isRight, "ban.headers", `Limit ${now.limit} and Remaining 0`, `${limit} and ${remaining}`),
      rule(resetAt === now.resetAt, ofBanEnd(story), `the end of the ban at ${now.resetAt}`, resetAt)
    ]
  }
  const isDenied = now.outcome === "limited"
  const ofWindow = isDenied ? "limits.window-shown-denied" : "limits.window-shown"
  if (limit !== now.limit) {
    return [rule(false, meter.isKey ? ofWindow : "limits.anonymous", `the limit ${now.limit}`, limit)]
  }
  const window = limit === now.minute.limit ? "minute" : "day"
  const isOther = remaining === now.day.remaining && window === "minute"
  const clause = isDenied ? ofWindow : isOther ? "limits.window-single" : countedBy(story)
  const found = [
    ...([ofWindow, "limits.remaining-floor", "limits.window-single"] as const).map(kept),
    rule(remaining === now.remaining, clause, `${now.remaining} of the ${window} remaining`, remaining)
  ]
  if (remaining !== now.remaining) return found
  const isMixed = Math.abs(resetAt - now.resetAt) > 61
  const ofMinute = isMixed ? "limits.window-single" : "limits.reset-full"
  const ofReset = window === "day" ? "limits.day-utc" : ofMinute
  const expected = `the ${window} full again at ${now.resetAt}`
  return [...found, rule(resetAt === now.resetAt, ofReset, expected, resetAt)]
}

/** Returns the clause that decides when a ban ends. */
const ofBanEnd = ({ exchange, meter: { state }, now: { denial } }: Story): ClauseSlug => {
  if (denial === "during ban") return "ban.unchanged-by-requests"
  const { bannedUntil, strikesFrom } = state
  const { cleanMs, withinMs } = BanPolicy.standard
  const isClean = exchange.from - strikesFrom < withinMs && strikesFrom - bannedUntil >= cleanMs
  return isClean && bannedUntil > 0 ? "ban.clean-day" : "ban.levels"
}

/** Retry-After (§8.4.2). */
const ofWait = ({ exchange, meter, now: { outcome, retryAfter } }: Story): ReadonlyArray<Ruling> => {
  if (outcome === "admitted") return []
  const actual = header(exchange.response, "retry-after")
  const ofSlot = meter.state.debt > 0 ? "limits.slots" : "limits.retry-after-exact"
  const clause = outcome === "banned" ? "ban.retry-after" : ofSlot
  return [rule(actual === String(retryAfter), clause, `Retry-After of ${retryAfter}`, actual)]
}

/** RateLimit and RateLimit-Policy, if sent. */
const ofStandard = ({ exchange: { response }, now }: Story): ReadonlyArray<Ruling> => {
  const policies = StandardRateLimit.itemsOf(response, "RateLimit-Policy")
  const states = StandardRateLimit.itemsOf(response, "RateLimit")
  if (policies === undefined || states === undefined || states.length === 0) return []
  const waits = now.outcome === "admitted" ? "limits.standard-more" : "limits.standard-wait"
  return (["minute", "day"] as const).flatMap((policy) => {
    const { limit, moreIn, remaining } = now[policy]
    const compare = (clause: ClauseSlug, letter: string, expected: number, actual: number | undefined) =>
      rule(actual === expected, clause, `${letter}=${expected} of the ${policy}`, actual)
    return [
      compare("limits.standard-remaining", "q", limit, numberOf(policies, policy, "q")),
      compare("limits.standard-remaining", "r", remaining, numberOf(states, policy, "r")),
      compare(waits, "t", moreIn, numberOf(states, policy, "t") ?? 0)
    ]
  })
}
