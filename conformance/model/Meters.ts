/** What is known of limits and bans (§8), and the laws of admission, of the rate headers and of Retry-After. */
import * as RateHeaders from "../http/RateHeaders.ts"
import { breaks, type Exchange, type Key, type Setup, type Violation } from "./Exchange.ts"
import { isByService, isDenial, isDescribed, type Seen } from "./Seen.ts"
import { span } from "./Span.ts"
import * as World from "./World.ts"

export interface Meters {
  /** The worlds that explain every exchange so far. */
  readonly worlds: ReadonlyArray<World.World>
  /** The latest exchanges that excluded a world. */
  readonly exclusions: ReadonlyArray<Exchange>
  readonly standings: ReadonlyMap<string, Standing>
  /** The latest denial, if no other request with a valid key was sent since. */
  readonly latestDenial:
    | { readonly key: string; readonly retryAt: number; readonly exchange: Exchange }
    | undefined
}

/** Whether a key may be banned, because a request ignored a 429 (§8.4.3). */
interface Standing {
  /** When the latest denial said to come back; `undefined` after an admission. */
  readonly retryAt: number | undefined
  readonly mayBeBanned: boolean
  /** How many consecutive denials came after the key had waited as told. */
  readonly waits: number
}

export const make = (setup: Setup): Meters => ({
  worlds: World.all(setup),
  exclusions: [],
  standings: new Map(),
  latestDenial: undefined
})

/** Number of consecutive waits after which a ban must have ended. */
const MAX_WAITS = 5

/** Number of exchanges that are shown for the worlds they excluded. */
const MAX_EXCLUSIONS = 2

const goodStanding: Standing = { retryAt: undefined, mayBeBanned: false, waits: 0 }

/** Whether a key may be banned when it handles this exchange. */
export const mayBeBanned = (
  { standings }: Meters,
  key: Key | undefined,
  { from, isAlone }: Exchange
): boolean => {
  const { mayBeBanned: already, retryAt } = (key && standings.get(key.name)) ?? goodStanding
  // Of several requests in flight, any may have come after the denial of another.
  return already || (retryAt !== undefined && from < retryAt) || !isAlone
}

/** Judges exchanges of one key that were handled at the same time; usually one. */
export const judge = (
  meters: Meters,
  key: Key,
  group: ReadonlyArray<Seen>
): readonly [ReadonlyArray<Violation>, Meters] => {
  const last = group.at(-1)
  if (last === undefined) return [[], meters]
  const [broken, promised] = judgePromise(meters, key, group, last)
  if (key.plan === undefined) return [broken, promised]
  const event = eventOf(meters, { ...key, plan: key.plan }, group)
  const outcomes = promised.worlds.map((world) => World.after(world, event))
  const worlds = outcomes.filter((outcome) => "budgets" in outcome)
  const evidence = group.map(({ exchange }) => exchange)
  if (worlds.length > 0) {
    const exclusions =
      worlds.length < outcomes.length
        ? [...promised.exclusions, last.exchange].slice(-MAX_EXCLUSIONS)
        : promised.exclusions
    return [broken, { ...promised, worlds, exclusions }]
  }
  // The response is odd in every world. Nothing is learned from its headers, and if that is not enough, from all of it.
  const blind = promised.worlds.map((world) =>
    World.after(world, { ...event, shown: undefined, retryAt: undefined })
  )
  const left = blind.filter((outcome) => "budgets" in outcome)
  const next = {
    ...promised,
    worlds: left.length > 0 ? left : promised.worlds.map((world) => World.forget(world, key))
  }
  const reason = outcomes.find((outcome) => "clause" in outcome)
  if (reason === undefined || broken.length > 0) return [broken, next]
  return [[{ ...reason, evidence: [...promised.exclusions, ...evidence] }], next]
}

