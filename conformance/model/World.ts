/**
 * A world is one complete reading of what §8 leaves open: how minute and day are counted, for whom, and whether
 * denied requests count. A service lives in one world; every exchange excludes those that do not explain it.
 */
import type { Plan } from "../../core/limits/Plan.ts"
import { duration } from "../http/Moment.ts"
import type { RateHeaders } from "../http/RateHeaders.ts"
import { plus, type Span, show, span } from "../windows/Span.ts"
import * as Window from "../windows/Window.ts"
import { broken, isBroken, type Key, kept, type Ruling, rule, type Setup } from "./Exchange.ts"

/** For whom requests are counted: a key, all keys with equal limits, or all keys (§8, gaps). */
type Shared = "each key" | "keys with equal limits" | "all keys"

export interface World {
  readonly minute: Window.Algorithm
  readonly day: Window.Algorithm
  readonly shared: Shared
  /** Whether requests that get 429 count. */
  readonly countsDenied: boolean
  readonly budgets: ReadonlyMap<string, Budget>
}

interface Budget {
  readonly minute: Window.Window
  readonly day: Window.Window
}

/** What happened to one request, or to several at the same time, of one key. */
export interface Event {
  readonly key: Key & { readonly plan: Plan }
  readonly at: Span
  /** Whether it is one request that was refused with 400 or 404. */
  readonly isRefused: boolean
  /** Numbers of requests: admitted, whatever their status; of unknown cost; denied. */
  readonly admitted: number
  readonly unknown: number
  readonly denied: number
  /** Whether a denial may be a ban, which has its own rules (§8.4.3). */
  readonly mayBeBanned: boolean
  /** The rate headers, if one request was alone and its response is no ban. */
  readonly shown?: (Omit<RateHeaders, "resetAt"> & { readonly resetAt: number | undefined }) | undefined
  /** The time (epoch ms) until which a denied request was told to wait. */
  readonly retryAt?: number | undefined
}

/** Returns the worlds that the keys of a service can tell apart. */
export const all = ({ keys }: Setup): ReadonlyArray<World> => {
  const plans = keys.flatMap((key) => (key.plan ? [groupOf("keys with equal limits", key)] : []))
  const areEqual = new Set(plans).size < plans.length
  const shared = ["each key", ...(areEqual ? (["keys with equal limits"] as const) : []), "all keys"] as const
  const worlds: Array<World> = []
  for (const minute of Window.algorithms)
    for (const day of Window.algorithms)
      for (const each of shared)
        for (const countsDenied of [false, true])
          worlds.push({ minute, day, shared: each, countsDenied, budgets: new Map() })
  return worlds
}

/** Returns what is known of how a service counts, if several worlds are left. */
export const tells = (worlds: ReadonlyArray<World>): ReadonlyArray<string> => {
  const readings = worlds.map(({ countsDenied, day, minute, shared }) => [
    `the minute is counted by a ${minute}`,
    `the day is counted by a ${day}`,
    `requests are counted for ${shared}`,
    `requests that get 429 ${countsDenied ? "count" : "do not count"}`
  ])
  const [first = []] = readings
  return first.filter((reading) => readings.every((each) => each.includes(reading)))
}

const groupOf = (shared: Shared, { name, plan }: Key): string =>
  shared === "each key" ? name : shared === "all keys" ? "all" : `${plan?.perMinute}/${plan?.perDay}`

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]

const budgetOf = (world: World, { at, key }: Event): Budget =>
  world.budgets.get(groupOf(world.shared, key)) ?? {
    minute: Window.make(world.minute, key.plan.perMinute, MINUTE_MS, at),
    day: Window.make(world.day, key.plan.perDay, DAY_MS, at)
  }

/** Returns the world without what it knows of the budget of a key. */
export const forget = (world: World, key: Key): World => {
  const budgets = new Map(world.budgets)
  budgets.delete(groupOf(world.shared, key))
  return { ...world, budgets }
}

/** What an event means in one world: its rulings, and the world after it, unless it cannot happen there. */
export interface Outcome {
  readonly rulings: ReadonlyArray<Ruling>
  readonly next?: World
}

export const after = (world: World, event: Event): Outcome => {
  const before = budgetOf(world, event)
  const admitted = { minute: admit(before.minute, event), day: admit(before.day, event) }
  const rulings = [...ofAdmission(before, admitted, event), ...ofDenial(before, event)]
  if (admitted.minute === undefined || admitted.day === undefined || rulings.some(isBroken))
    return { rulings }
  const [minute, day] = [before.minute.left(event.at), before.day.left(event.at)]
  const counted = {
    minute: refuse(world, admitted.minute, event, day.lo >= 1),
    day: refuse(world, admitted.day, event, minute.lo >= 1)
  }
  const [shown, learned] = ofHeaders(counted, event)
  const all = [...rulings, ...shown]
  if (shown.some(isBroken)) return { rulings: all }
  const budgets = new Map(world.budgets).set(groupOf(world.shared, event.key), learned)
  return { rulings: all, next: { ...world, budgets } }
}

/** Counts the admitted requests in a window, each of which had one left; `undefined` if they are too many. */
const admit = (window: Window.Window, { admitted, at }: Event): Window.Window | undefined => {
  let next: Window.Window | undefined = window
  for (let count = 0; count < admitted; count++)
    next = next?.learnLeft(at, span(1, Number.POSITIVE_INFINITY))?.take(at, span(1))
  return next
}

