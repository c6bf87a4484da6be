/**
 * Counts the requests of each caller by the step of the service, and compares what the responses show of limits and bans
 * with its verdicts (design of §8). It counts a caller that is new, as long as the time of each request is known to the
 * millisecond.
 */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isOfService } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { header } from "../http/Wire.ts"
import { isBroken, kept, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import type { Caller } from "./Reading.ts"

/** The name of the bucket of requests without a valid key, which no key has. */
const NETWORK = ""

/** What is known of a caller. */
interface Account {
  /** `undefined` if it is not known what was counted. */
  readonly state: RateLimit.State | undefined
  readonly latest?: { readonly exchange: Responded; readonly verdict: RateLimit.Verdict }
}

export interface Limits {
  readonly accounts: ReadonlyMap<string, Account>
  /** Who sent the latest request. */
  readonly latest: string | undefined
}

export const none: Limits = { accounts: new Map(), latest: undefined }

type Responded = Seen["exchange"]

/** Returns what a response shows; HEAD shows no code, so that its denial is one of the kind that is expected. */
const outcomeOf = ({ request, response }: Responded, expected: RateLimit.Outcome): RateLimit.Outcome => {
  if (response.status !== 429) return "admitted"
  if (request.method === "HEAD" && expected !== "admitted") return expected
  return ErrorBody.codeOf(response) === "api_key_banned" ? "banned" : "limited"
}

const nameOf = (caller: Caller): string | undefined =>
  caller.is === "key" ? caller.key.name : caller.is === "nobody" ? NETWORK : undefined

/** Returns what is still known after a request that may have been counted. */
export const afterLoss = (limits: Limits, caller: Caller): Limits => {
  const lost = caller.is === "unclear" ? [...limits.accounts.keys()] : [nameOf(caller) ?? NETWORK]
  const accounts = new Map(limits.accounts)
  for (const each of lost) accounts.set(each, { state: undefined })
  return { accounts, latest: undefined }
}

/** Counts the next request of its caller, and judges its response; without a verdict, it is not known what was counted. */
export const judge = (
  limits: Limits,
  caller: Caller,
  exchange: Responded
): readonly [ReadonlyArray<Ruling>, Limits, RateLimit.Verdict | undefined] => {
  const name = nameOf(caller)
  const isKey = caller.is === "key"
  const plan = isKey ? caller.key.plan : Plan.standard.Free
  const { from: now, to } = exchange
  if (name === undefined || plan === undefined || now !== to)
    return [[], afterLoss(limits, caller), undefined]
  const account = limits.accounts.get(name) ?? { state: RateLimit.initial(now, plan) }
  const { latest: last, state: before } = account
  if (before === undefined) return [[], afterLoss(limits, caller), undefined]
  const [verdict, next] = RateLimit.step(before, now, { plan, ban: isKey ? BanPolicy.standard : undefined })
  const story = { exchange, isKey, last, isBetween: limits.latest !== name, before, verdict, next }
  const counted = (state: RateLimit.State | undefined): Limits => ({
    accounts: new Map(limits.accounts).set(name, { state, latest: { exchange, verdict } }),
    latest: name
  })
  // The model judges the limits of requests that were in flight together; their order makes no difference afterwards.
  if (!exchange.isAlone) return [[], counted(next), undefined]
  // A response of the HTTP implementation does not show whether the request is over the limit.
  const outcome = isOfService(exchange) ? ofOutcome(story) : []
  const numbers = outcome.some(isBroken) ? [] : [...ofShown(story), ...ofWait(story)]
  const rulings = [...outcome, ...numbers]
  // After a contradiction, it is not known what was counted.
  return [rulings, counted(rulings.some(isBroken) ? undefined : next), verdict]
}

/** A request, what happened before, and what the service decides. */
interface Story {
  readonly exchange: Responded
  /** Whether the caller is a key, which can be banned. */
  readonly isKey: boolean
  /** The caller's request before this one. */
  readonly last: Account["latest"]
  /** Whether another caller sent the latest request. */
  readonly isBetween: boolean
  readonly before: RateLimit.State
  readonly verdict: RateLimit.Verdict
  readonly next: RateLimit.State
}

const isOfDay = ({ day, limit }: RateLimit.Verdict): boolean => limit === day.limit

/** Returns the clause that decides how many requests are left now: what is special about the request before. */
const countedBy = ({ isBetween, isKey, last, verdict }: Story): ClauseSlug => {
  if (verdict.outcome === "limited" && !isKey) return "limits.anonymous-exhausted"
  if (verdict.outcome === "limited" && isOfDay(verdict)) return "limits.day-utc"
  if (last !== undefined && isBetween) return "limits.counted-per-key"
  if (!isKey) return "limits.anonymous"
  if (last === undefined) return "limits.bucket"
  if (last.verdict.outcome !== "admitted") return "limits.denied-costs-nothing"
  if (last.exchange.response.status >= 300) return "limits.every-request-costs"
  return isOfDay(verdict) ? "limits.day-utc" : "limits.bucket"
}

/** The decision of a request: admitted, limited or banned. */
const ofOutcome = (story: Story): ReadonlyArray<Ruling> => {
  const { before, exchange, isKey, next, verdict } = story
  const { outcome } = verdict
  const actual = outcomeOf(exchange, outcome)
  const isWrongBan = actual === "banned" && outcome !== "banned"
  const isDenial = actual !== "admitted" && outcome !== "admitted"
  const ofKey = isWrongBan || isDenial || outcome === "banned" ? ofBan : countedBy
  const ofNetwork = isWrongBan ? "ban.anonymous-never" : countedBy(story)
  const clause = isKey ? ofKey(story) : ofNetwork
  const shown = isWrongBan ? "a ban" : `${actual} (${exchange.response.status})`
  const decided = rule(actual === outcome, clause, `a request to be ${outcome}`, shown)
  if (isWrongBan || outcome === "banned") return [decided]
  if (isPatient(story)) return [decided, kept("ban.polite-never")]
  // A network that gets no slot would be banned if it were a key.
  const isWithoutSlot = outcome === "limited" && next.debt === before.debt
  return !isKey && isWithoutSlot ? [decided, kept("ban.anonymous-never")] : [decided]
}

/** Returns the clause that decides whether a request meets a ban. */
const ofBan = (story: Story): ClauseSlug => {
  const { before, next, verdict } = story
  if (isPatient(story)) return "ban.polite-never"
  if (verdict.outcome === "admitted") return "ban.retry-after"
  return verdict.outcome === "banned" && next === before ? "ban.answer" : "ban.rules"
}

/** Longest wait that is asked of a client after a denial, in seconds: some wait no longer, whatever they are told. */
const MAX_WAIT = 30

/** Whether a client waited after a denial. */
const isPatient = ({ exchange, isKey, last }: Story): boolean =>
  isKey &&
  last?.verdict.outcome === "limited" &&
  exchange.from - last.exchange.to >= Math.min(last.verdict.retryAfter, MAX_WAIT) * 1_000

const equal = (clause: ClauseSlug, what: string, actual: number | undefined, expected: number): Ruling =>
  rule(actual === expected, clause, `${what} ${expected}`, actual)

/** The three headers of §8.3, up to the first that is wrong. */
function* ofShown(story: Story): Iterable<Ruling> {
  const { exchange, isKey, verdict } = story
  const rate = RateHeaders.of(exchange.response)
  if (rate === undefined) return
  const { limit, outcome, remaining, resetAt } = verdict
  const isBan = outcome === "banned"
  const ofWindow = isBan ? "ban.headers" : "limits.window-shown"
  yield equal(isKey ? ofWindow : "limits.anonymous", "X-RateLimit-Limit", rate.limit, limit)
  if (rate.limit !== limit) return
  yield kept(ofWindow)
  const name = isOfDay(verdict) ? "day" : "minute"
  const ofRemaining = outcome === "admitted" ? countedBy(story) : ofWindow
  yield equal(ofRemaining, `X-RateLimit-Remaining of the ${name}`, rate.remaining, remaining)
  if (rate.remaining !== remaining) return
  const ofReset = isOfDay(verdict) ? "limits.day-utc" : "limits.reset-full"
  const reset = `X-RateLimit-Reset of the ${isBan ? "ban" : name}`
  yield equal(isBan ? ofBanEnd(story) : ofReset, reset, rate.resetAt, resetAt)
}

/** Returns the clause that decides when a ban ends. */
const ofBanEnd = ({ before, exchange, next }: Story): ClauseSlug => {
  if (next === before) return "ban.unchanged-by-requests"
  const { bannedUntil, strikesFrom } = before
  const { cleanMs, withinMs } = BanPolicy.standard
  const isClean = exchange.from - strikesFrom < withinMs && strikesFrom - bannedUntil >= cleanMs
  return isClean && bannedUntil > 0 ? "ban.clean-day" : "ban.levels"
}

/** Retry-After (§8.4.2). */
function* ofWait({ exchange: { response }, verdict: { outcome, retryAfter } }: Story): Iterable<Ruling> {
  if (outcome === "admitted" || response.status !== 429) return
  const clause = outcome === "banned" ? "ban.retry-after" : "limits.retry-after-exact"
  const actual = Number(header(response, "retry-after") ?? Number.NaN)
  yield equal(clause, "Retry-After", actual, retryAfter)
}