const eventOf = (meters: Meters, key: World.Event["key"], group: ReadonlyArray<Seen>): World.Event => {
  const count = (isCounted: (seen: Seen) => boolean) => group.filter(isCounted).length
  const isCertain = (seen: Seen) => isDescribed(seen) && isByService(seen) && seen.asked.caller.is === "valid"
  const isAdmitted = (seen: Seen) => !isDenial(seen) && isCertain(seen) && seen.status < 500
  const [first] = group
  const from = Math.min(...group.map(({ exchange }) => exchange.from))
  const to = Math.max(...group.map(({ exchange }) => exchange.to))
  const denied = count(isDenial)
  const banned =
    group.some(({ exchange }) => mayBeBanned(meters, key, exchange)) &&
    (denied > 1 || first?.exchange.isAlone === true)
  const isReadable =
    group.length === 1 && first !== undefined && isByService(first) && !(banned && isDenial(first))
  const rate = isReadable ? RateHeaders.of(first.exchange.response) : undefined
  return {
    key,
    at: span(from, to),
    successes: count((seen) => isAdmitted(seen) && seen.status < 300),
    rejected: count((seen) => isAdmitted(seen) && seen.status >= 300),
    unknown: count((seen) => !isDenial(seen) && !isAdmitted(seen)),
    denied,
    mayBeBanned: banned,
    shown: rate,
    retryAt: first && retryAtOf(first)
  }
}

const retryAtOf = ({ exchange }: Seen): number | undefined => {
  const wait = RateHeaders.retryAfterSeconds({ ...exchange, receivedAt: exchange.to, byClock: true })
  return wait === undefined ? undefined : exchange.to + wait * 1_000
}

/** §8.4.2: a caller that waits as told is admitted; and what a denial means for the next request. */
const judgePromise = (
  meters: Meters,
  key: Key,
  group: ReadonlyArray<Seen>,
  last: Seen
): readonly [ReadonlyArray<Violation>, Meters] => {
  const banned = mayBeBanned(meters, key, last.exchange)
  const promise = meters.latestDenial
  const violations: Array<Violation> = []
  if (
    promise?.key === key.name &&
    last.exchange.isAlone &&
    isDenial(last) &&
    !banned &&
    last.exchange.from >= promise.retryAt
  ) {
    const since = (last.exchange.from - promise.exchange.to) / 1_000
    const found = breaks(
      "limits.retry-after-promise",
      `a request admitted ${since} s after a denial, as Retry-After told`,
      String(last.status)
    )
    violations.push({ ...found, evidence: [promise.exchange, last.exchange] })
  }
  const before = meters.standings.get(key.name) ?? goodStanding
  const denials = group.filter(isDenial)
  const latest = denials.at(-1)
  const wasAdmitted = group.some((seen) => !isDenial(seen) && seen.status !== 401)
  const isBan =
    denials.length > 0 && (banned || denials.length > 1) && (denials.length > 1 || last.exchange.isAlone)
  const standing: Standing =
    latest === undefined
      ? wasAdmitted
        ? goodStanding
        : before
      : {
          retryAt: retryAtOf(latest) ?? Number.POSITIVE_INFINITY,
          mayBeBanned: isBan,
          waits: before.retryAt !== undefined && latest.exchange.from >= before.retryAt ? before.waits + 1 : 0
        }
  if (standing.waits >= MAX_WAITS) {
    const found = breaks(
      "ban.temporary",
      "a request admitted after waiting for Retry-After",
      `${latest?.status} ${standing.waits} times in a row, each time after waiting`
    )
    violations.push({ ...found, evidence: [last.exchange] })
  }
  const retryAt = standing.retryAt
  const isTold =
    latest !== undefined && retryAt !== undefined && Number.isFinite(retryAt) && last.exchange.isAlone
  return [
    violations,
    {
      ...meters,
      standings: new Map(meters.standings).set(key.name, standing),
      latestDenial: isTold ? { key: key.name, retryAt, exchange: latest.exchange } : undefined
    }
  ]
}

/** Returns what is still known after a request without a response, which may have been counted. */
export const afterLoss = (meters: Meters, key: Key | undefined): Meters =>
  key === undefined
    ? meters
    : { ...meters, latestDenial: undefined, worlds: meters.worlds.map((world) => World.forget(world, key)) }

/** Returns what is still known after a request that no key is known to have paid for, although one may have. */
export const afterOther = (meters: Meters): Meters => ({ ...meters, latestDenial: undefined })