/** Counts the other requests, and learns from a denial; `hasOther` is whether the other window had a request left. */
const refuse = (
  { countsDenied }: World,
  window: Window.Window,
  { admitted, at, denied, mayBeBanned, unknown }: Event,
  hasOther: boolean
): Window.Window => {
  const isOfWindow = denied === 1 && admitted + unknown === 0 && !mayBeBanned && hasOther
  const learned = isOfWindow ? window.learnLeft(at, span(0)) : window
  // A service that counts denied requests need not count those during a ban.
  const ofDenied = countsDenied ? span(mayBeBanned ? 0 : denied, denied) : 0
  return (learned ?? window).take(at, plus(span(0, unknown), ofDenied))
}

/** §8.2: no more requests are admitted than the limits allow. */
function* ofAdmission(
  before: Budget,
  after: { readonly minute: unknown; readonly day: unknown },
  { admitted, at, denied, unknown }: Event
): Iterable<Ruling> {
  const [minute, day] = [before.minute.left(at), before.day.left(at)]
  const [clause, left, limit] =
    after.minute === undefined
      ? (["limits.per-minute", minute, "per-minute"] as const)
      : (["limits.per-day", day, "daily"] as const)
  if (after.minute !== undefined && after.day !== undefined) {
    if (admitted > 0 && minute.lo >= admitted && day.lo >= admitted) yield kept("limits.no-early-429")
  } else if (admitted + denied + unknown > 1) {
    const expected = `at most ${show(left)} of ${admitted + denied} requests at the same time admitted`
    yield broken("limits.atomic", expected, `${admitted} admitted`)
  } else yield broken(clause, `429 by the ${limit} limit, with ${show(left)} left`, "admitted")
}

/** §8.4: only requests over a limit are denied, and the caller is told to wait long enough. */
function* ofDenial(before: Budget, event: Event): Iterable<Ruling> {
  const { admitted, at, denied, mayBeBanned, retryAt, unknown } = event
  if (denied === 0 || mayBeBanned) return
  const [minute, day] = [before.minute.left(at), before.day.left(at)]
  const together = admitted + unknown + denied
  const isEarly = minute.lo >= together && day.lo >= together
  const expected = `a response other than 429, with ${show(minute)} requests left this minute and ${show(day)} today`
  yield rule(!isEarly, "limits.no-early-429", expected, "429")
  if (isEarly || together > 1) return
  yield kept("limits.exceeded-429")
  yield kept("limits.every-operation")
  if (minute.hi < 1) yield kept("limits.per-minute")
  if (day.hi < 1) yield kept("limits.per-day")
  if (retryAt === undefined) return
  const wait = retryAt - at.hi
  // A wait that is much longer than the window would deny requests of the plan.
  const [longest, window] = day.lo >= 1 ? [HOUR_MS, "an hour"] : [2 * DAY_MS, "a day"]
  const isInMs = wait <= 2_000 * DAY_MS && wait >= 1_000_000
  const told = `Retry-After is ${duration(wait)}${isInMs ? ": is it in ms?" : ""}`
  yield rule(wait <= longest, "limits.no-early-429", `a Retry-After of at most ${window}`, told)
  const dayAt = before.day.freeAt(at)
  const freeAt = Math.max(before.minute.freeAt(at), dayAt)
  if (freeAt <= retryAt + RETRY_SLACK_MS) return
  const name = freeAt === dayAt ? "day" : "minute"
  const needed = `a Retry-After of ${duration(freeAt - at.hi)} or more, when the ${name} has requests again`
  yield broken("limits.retry-after-promise", needed, duration(wait))
}

/** Tolerance of a wait in milliseconds, for the arithmetic of a service. */
const RETRY_SLACK_MS = 2

/** §8.3: the rate headers describe one of the two windows; returns the budget as far as they tell it. */
const ofHeaders = (
  budget: Budget,
  { at, isRefused, key, shown }: Event
): readonly [ReadonlyArray<Ruling>, Budget] => {
  const { perDay, perMinute } = key.plan
  // If both limits are equal, the headers do not tell the window.
  if (shown === undefined || perMinute === perDay || ![perMinute, perDay].includes(shown.limit))
    return [[], budget]
  const ofMinute = ["minute", MINUTE_MS] as const
  const [name, length] = shown.limit === perMinute ? ofMinute : (["day", DAY_MS] as const)
  const left = budget[name].left(at)
  const counted = budget[name].learnLeft(at, span(shown.remaining))
  const isMore = shown.remaining > left.hi
  const ofMore = isRefused ? "limits.refused-count" : "limits.remaining-truth"
  const clause = isMore ? ofMore : "limits.remaining-bound"
  const isBetween = shown.remaining >= left.lo && shown.remaining <= left.hi
  const expected = isBetween
    ? `an X-RateLimit-Remaining of the ${name} that agrees with the responses before`
    : `X-RateLimit-Remaining ${show(left)} of the ${name}`
  if (counted === undefined) return [[broken(clause, expected, shown.remaining)], budget]
  const remaining = [kept("limits.remaining-truth"), kept("limits.remaining-bound")]
  if (isRefused) remaining.push(kept("limits.refused-count"))
  if (shown.resetAt === undefined) return [remaining, { ...budget, [name]: counted }]
  const timed = counted.learnReset(at, shown.resetAt * 1_000)
  const ahead = shown.resetAt * 1_000 - at.hi
  const ofLimit = `at most ${duration(length)} ahead, because ${shown.limit} is the limit per ${name}`
  const ofPast = ahead < 0 ? "in the future" : `when the ${name} has requests again, by the responses before`
  const told = ahead < 0 ? `${duration(-ahead)} ago` : `${duration(ahead)} ahead`
  const promised = `X-RateLimit-Reset ${ahead > length ? ofLimit : ofPast}`
  const reset = rule(timed !== undefined, "limits.reset-truth", promised, told)
  return [[...remaining, reset], { ...budget, [name]: timed ?? counted }]
}
