/** Compares what responses show of limits and bans with the count of the service (design of §8). */
import * as Arr from "effect/Array"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as DailyQuota from "../../core/limits/DailyQuota.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { Outcome, Verdict, Window } from "../../core/limits/RateLimit.ts"
import * as TokenBucket from "../../core/limits/TokenBucket.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isOfService } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import * as StandardRateLimit from "../http/StandardRateLimit.ts"
import { header, type WireResponse } from "../http/Wire.ts"
import { type Exchange, isBroken, kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import { show, span } from "../windows/Span.ts"
import * as Meter from "./Meter.ts"
import type { Caller } from "./Reading.ts"

/** The name of the bucket of requests without a valid key, which no key has. */
const NETWORK = ""

/** What is known of a caller. */
interface Account {
  /** `undefined` if it is not known what was counted. */
  readonly meter: Meter.Meter | undefined
  readonly latest?: { readonly exchange: Exchange; readonly verdict: Verdict }
}

export interface Limits {
  readonly accounts: ReadonlyMap<string, Account>
  /** Who sent the latest request. */
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

const numberOf = (items: ReadonlyArray<StandardRateLimit.Item> | undefined, policy: string, letter: string) =>
  items?.find((item) => item.policy === policy)?.numbers.get(letter)

const nameOf = (caller: Caller): string | undefined =>
  caller.is === "key" ? caller.key.name : caller.is === "nobody" ? NETWORK : undefined

/** Returns what is still known after a request that may have been counted. */
export const afterLoss = (limits: Limits, caller: Caller): Limits => {
  const lost = caller.is === "unclear" ? [...limits.accounts.keys()] : [nameOf(caller) ?? NETWORK]
  const accounts = new Map(limits.accounts)
  for (const each of lost) accounts.set(each, { meter: undefined })
  return { accounts, latest: undefined }
}

/** Returns the plan of a key, as declared or as its first response shows; others have the limits of Free. */
const planOf = (caller: Caller, response: WireResponse): Plan.Plan | undefined => {
  if (caller.is !== "key") return Plan.standard.Free
  const policies = StandardRateLimit.itemsOf(response, "RateLimit-Policy")
  const [perMinute, perDay] = [numberOf(policies, "minute", "q"), numberOf(policies, "day", "q")]
  const shown = perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay }
  return caller.key.plan ?? shown
}

/** Whether a request is the first one of its caller on a day that began so long ago that no strike counts any more. */
const isFirstOfDay = ({ perDay, perMinute }: Plan.Plan, { from, response, to }: Responded): boolean => {
  const states = StandardRateLimit.itemsOf(response, "RateLimit")
  const day = DailyQuota.dayOf(from - Meter.STRIKES_OVER_MS)
  return (
    to < DailyQuota.endOf(day) &&
    numberOf(states, "minute", "r") === perMinute - 1 &&
    numberOf(states, "day", "r") === perDay - 1
  )
}

/** Begins to count; keys of a server that is reached over a network may have been used before the run. */
const begin = (caller: Caller, exchange: Responded, isFirst: boolean): Meter.Meter | undefined => {
  const plan = planOf(caller, exchange.response)
  const isNew = isFirst && exchange.from === exchange.to
  return plan !== undefined && (isNew || isFirstOfDay(plan, exchange))
    ? Meter.make(plan, caller.is === "key", exchange, isNew)
    : undefined
}

/** Counts the next request of its caller, and judges its response; without a verdict, it is not known what was counted. */
export const judge = (
  limits: Limits,
  caller: Caller,
  exchange: Responded
): readonly [ReadonlyArray<Ruling>, Limits, Verdict | undefined] => {
  const name = nameOf(caller)
  const account = limits.accounts.get(name ?? "")
  const meter = account?.meter ?? begin(caller, exchange, account === undefined)
  const byService = isOfService(exchange)
  // The model judges the limits of requests that were in flight together.
  if (name === undefined || meter === undefined || !exchange.isAlone)
    return [[], afterLoss(limits, caller), undefined]
  const isShown = (outcome: Outcome) => outcomeOf(exchange, outcome) === outcome
  const all = Meter.branches(meter, exchange)
  // A response of the HTTP implementation does not show whether the request is over the limit.
  const hidden = byService ? [] : Meter.withOutcome(meter, all, (outcome) => !isShown(outcome))
  const agreeing = [...Meter.withOutcome(meter, all, isShown), ...hidden]
  const explaining = explainedBy(exchange, meter, agreeing)
  const [first] = agreeing.length > 0 ? explaining : all
  if (first === undefined) return [[], afterLoss(limits, caller), undefined]
  const { latest: before } = account ?? {}
  const story = { exchange, meter, before, isBetween: limits.latest !== name, first }
  const { verdict } = first
  // At another moment, the request would have had another outcome.
  const isOpen = agreeing.length > 0 && all.some((each) => !isShown(each.verdict.outcome))
  const outcome = isOpen || !byService ? [] : ofOutcome(story)
  const rulings = [...outcome, ...(agreeing.length > 0 ? ofNumbers(story, explaining) : [])]
  // After a contradiction, it is not known what was counted.
  const next = rulings.some(isBroken) ? undefined : Meter.after(meter, explaining)
  const accounts = new Map(limits.accounts).set(name, { meter: next, latest: { exchange, verdict } })
  return [rulings, { accounts, latest: name }, verdict]
}

/** Returns the branches that explain the numbers of a response; all of them if none does. */
const explainedBy = (
  exchange: Responded,
  meter: Meter.Meter,
  agreeing: ReadonlyArray<Meter.Branch>
): ReadonlyArray<Meter.Branch> => {
  const kinds = Arr.groupBy(agreeing, ({ next: { banLevel, day, debt, strikes, used } }) =>
    [banLevel, day, debt, strikes, used].join()
  )
  const explaining = Object.values(kinds).filter((all) => {
    const [first] = all
    const story = { exchange, meter, first, before: undefined, isBetween: false }
    return !ofNumbers(story, all).some(isBroken)
  })
  return explaining.length > 0 ? explaining.flat() : agreeing
}

interface Story {
  readonly exchange: Responded
  /** The count before the request. */
  readonly meter: Meter.Meter
  readonly before: Account["latest"]
  /** Whether another caller sent the latest request. */
  readonly isBetween: boolean
  /** What may have happened to the request; messages are about it. */
  readonly first: Meter.Branch
}

const isOfDay = ({ day, limit }: Verdict): boolean => limit === day.limit

/** Returns the clause that decides how many requests are left now: what is special about the request before. */
const countedBy = ({ before, first: { verdict }, isBetween, meter: { isKey } }: Story): ClauseSlug => {
  if (verdict.outcome === "limited" && !isKey) return "limits.anonymous-exhausted"
  if (verdict.outcome === "limited" && isOfDay(verdict)) return "limits.day-utc"
  if (before !== undefined && isBetween) return "limits.counted-per-key"
  if (!isKey) return "limits.anonymous"
  if (before === undefined) return "limits.bucket"
  if (before.verdict.outcome !== "admitted") return "limits.denied-costs-nothing"
  if ((before.exchange.response?.status ?? 0) >= 300) return "limits.every-request-costs"
  return isOfDay(verdict) ? "limits.day-utc" : "limits.bucket"
}

/** The decision of a request: admitted, limited or banned. */
const ofOutcome = (story: Story): ReadonlyArray<Ruling> => {
  const { exchange, first, meter } = story
  const { outcome } = first.verdict
  const actual = outcomeOf(exchange, outcome)
  const isWrongBan = actual === "banned" && outcome !== "banned"
  const isDenial = actual !== "admitted" && outcome !== "admitted"
  const ofKey = isWrongBan || isDenial || outcome === "banned" ? ofBan : countedBy
  const ofNetwork = isWrongBan ? "ban.anonymous-never" : countedBy(story)
  const clause = meter.isKey ? ofKey(story) : ofNetwork
  const shown = isWrongBan ? "a ban" : `${actual} (${exchange.response.status})`
  const decided = rule(actual === outcome, clause, `a request to be ${outcome}`, shown)
  if (isWrongBan || outcome === "banned") return [decided]
  if (isPatient(story)) return [decided, kept("ban.polite-never")]
  // A network that gets no slot would be banned if it were a key.
  const isWithoutSlot = outcome === "limited" && first.next.debt === first.before.debt
  return !meter.isKey && isWithoutSlot ? [decided, kept("ban.anonymous-never")] : [decided]
}

/** Returns the clause that decides whether a request meets a ban. */
const ofBan = (story: Story): ClauseSlug => {
  const { before, next, verdict } = story.first
  if (isPatient(story)) return "ban.polite-never"
  if (verdict.outcome === "admitted") return "ban.retry-after"
  return verdict.outcome === "banned" && next === before ? "ban.answer" : "ban.rules"
}

/** Longest wait that is asked of a client after a denial, in seconds: some wait no longer, whatever they are told. */
const MAX_WAIT = 30

/** Whether a client waited after a denial. */
const isPatient = ({ before, exchange, meter }: Story): boolean =>
  meter.isKey &&
  before?.verdict.outcome === "limited" &&
  exchange.from - before.exchange.to >= Math.min(before.verdict.retryAfter, MAX_WAIT) * 1_000

type Branches = ReadonlyArray<Meter.Branch>

/**
 * Compares a number that a response shows with what it would be in each branch. If these are far apart, the clause is
 * not decided unless it is broken.
 */
const compare = (
  branches: Branches,
  clause: ClauseSlug,
  what: string,
  actual: number | undefined,
  numberIn: (branch: Meter.Branch) => number
): ReadonlyArray<Ruling> => {
  const all = branches.map(numberIn)
  const expected = span(Math.min(...all), Math.max(...all))
  const isWithin = actual !== undefined && expected.lo <= actual && actual <= expected.hi
  if (isWithin && expected.hi - expected.lo > 1) return []
  return [rule(isWithin, clause, `${what} ${show(expected)}`, actual)]
}

/** All numbers that a response shows of limits. */
const ofNumbers = (story: Story, branches: Branches): ReadonlyArray<Ruling> => [
  ...ofShown(story, branches),
  ...ofWait(story, branches),
  ...ofStandard(story, branches)
]

/** The three headers of §8.3, up to the first that is wrong. */
const ofShown = (story: Story, branches: Branches): ReadonlyArray<Ruling> => {
  const { exchange, first, meter } = story
  const { minute, outcome } = first.verdict
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined) return []
  const isBan = outcome === "banned"
  const ofWindow = isBan ? "ban.headers" : "limits.window-shown"
  const ofLimit = meter.isKey ? ofWindow : "limits.anonymous"
  const limit = compare(branches, ofLimit, "X-RateLimit-Limit", rate.limit, ({ verdict }) => verdict.limit)
  if (limit.some(isBroken)) return limit
  const window = rate.limit === minute.limit ? "minute" : "day"
  const isAdmitted = outcome === "admitted"
  const remaining = compare(
    branches,
    isAdmitted ? countedBy(story) : ofWindow,
    `X-RateLimit-Remaining of the ${window}`,
    rate.remaining,
    ({ verdict }) => (isAdmitted ? verdict[window].remaining : 0)
  )
  const shown = [kept(ofWindow), ...remaining]
  if (remaining.some(isBroken)) return shown
  const ofReset = window === "day" ? "limits.day-utc" : "limits.reset-full"
  const reset = compare(
    branches,
    isBan ? ofBanEnd(first) : ofReset,
    `X-RateLimit-Reset of the ${isBan ? "ban" : window}`,
    rate.resetAt,
    (branch) => resetIn(window, branch, meter.plan)
  )
  return [...shown, ...reset]
}

