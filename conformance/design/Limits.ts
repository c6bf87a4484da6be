/** Compares what responses show of limits and bans with the exact count (design of §8). */
import type { Plan } from "../../core/limits/Plan.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import * as StandardRateLimit from "../http/StandardRateLimit.ts"
import { header, type WireResponse } from "../http/Wire.ts"
import { type Exchange, kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Meter from "./Meter.ts"
import type { Caller } from "./Reading.ts"

/** The name of the bucket of requests without a valid key, which no key has. */
const NETWORK = ""

/** Stands for a caller with a wrong key, where the latest caller is remembered. */
const WRONG = "wrong key"

const unknown: Account = { meter: undefined }

/** The limits of callers without a valid key: those of the plan Free. */
const FREE: Plan = { perMinute: 60, perDay: 1_000 }

/** What is known of a caller. */
interface Account {
  /** `undefined` if it is no longer known what was counted. */
  readonly meter: Meter.Meter | undefined
  readonly latest?: { readonly exchange: Exchange; readonly verdict: Meter.Verdict } | undefined
}

export interface Limits {
  readonly accounts: ReadonlyMap<string, Account>
  /** Who sent the latest request: the name of a key, or a caller without a valid key. */
  readonly latest: string | undefined
}

export const none: Limits = { accounts: new Map(), latest: undefined }

type Responded = Seen["exchange"]

/** Returns whether a response is an admission, a denial by a limit or by a ban; with HEAD, any denial is as expected. */
const outcomeOf = (
  { request, response }: Responded,
  expected: Meter.Verdict["outcome"] = "limited"
): Meter.Verdict["outcome"] =>
  response.status !== 429
    ? "admitted"
    : request.method === "HEAD" && expected !== "admitted"
      ? expected
      : ErrorBody.codeOf(response) === "api_key_banned"
        ? "banned"
        : "limited"

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
  const name = nameOf(caller)
  const lost = caller.is === "unclear" ? [...limits.accounts.keys()] : [name ?? NETWORK]
  const accounts = new Map(limits.accounts)
  for (const each of lost) accounts.set(each, unknown)
  return { accounts, latest: undefined }
}

/** Returns the plan of a key, as declared or as its first response shows. */
const planOf = (caller: Caller, response: WireResponse): Plan | undefined => {
  if (caller.is !== "key") return FREE
  if (caller.key.plan !== undefined) return caller.key.plan
  const quota = (policy: string) =>
    StandardRateLimit.itemsOf(response, "RateLimit-Policy")
      ?.find((item) => item.policy === policy)
      ?.numbers.get("q")
  const [perMinute, perDay] = [quota("minute"), quota("day")]
  return perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay }
}

/** What the count says of a request; `verdict` is `undefined` if it is not known exactly. */
export interface Judged {
  readonly rulings: ReadonlyArray<Ruling>
  readonly limits: Limits
  readonly verdict: Meter.Verdict | undefined
}

/** Counts the next request of its caller, and judges what its response shows of the limits. */
export const judge = (limits: Limits, caller: Caller, exchange: Responded): Judged => {
  const name = nameOf(caller)
  const account =
    name === undefined ? undefined : (limits.accounts.get(name) ?? begin(caller, exchange.response))
  if (name === undefined || account?.meter === undefined || exchange.from !== exchange.to) {
    return { rulings: [], limits: afterLoss(limits, caller), verdict: undefined }
  }
  const { latest, meter } = account
  const [verdict, next] = Meter.step(meter, exchange.from)
  const story: Story = {
    exchange,
    isKey: caller.is === "key",
    now: verdict,
    before: latest,
    meter,
    between: limits.latest === name || latest === undefined ? undefined : (limits.latest ?? NETWORK)
  }
  const outcome = ofOutcome(story)
  const isRight = areKept(outcome)
  const shown = isRight ? ofShown(story) : []
  const waits = isRight ? [...ofWait(story), ...ofStandard(story)] : []
  // After a contradiction, it is not known what was counted.
  const counted = isRight && areKept(shown) ? { meter: next, latest: { exchange, verdict } } : unknown
  const who = caller.is === "nobody" && caller.hasCredential ? WRONG : name
  return {
    rulings: [...outcome, ...shown, ...waits],
    limits: { accounts: new Map(limits.accounts).set(name, counted), latest: who },
    verdict
  }
}

