/**
 * A world is one complete reading of what §8 leaves open: how minute and day are counted, for whom, and whether rejected
 * and denied requests count. A service lives in one world; every exchange excludes those that do not explain it.
 */
import type { Plan } from "../../core/limits/Plan.ts"
import type { RateHeaders } from "../http/RateHeaders.ts"
import { type Break, breaks, type Key, type Setup } from "./Exchange.ts"
import { plus, type Span, show, span } from "./Span.ts"
import * as Window from "./Window.ts"

/** For whom requests are counted: a key, all keys with equal limits, or all keys (§8, gaps). */
type Shared = "each key" | "keys with equal limits" | "all keys"

export interface World {
  readonly minute: Window.Algorithm
  readonly day: Window.Algorithm
  readonly shared: Shared
  /** Whether admitted requests that get 4xx count. */
  readonly countsRejected: boolean
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
  /** Numbers of requests: admitted and successful; admitted and rejected; of unknown cost; denied. */
  readonly successes: number
  readonly rejected: number
  readonly unknown: number
  readonly denied: number
  /** Whether a denial may be a ban, which has its own rules (§8.4.3). */
  readonly mayBeBanned: boolean
  /** The rate headers, if one request was alone and its response is no ban. */
  readonly shown?: RateHeaders | undefined
  /** The time (epoch ms) until which a denied request was told to wait. */
  readonly retryAt?: number | undefined
}

const counts = [
  { countsRejected: true, countsDenied: false },
  { countsRejected: true, countsDenied: true },
  { countsRejected: false, countsDenied: false },
  { countsRejected: false, countsDenied: true }
] as const

/** Returns the worlds that the keys of a service can tell apart. */
export const all = ({ keys }: Setup): ReadonlyArray<World> => {
  const plans = keys.flatMap((key) =>
    key.plan === undefined ? [] : [groupOf("keys with equal limits", key)]
  )
  const areDifferent = new Set(plans).size === plans.length
  const shared = (["each key", "keys with equal limits", "all keys"] as const).filter(
    (each) => each !== "keys with equal limits" || !areDifferent
  )
  const { algorithms } = Window
  return algorithms.flatMap((minute) =>
    algorithms.flatMap((day) =>
      shared.flatMap((each) =>
        counts.map((counted) => ({ minute, day, shared: each, ...counted, budgets: new Map() }))
      )
    )
  )
}

export const says = ({ countsDenied, countsRejected, day, minute, shared }: World): string =>
  `minute: ${minute}; day: ${day}; counted for ${shared}; rejected requests ${countsRejected ? "count" : "are free"}, denied ones ${countsDenied ? "count" : "are free"}`

const groupOf = (shared: Shared, { name, plan }: Key): string =>
  shared === "each key" ? name : shared === "all keys" ? "all" : `${plan?.perMinute}/${plan?.perDay}`

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]

const budgetOf = (world: World, { key }: Event): Budget =>
  world.budgets.get(groupOf(world.shared, key)) ?? {
    minute: Window.make(world.minute, key.plan.perMinute, MINUTE_MS),
    day: Window.make(world.day, key.plan.perDay, DAY_MS)
  }

/** Returns the world without what it knows of the budget of a key. */
export const forget = (world: World, key: Key): World => {
  const budgets = new Map(world.budgets)
  budgets.delete(groupOf(world.shared, key))
  return { ...world, budgets }
}

export const isWorld = (outcome: World | Break): outcome is World => "budgets" in outcome

