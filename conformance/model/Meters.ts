/** What is known of limits and bans (§8), and the laws of admission, of the rate headers and of Retry-After. */
import { duration } from "../http/Moment.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { span } from "../windows/Span.ts"
import { isUnixSeconds } from "./EveryResponse.ts"
import {
  type Break,
  broken,
  type Exchange,
  isBroken,
  isConcurrent,
  type Key,
  kept,
  type Ruling,
  rule,
  type Setup
} from "./Exchange.ts"
import { isByService, isDenial, isDescribed, type Seen } from "./Seen.ts"
import * as World from "./World.ts"

export interface Meters {
  /** The worlds that explain every exchange so far. */
  readonly worlds: ReadonlyArray<World.World>
  /** The latest exchanges that excluded a world. */
  readonly exclusions: ReadonlyArray<Exchange>
  readonly standings: ReadonlyMap<string, Standing>
  /** The key of the latest request; `undefined` if it is not known which key paid for it. */
  readonly latestKey: string | undefined
}

interface Denial {
  readonly exchange: Exchange
  /** The time at which it said to come back. */
  readonly retryAt: number
}

interface Standing {
  /** The latest denial; `undefined` after an admission. */
  readonly denial?: Denial | undefined
  /** Whether a request ignored a 429, so that the key may be banned (§8.4.3). */
  readonly mayBeBanned: boolean
  /** How many consecutive denials came after the key had waited as told. */
  readonly waits: number
  /** The first denial of a day whose limit was reached. */
  readonly spentDay?: Exchange | undefined
  /** The times of the latest admitted requests, as many as a minute allows. */
  readonly admittedAt?: ReadonlyArray<number>
  /** The latest rate headers that an admitted request showed. */
  readonly shown?: { readonly exchange: Exchange; readonly rate: RateHeaders.RateHeaders } | undefined
}

export const make = (setup: Setup): Meters => ({
  worlds: World.all(setup),
  exclusions: [],
  standings: new Map(),
  latestKey: undefined
})

/** Number of consecutive waits after which a ban must have ended. */
const MAX_WAITS = 5

/** Number of exchanges that are shown for the worlds they excluded. */
const MAX_EXCLUSIONS = 2

const free: Standing = { mayBeBanned: false, waits: 0 }

const standingOf = ({ standings }: Meters, key: Key | undefined): Standing =>
  (key && standings.get(key.name)) ?? free

const isEarly = ({ denial }: Standing, { from }: Exchange): boolean =>
  denial !== undefined && from < denial.retryAt

/** Returns when a ban must have ended that a denial told of. */
const banOver = ({ exchange, retryAt }: Denial): number =>
  2 * DAY_MS + (Number.isFinite(retryAt) ? retryAt : exchange.to)

/** Whether a key may be banned when it handles this exchange; `others` were in flight at the same time. */
export const mayBeBanned = (
  meters: Meters,
  key: Key | undefined,
  exchange: Exchange,
  others: ReadonlyArray<Seen>
): boolean => {
  const standing = standingOf(meters, key)
  // A ban is temporary; days after the latest denial, no rejection is one.
  if (standing.denial !== undefined && exchange.from > banOver(standing.denial)) return false
  // Of several requests in flight, any may have come after the denial of another.
  const mayBeLater = others.some((other) => other.status === 429 && other.key === key)
  return standing.mayBeBanned || isEarly(standing, exchange) || (!exchange.isAlone && mayBeLater)
}

/** Judges exchanges of one key that were handled at the same time; usually one. */
export const judge = (
  meters: Meters,
  key: Key,
  group: ReadonlyArray<Seen>
): readonly [ReadonlyArray<Ruling>, Meters] => {
  const before = standingOf(meters, key)
  const denials = group.filter(isDenial)
  const isBan =
    before.mayBeBanned || denials.length > 1 || group.some(({ exchange }) => isEarly(before, exchange))
  const after = standingAfter(before, group, denials.at(-1), isBan)
  const isTried = denials.length > 0 && group.some(({ exchange }) => isConcurrent(exchange))
  const rulings = [
    ...(isTried ? [kept("limits.atomic")] : []),
    ...(meters.latestKey === key.name && !isBan ? ofWait(before, group) : []),
    ...ofBan(meters, key, before, after),
    ...ofReset(before, after)
  ]
  const { plan } = key
  const [counted, judged] =
    plan === undefined
      ? [[], meters]
      : judgeWorlds(meters, before, eventOf({ ...key, plan }, group, isBan), group)
  const isNew = before.denial === undefined && counted.some(({ clause }) => clause === "limits.per-day")
  const standing = isNew && denials.length > 0 ? { ...after, spentDay: denials[0]?.exchange } : after
  const standings = new Map(meters.standings).set(key.name, standing)
  return [
    // What one law finds broken, the worlds need not explain.
    [...rulings, ...counted.filter((ruling) => !rulings.some(isBroken) || !isBroken(ruling))],
    { ...judged, standings, latestKey: key.name }
  ]
}