const areKept = (rulings: ReadonlyArray<Ruling>): boolean =>
  rulings.every(({ broken }) => broken === undefined)

const begin = (caller: Caller, response: WireResponse): Account => {
  const plan = planOf(caller, response)
  return { meter: plan && Meter.make(plan, caller.is === "key") }
}

interface Story {
  readonly exchange: Responded
  readonly isKey: boolean
  readonly now: Meter.Verdict
  readonly before: Account["latest"]
  /** The count before the request. */
  readonly meter: Meter.Meter
  /** Who sent the latest request, if it was not the caller. */
  readonly between: string | undefined
}

/** Returns the clause that decides how many requests are left now: what is special about the request before. */
const countedBy = ({ before, between, exchange, isKey, now }: Story): ClauseSlug => {
  if (now.outcome === "limited") {
    if (!isKey) return "limits.anonymous-exhausted"
    if (now.limit === now.day.limit) return "limits.day-utc"
  }
  const isOfNetwork = between === undefined || between === NETWORK || between === WRONG
  if (!isKey) return isOfNetwork ? "limits.anonymous" : "limits.anonymous-apart"
  if (!isOfNetwork) return "limits.counted-per-key"
  if (between !== undefined) return between === WRONG ? "limits.guesses-apart" : "limits.anonymous-apart"
  if (before === undefined) return "limits.bucket"
  const { response } = before.exchange
  if (before.verdict.outcome !== "admitted") return "limits.denied-costs-nothing"
  if (response !== undefined && response.status >= 300) return "limits.every-request-costs"
  if (now.limit === now.day.limit) return "limits.day-utc"
  return exchange.from > before.exchange.to ? "limits.bucket-refill" : "limits.bucket"
}

const DAY_MS = 86_400_000

/** The decision of a request: admitted, limited or banned. */
const ofOutcome = (story: Story): ReadonlyArray<Ruling> => {
  const { exchange, isKey, now } = story
  const actual = outcomeOf(exchange, now.outcome)
  const { status } = exchange.response
  if (actual === "banned" && now.outcome !== "banned") {
    const clause = isKey ? ofBan(story) : "ban.anonymous-never"
    return [rule(false, clause, `a request to be ${now.outcome}`, "a ban")]
  }
  const isOver = actual === "admitted" || !isKey
  const clause =
    now.outcome === "admitted" || (now.outcome === "limited" && isOver) ? countedBy(story) : ofBan(story)
  // A network whose slots are used up would be banned if it were a key.
  const isStruck = !isKey && now.denial === "too soon"
  const patient = isStruck ? "ban.anonymous-never" : patienceOf(story)
  return [
    rule(actual === now.outcome, clause, `a request to be ${now.outcome}`, `${actual} (${status})`),
    ...(patient === undefined || now.outcome === "banned" ? [] : [kept(patient)])
  ]
}

/** Returns the clause that decides whether a request meets a ban. */
const ofBan = (story: Story): ClauseSlug => {
  const { exchange, meter } = story
  const { denial, outcome } = story.now
  if (outcome === "banned") return denial === "ban" ? "ban.rules" : "ban.answer"
  if (denial === "too soon") return "ban.strike-interval"
  if (denial === "strike") {
    const isLate = exchange.from - meter.strikesFrom >= 300_000 && meter.strikes > 0
    return isLate ? "ban.strikes-expire" : "ban.strike"
  }
  const usual = story.before?.verdict.outcome === "limited" ? "ban.workers-never" : "ban.first-429"
  return patienceOf(story) ?? (outcome === "admitted" ? "ban.retry-after" : usual)
}