/** Returns the X-RateLimit-Reset of a window, or of a ban. */
const resetIn = (
  window: "minute" | "day",
  { next, verdict: { outcome, resetAt } }: Meter.Branch,
  { perMinute }: Plan.Plan
): number => {
  if (outcome === "banned") return resetAt
  const full = TokenBucket.reaches(next.level, next.at, TokenBucket.capacity(perMinute), perMinute)
  return Math.ceil((window === "day" ? DailyQuota.endOf(next.day) : full) / 1_000)
}

/** Returns the clause that decides when a ban ends. */
const ofBanEnd = ({ before, next, now }: Meter.Branch): ClauseSlug => {
  if (next === before) return "ban.unchanged-by-requests"
  const { bannedUntil, strikesFrom } = before
  const { cleanMs, withinMs } = BanPolicy.standard
  const isClean = now - strikesFrom < withinMs && strikesFrom - bannedUntil >= cleanMs
  return isClean && bannedUntil > 0 ? "ban.clean-day" : "ban.levels"
}

/** Retry-After (§8.4.2). */
const ofWait = ({ exchange, first: { verdict } }: Story, branches: Branches): ReadonlyArray<Ruling> => {
  if (verdict.outcome === "admitted" || exchange.response.status !== 429) return []
  const clause = verdict.outcome === "banned" ? "ban.retry-after" : "limits.retry-after-exact"
  const actual = Number(header(exchange.response, "retry-after") ?? Number.NaN)
  return compare(branches, clause, "Retry-After", actual, (branch) => branch.verdict.retryAfter)
}

/** RateLimit and RateLimit-Policy, if sent. */
const ofStandard = ({ exchange: { response } }: Story, branches: Branches): ReadonlyArray<Ruling> => {
  const policies = StandardRateLimit.itemsOf(response, "RateLimit-Policy")
  const states = StandardRateLimit.itemsOf(response, "RateLimit")
  if (policies === undefined || states === undefined || states.length === 0) return []
  return (["minute", "day"] as const).flatMap((policy) => {
    const compareIn = (clause: ClauseSlug, letter: string, name: keyof Window, actual: number | undefined) =>
      compare(branches, clause, `${letter} of the ${policy}`, actual, ({ verdict }) => verdict[policy][name])
    const isWholeOpen = new Set(branches.map((branch) => branch.verdict[policy].remaining)).size > 1
    return [
      ...compareIn("limits.standard-remaining", "q", "limit", numberOf(policies, policy, "q")),
      ...compareIn("limits.standard-remaining", "r", "remaining", numberOf(states, policy, "r")),
      // Whenever a request is added, `t` begins anew.
      ...(isWholeOpen
        ? []
        : compareIn("limits.standard-wait", "t", "moreIn", numberOf(states, policy, "t") ?? 0))
    ]
  })
}
