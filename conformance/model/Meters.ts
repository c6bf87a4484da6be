/** What is known of limits and bans (§8), and the laws of admission, of the rate headers and of Retry-After. */
import * as RateHeaders from "../http/RateHeaders.ts"
import { type Break, type Exchange, type Key, type Setup, type Violation, violation } from "./Exchange.ts"
import { isByService, isDenial, isDescribed, type Seen } from "./Seen.ts"
import { span } from "./Span.ts"
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

interface Standing {
  /** The latest denial, and the time at which it said to come back; `undefined` after an admission. */
  readonly denial: { readonly exchange: Exchange; readonly retryAt: number } | undefined
  /** Whether a request ignored a 429, so that the key may be banned (§8.4.3). */
  readonly mayBeBanned: boolean
  /** How many consecutive denials came after the key had waited as told. */
  readonly waits: number
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

const standingOf = ({ standings }: Meters, key: Key | undefined): Standing =>
  (key && standings.get(key.name)) ?? { denial: undefined, mayBeBanned: false, waits: 0 }

const isEarly = ({ denial }: Standing, { from }: Exchange): boolean =>
  denial !== undefined && from < denial.retryAt

/** Whether a key may be banned when it handles this exchange. */
export const mayBeBanned = (meters: Meters, key: Key | undefined, exchange: Exchange): boolean => {
  const standing = standingOf(meters, key)
  // Of several requests in flight, any may have come after the denial of another.
  return standing.mayBeBanned || isEarly(standing, exchange) || !exchange.isAlone
}

/** Judges exchanges of one key that were handled at the same time; usually one. */
export const judge = (
  meters: Meters,
  key: Key,
  group: ReadonlyArray<Seen>
): readonly [ReadonlyArray<Violation>, Meters] => {
  const before = standingOf(meters, key)
  const denials = group.filter(isDenial)
  const isBan =
    before.mayBeBanned || denials.length > 1 || group.some(({ exchange }) => isEarly(before, exchange))
  const standing = standingAfter(before, group, denials.at(-1), isBan)
  const promise = meters.latestKey === key.name && !isBan ? before.denial : undefined
  const violations = [...ofWait(promise, denials), ...ofBan(standing)]
  const next = {
    ...meters,
    standings: new Map(meters.standings).set(key.name, standing),
    latestKey: key.name
  }
  if (key.plan === undefined) return [violations, next]
  const [broken, judged] = judgeWorlds(next, eventOf({ ...key, plan: key.plan }, group, isBan), group)
  return [violations.length > 0 || broken === undefined ? violations : [broken], judged]
}

const standingAfter = (
  before: Standing,
  group: ReadonlyArray<Seen>,
  latest: Seen | undefined,
  isBan: boolean
): Standing => {
  if (latest === undefined) {
    const wasAdmitted = group.some(({ status }) => status !== 401)
    return wasAdmitted ? { denial: undefined, mayBeBanned: false, waits: 0 } : before
  }
  const { exchange } = latest
  const waited = before.denial !== undefined && exchange.from >= before.denial.retryAt
  const denial = { exchange, retryAt: retryAtOf(exchange) ?? Number.POSITIVE_INFINITY }
  return { denial, mayBeBanned: isBan, waits: waited ? before.waits + 1 : 0 }
}

const retryAtOf = (exchange: Seen["exchange"]): number | undefined => {
  const wait = RateHeaders.retryAfterSeconds({ ...exchange, receivedAt: exchange.to, byClock: true })
  return wait === undefined ? undefined : exchange.to + wait * 1_000
}

/** §8.4.2: a caller that waits as told, and is not banned, is admitted. */
const ofWait = (promise: Standing["denial"], [denied]: ReadonlyArray<Seen>): ReadonlyArray<Violation> => {
  if (promise === undefined || denied === undefined) return []
  const since = (denied.exchange.from - promise.exchange.to) / 1_000
  const expected = `a request admitted ${since} s after a denial, as Retry-After told`
  const [first, second] = [promise.exchange, denied.exchange]
  return [violation("limits.retry-after-promise", expected, String(denied.status), first, second)]
}

/** §8.4.3: a ban is temporary. */
const ofBan = ({ denial, waits }: Standing): ReadonlyArray<Violation> => {
  if (denial === undefined || waits < MAX_WAITS) return []
  const actual = `a denial ${waits} times in a row, each time after waiting`
  return [
    violation("ban.temporary", "a request admitted after waiting for Retry-After", actual, denial.exchange)
  ]
}

const eventOf = (key: World.Event["key"], group: ReadonlyArray<Seen>, isBan: boolean): World.Event => {
  const count = (isCounted: (seen: Seen) => boolean) => group.filter(isCounted).length
  const isAdmitted = (seen: Seen) =>
    !isDenial(seen) &&
    isDescribed(seen) &&
    isByService(seen) &&
    seen.asked.caller.is === "valid" &&
    seen.status < 500
  const [only] = group.length === 1 ? group : []
  const isReadable = only?.asked.caller.is === "valid" && isByService(only) && !(isBan && isDenial(only))
  return {
    key,
    at: span(
      Math.min(...group.map(({ exchange }) => exchange.from)),
      Math.max(...group.map(({ exchange }) => exchange.to))
    ),
    successes: count((seen) => isAdmitted(seen) && seen.status < 300),
    rejected: count((seen) => isAdmitted(seen) && seen.status >= 300),
    unknown: count((seen) => !isDenial(seen) && !isAdmitted(seen)),
    denied: count(isDenial),
    mayBeBanned: isBan,
    shown: isReadable ? RateHeaders.of(only.exchange.response) : undefined,
    retryAt: only && retryAtOf(only.exchange)
  }
}

/** Excludes the worlds that do not explain an event; if there are none left, it is a violation. */
const judgeWorlds = (
  meters: Meters,
  event: World.Event,
  group: ReadonlyArray<Seen>
): readonly [Violation | undefined, Meters] => {
  const explain = (happened: World.Event) => meters.worlds.map((world) => World.after(world, happened))
  const outcomes = explain(event)
  const worlds = outcomes.filter(World.isWorld)
  const evidence = group.map(({ exchange }) => exchange)
  if (worlds.length > 0) {
    const hasExcluded = worlds.length < outcomes.length
    const exclusions = hasExcluded
      ? [...meters.exclusions, ...evidence].slice(-MAX_EXCLUSIONS)
      : meters.exclusions
    return [undefined, { ...meters, worlds, exclusions }]
  }
  // The response is odd in every world. Nothing is learned from its headers, and if that is not enough, from all of it.
  const left = explain({ ...event, shown: undefined, retryAt: undefined }).filter(World.isWorld)
  const forgotten = () => meters.worlds.map((world) => World.forget(world, event.key))
  const reason = outcomes.find((outcome): outcome is Break => !World.isWorld(outcome))
  return [
    reason && { ...reason, evidence: [...meters.exclusions, ...evidence] },
    { ...meters, worlds: left.length > 0 ? left : forgotten() }
  ]
}

/** Returns what is still known after a request without a response, which may have been counted. */
export const afterLoss = (meters: Meters, key: Key | undefined): Meters =>
  key === undefined
    ? meters
    : { ...meters, latestKey: undefined, worlds: meters.worlds.map((world) => World.forget(world, key)) }