/** Returns the clause about a client that waited after a denial, if the client did. */
const patienceOf = ({ before, exchange, isKey, meter, now }: Story): ClauseSlug | undefined => {
  if (!isKey || before?.verdict.outcome !== "limited") return undefined
  const waited = exchange.from - before.exchange.to
  if (waited >= before.verdict.retryAfter * 1_000) return "ban.polite-never"
  const isOfDay = now.limit === now.day.limit && now.outcome === "limited"
  if (isOfDay && meter.slots > 1) return "ban.day-workers-never"
  return waited >= 30_000 ? "ban.capped-wait-never" : undefined
}

/** The three headers of §8.3. */
const ofShown = (story: Story): ReadonlyArray<Ruling> => {
  const { exchange, isKey, now } = story
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined)
    return now.outcome === "banned" ? [rule(false, "ban.headers", "three rate headers", "fewer")] : []
  const { limit, remaining, resetAt } = rate
  if (now.outcome === "banned") {
    const isRight = limit === now.limit && remaining === 0
    return [
      rule(isRight, "ban.headers", `Limit ${now.limit} and Remaining 0`, `${limit} and ${remaining}`),
      rule(resetAt === now.resetAt, ofBanEnd(story), `the end of the ban at ${now.resetAt}`, resetAt)
    ]
  }
  const isDenied = now.outcome === "limited"
  const ofWindow = isDenied ? "limits.window-shown-denied" : "limits.window-shown"
  if (limit !== now.limit) {
    return [rule(false, isKey ? ofWindow : "limits.anonymous", `the limit ${now.limit}`, limit)]
  }
  const window = now.limit === now.minute.limit ? "minute" : "day"
  const isOther = remaining === now.day.remaining && window === "minute"
  const clause = isDenied ? ofWindow : isOther ? "limits.window-single" : countedBy(story)
  const found = [
    ...([ofWindow, "limits.remaining-floor", "limits.window-single"] as const).map(kept),
    rule(remaining === now.remaining, clause, `${now.remaining} of the ${window} remaining`, remaining)
  ]
  if (remaining !== now.remaining) return found
  const isMixed = Math.abs(resetAt - now.resetAt) > 61 && window === "minute"
  const expected = `the ${window} full again at ${now.resetAt}`
  const ofReset = window === "day" ? "limits.day-utc" : isMixed ? "limits.window-single" : "limits.reset-full"
  return [...found, rule(resetAt === now.resetAt, ofReset, expected, resetAt)]
}

/** Returns the clause that decides when a ban ends. */
const ofBanEnd = ({ exchange, meter, now: { denial } }: Story): ClauseSlug => {
  if (denial !== "ban") return "ban.unchanged-by-requests"
  const isClean =
    exchange.from - meter.strikesFrom < 300_000 && meter.strikesFrom - meter.bannedUntil >= DAY_MS
  return isClean && Number.isFinite(meter.bannedUntil) ? "ban.clean-day" : "ban.levels"
}

/** Retry-After (§8.4.2). */
const ofWait = ({ exchange, meter, now: { outcome, retryAfter } }: Story): ReadonlyArray<Ruling> => {
  if (outcome === "admitted") return []
  const actual = header(exchange.response, "retry-after")
  const ofSlot = meter.slots > 0 ? "limits.slots" : "limits.retry-after-exact"
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
    const { limit, more, remaining } = now[policy]
    const read = (items: typeof policies, letter: string) =>
      items.find((item) => item.policy === policy)?.numbers.get(letter)
    const compare = (clause: ClauseSlug, letter: string, expected: number, actual: number | undefined) =>
      rule(actual === expected, clause, `${letter}=${expected} of the ${policy}`, actual)
    return [
      compare("limits.standard-remaining", "q", limit, read(policies, "q")),
      compare("limits.standard-remaining", "r", remaining, read(states, "r")),
      compare(waits, "t", more, read(states, "t") ?? 0)
    ]
  })
}