const standingAfter = (
  before: Standing,
  group: ReadonlyArray<Seen>,
  latest: Seen | undefined,
  isBan: boolean
): Standing => {
  if (latest === undefined) {
    const [only] = group.length === 1 && group.every(isAdmitted) ? group : []
    const rate = only && isByService(only) ? RateHeaders.of(only.exchange.response) : undefined
    const shown = only && rate && { exchange: only.exchange, rate }
    return { ...free, spentDay: before.spentDay, admittedAt: admittedAfter(before, group), shown }
  }
  const { exchange } = latest
  const waited = before.denial !== undefined && exchange.from >= before.denial.retryAt
  const denial = { exchange, retryAt: retryAtOf(exchange) ?? Number.POSITIVE_INFINITY }
  return { ...before, denial, mayBeBanned: isBan, waits: waited ? before.waits + 1 : 0, shown: undefined }
}

const admittedAfter = ({ admittedAt = [] }: Standing, group: ReadonlyArray<Seen>): ReadonlyArray<number> => {
  const { plan } = group[0]?.key ?? {}
  const all = [...admittedAt, ...group.map(({ exchange }) => exchange.from)]
  return plan === undefined ? [] : all.slice(-plan.perMinute)
}

const retryAtOf = (exchange: Seen["exchange"]): number | undefined => {
  const wait = RateHeaders.retryAfterSeconds(exchange.response, exchange.to, true)
  return wait === undefined ? undefined : exchange.to + wait * 1_000
}

/** §8.4.2: a caller that waits as told, and is not banned, is admitted. */
function* ofWait({ denial }: Standing, group: ReadonlyArray<Seen>): Iterable<Ruling> {
  const [first] = group
  if (denial === undefined || first === undefined) return
  const denied = group.find(isDenial)
  const { exchange, status } = denied ?? first
  const { exchange: earlier, retryAt } = denial
  const [waited, told] = [exchange.from, retryAt].map((at) => duration(at - earlier.to))
  const expected = `a request admitted ${waited} after a Retry-After of ${told}`
  yield rule(denied === undefined, "limits.retry-after-promise", expected, status, earlier)
}

/** §8.4.3: a ban is temporary, and of one key. */
function* ofBan(meters: Meters, key: Key, before: Standing, { denial, waits }: Standing): Iterable<Ruling> {
  if (denial !== undefined && waits >= MAX_WAITS) {
    const actual = `a denial ${waits} times in a row, each time after waiting`
    yield broken("ban.temporary", "a request admitted after waiting for Retry-After", actual)
  }
  if (denial !== undefined) return
  if (before.mayBeBanned) yield kept("ban.temporary")
  if (otherBan(meters, key) !== undefined) yield kept("ban.only-that-key")
}

/** Returns the latest denial of another key that may be banned. */
const otherBan = ({ standings }: Meters, { name }: Key): Denial | undefined =>
  [...standings].find(([other, { mayBeBanned }]) => other !== name && mayBeBanned)?.[1].denial

/** §8.3: the Reset of a window does not move back while fewer requests are left in it. */
function* ofReset({ shown: first }: Standing, { shown: second }: Standing): Iterable<Ruling> {
  if (first === undefined || second === undefined || first.rate.limit !== second.rate.limit) return
  if (second.rate.remaining >= first.rate.remaining) return
  const [from, to] = [first.rate.resetAt, second.rate.resetAt]
  const expected = `X-RateLimit-Reset ${from} or later, with fewer requests left`
  yield rule(to >= from - 1, "limits.reset-forward", expected, to, first.exchange)
}

/** Whether a request was admitted and certainly counts: those that succeed, and those refused with 400 or 404. */
const isAdmitted = (seen: Seen): boolean =>
  isDescribed(seen) &&
  isByService(seen) &&
  seen.asked.caller.is === "valid" &&
  (seen.status < 300 || seen.status === 400 || seen.status === 404)

const eventOf = (key: World.Event["key"], group: ReadonlyArray<Seen>, isBan: boolean): World.Event => {
  const count = (isCounted: (seen: Seen) => boolean) => group.filter(isCounted).length
  const [only] = group.length === 1 ? group : []
  const retryAt = only && retryAtOf(only.exchange)
  const isReadable = only?.asked.caller.is === "valid" && isByService(only) && !(isBan && isDenial(only))
  return {
    key,
    isRefused: only !== undefined && isAdmitted(only) && only.status >= 400,
    at: span(
      Math.min(...group.map(({ exchange }) => exchange.from)),
      Math.max(...group.map(({ exchange }) => exchange.to))
    ),
    admitted: count(isAdmitted),
    unknown: count((seen) => !isDenial(seen) && !isAdmitted(seen)),
    denied: count(isDenial),
    mayBeBanned: isBan,
    shown: isReadable ? shownBy(only, retryAt) : undefined,
    retryAt
  }
}