/** Returns the world after an event, or why the event cannot happen in it. */
export const after = (world: World, event: Event): World | Break => {
  const { at, denied, mayBeBanned, rejected, successes, unknown } = event
  const admitted = successes + rejected
  const before = budgetOf(world, event)
  const [minute, day] = [before.minute.left(at), before.day.left(at)]
  for (const [left, clause, limit] of [
    [minute, "limits.per-minute", "per-minute"],
    [day, "limits.per-day", "daily"]
  ] as const) {
    if (left.hi < admitted)
      return breaks(clause, `429 by the ${limit} limit, with ${show(left)} left`, `${admitted} admitted`)
  }
  const together = admitted + unknown + denied
  if (denied > 0 && !mayBeBanned && minute.lo >= together && day.lo >= together) {
    return breaks("limits.no-early-429", `${show(minute)} left this minute, ${show(day)} today`, "429")
  }
  const isOneDenied = denied === 1 && together === 1 && !mayBeBanned
  if (isOneDenied && event.retryAt !== undefined) {
    // No window is longer than a day, so a longer wait would deny requests of the plan.
    if (event.retryAt - at.hi > 2 * DAY_MS) {
      return breaks("limits.no-early-429", "Retry-After of at most a day", seconds(event.retryAt - at.hi))
    }
    const freeAt = Math.max(before.minute.freeAt(at), before.day.freeAt(at))
    if (freeAt > event.retryAt + RETRY_SLACK_MS) {
      const expected = `Retry-After of ${seconds(freeAt - at.hi)} or more`
      return breaks("limits.retry-after-promise", expected, seconds(event.retryAt - at.hi))
    }
  }
  const cost = costOf(world, event)
  return learn(world, event, {
    minute: taken(before.minute, event, cost, day.lo >= 1),
    day: taken(before.day, event, cost, minute.lo >= 1)
  })
}

/** Tolerance of a wait in milliseconds, for the arithmetic of a service. */
const RETRY_SLACK_MS = 2

const seconds = (ms: number): string => `${Math.round(ms) / 1_000} s`

/** Returns how many of the requests count. */
const costOf = (
  { countsDenied, countsRejected }: World,
  { denied, mayBeBanned, rejected, successes, unknown }: Event
): Span => {
  const certain = successes + (countsRejected ? rejected : 0)
  // A service that counts denied requests need not count those during a ban.
  return plus(span(certain, certain + unknown), countsDenied ? span(mayBeBanned ? 0 : denied, denied) : 0)
}

/** Counts requests in a window, and learns from their outcome; `isOther` is whether the other window had a request left. */
const taken = (
  window: Window.Window,
  { at, denied, mayBeBanned, rejected, successes, unknown }: Event,
  cost: Span,
  isOther: boolean
): Window.Window => {
  const isSingle = successes + rejected + unknown + denied === 1
  const learned =
    isSingle && denied === 1 && !mayBeBanned && isOther
      ? window.learnLeft(at, span(0))
      : isSingle && successes + rejected === 1
        ? window.learnLeft(at, span(1, Number.POSITIVE_INFINITY))
        : window
  return (learned ?? window).take(at, cost)
}

/** Learns from the rate headers, which describe one of the two windows. */
const learn = (world: World, event: Event, budget: Budget): World | Break => {
  const { at, key, shown } = event
  const next = (changed: Budget): World => ({
    ...world,
    budgets: new Map(world.budgets).set(groupOf(world.shared, key), changed)
  })
  if (shown === undefined) return next(budget)
  const { perDay, perMinute } = key.plan
  // If both limits are equal, the headers do not tell the window.
  if (perMinute === perDay || ![perMinute, perDay].includes(shown.limit)) return next(budget)
  const name = shown.limit === perMinute ? "minute" : "day"
  const left = budget[name].left(at)
  const counted = budget[name].learnLeft(at, span(shown.remaining))
  if (counted === undefined) {
    const clause = shown.remaining > left.hi ? "limits.remaining-truth" : "limits.remaining-bound"
    return breaks(clause, `X-RateLimit-Remaining ${show(left)} of the ${name}`, String(shown.remaining))
  }
  const timed = counted.learnReset(at, shown.resetAt * 1_000)
  if (timed !== undefined) return next({ ...budget, [name]: timed })
  const expected = `X-RateLimit-Reset at which the ${name} has requests again`
  return breaks("limits.reset-truth", expected, seconds(shown.resetAt * 1_000 - at.hi))
}