/**
 * Returns the rate headers of a response, without a Reset that is no time, or that tells only how long the wait for more
 * than a minute is: a denial may begin a ban.
 */
const shownBy = (seen: Seen, retryAt: number | undefined): World.Event["shown"] => {
  const { from, response, to } = seen.exchange
  const rate = RateHeaders.of(response)
  if (rate === undefined) return undefined
  const resetAt = rate.resetAt * 1_000
  const isWait =
    retryAt !== undefined && isNear(resetAt, retryAt) && resetAt - to > RateHeaders.MINUTE_PASSED_MS
  return isUnixSeconds(rate, from) && !(isDenial(seen) && isWait) ? rate : { ...rate, resetAt: undefined }
}

/** Whether two times are equal, but for the rounding of seconds. */
const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 2_000

/** Excludes the worlds that do not explain an event; if there are none left, it is a violation. */
const judgeWorlds = (
  meters: Meters,
  before: Standing,
  event: World.Event,
  group: ReadonlyArray<Seen>
): readonly [ReadonlyArray<Ruling>, Meters] => {
  const explain = (happened: World.Event) => meters.worlds.map((world) => World.after(world, happened))
  const survivors = (outcomes: ReadonlyArray<World.Outcome>) => outcomes.flatMap(({ next }) => next ?? [])
  const outcomes = explain(event)
  const worlds = survivors(outcomes)
  const evidence = group.map(({ exchange }) => exchange)
  const explained = outcomes.find(({ next }) => next !== undefined)
  if (explained !== undefined) {
    const hasExcluded = worlds.length < outcomes.length
    const exclusions = hasExcluded
      ? [...meters.exclusions, ...evidence].slice(-MAX_EXCLUSIONS)
      : meters.exclusions
    return [explained.rulings, { ...meters, worlds, exclusions }]
  }
  // The response is odd in every world. Nothing is learned from its headers, and if that is not enough, from all of it.
  const left = survivors(explain({ ...event, shown: undefined, retryAt: undefined }))
  const [reason] = outcomes.flatMap(({ rulings }) => rulings.filter(isBroken))
  const next = left.length > 0 ? { ...meters, worlds: left } : afterLoss(meters, event.key)
  return [reason === undefined ? [] : [explainedBy(meters, before, event, reason, evidence)], next]
}

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]

/** Returns a broken ruling of the worlds with all exchanges that it follows from, and in the words of its cause. */
const explainedBy = (
  meters: Meters,
  { admittedAt = [], shown, spentDay }: Standing,
  { at, key, retryAt, shown: now }: World.Event,
  { broken: { actual, expected }, clause }: Ruling & { readonly broken: Break },
  evidence: ReadonlyArray<Exchange>
): Ruling => {
  const latest = [...(shown === undefined ? [] : [shown.exchange]), ...evidence.slice(0, -1)]
  const earlier = [...meters.exclusions, ...latest]
  const isDenial = clause === "limits.no-early-429"
  const ban = otherBan(meters, key)
  if (
    isDenial &&
    !actual.endsWith("ms?") &&
    ban !== undefined &&
    (retryAt === undefined || isNear(retryAt, ban.retryAt))
  ) {
    const alone = `${expected}: only another key ignored a 429`
    return broken("ban.only-that-key", alone, actual, ...latest, ban.exchange)
  }
  // By what was sent alone, whatever X-RateLimit-Remaining said, a minute may or may not have been used up.
  const isUsedUp = at.lo - (admittedAt.at(-key.plan.perMinute) ?? 0) < MINUTE_MS
  const isTooMuch = isDenial && actual === "429" && isUsedUp
  const isTooLittle = clause === "limits.per-minute" && !isUsedUp
  if (shown !== undefined && (isTooMuch || isTooLittle)) {
    const ofShown = isTooMuch ? "limits.remaining-truth" : "limits.remaining-bound"
    return broken(ofShown, `${expected} by X-RateLimit-Remaining`, actual, ...earlier)
  }
  const isShownOfDay = /^limits\.re(?:maining|fused)-/.test(clause) && now?.limit === key.plan.perDay
  const isOfDay = clause === "limits.per-day" || isShownOfDay
  if (spentDay === undefined || !isOfDay || at.lo - spentDay.from >= DAY_MS)
    return broken(clause, expected, actual, ...earlier)
  const began = `the day of ${key.plan.perDay} requests began anew after ${duration(at.lo - spentDay.from)}`
  return broken(clause, expected, began, ...earlier, spentDay)
}

/** Returns what is still known after a request without a response, which may have been counted. */
export const afterLoss = (meters: Meters, key: Key | undefined): Meters =>
  key === undefined
    ? meters
    : { ...meters, latestKey: undefined, worlds: meters.worlds.map((world) => World.forget(world, key)) }
