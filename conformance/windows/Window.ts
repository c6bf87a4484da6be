/**
 * The algorithms that may count a limit (§8.2 names none): a token bucket, a window that follows the clock, one that
 * begins with its first request, and a sliding log. Each knows what may be left, given what was seen; immutable.
 */
import { common, hull, plus, type Span, span } from "./Span.ts"

export type Algorithm = (typeof algorithms)[number]
export const algorithms = [
  "token bucket",
  "window by the clock",
  "window from first use",
  "sliding log"
] as const

/** What a window holds, as far as it is known. */
export interface Window {
  /** Returns how many requests are left at a moment, before the next one. */
  readonly left: (at: Span) => Span
  /** Counts between `cost.lo` and `cost.hi` requests at a moment. */
  readonly take: (at: Span, cost: Span) => Window
  /** Learns how many requests are left; `undefined` if this contradicts what was seen. */
  readonly learnLeft: (at: Span, left: Span) => Window | undefined
  /** Learns the `X-RateLimit-Reset` of a response (epoch ms, in whole seconds); `undefined` if no meaning of it fits. */
  readonly learnReset: (at: Span, reset: number) => Window | undefined
  /** Returns the earliest time at which one request may be left, if nothing more is sent. */
  readonly freeAt: (at: Span) => number
}

/** The offsets of all time zones from UTC are multiples of this. */
const QUARTER_MS = 900_000

/** Creates a window of which nothing is known but its algorithm; `at` is the moment of its first request. */
export const make = (algorithm: Algorithm, limit: number, length: number, at: Span): Window => {
  const [any, end] = [span(0, limit), span(at.lo + 1, at.hi + length)]
  switch (algorithm) {
    case "token bucket":
      return window(bucket(limit, length), [{ level: any, at }])
    case "window by the clock":
      // A day begins at midnight of some time zone; a minute need not begin with a minute of the clock.
      return window(fixed(limit, length, length >= 24 * QUARTER_MS ? QUARTER_MS : 1), [{ end, used: any }])
    case "window from first use":
      return window(fixed(limit, length), [{ end, used: any }])
    case "sliding log":
      return window(log(limit, length), [[{ at: span(at.lo - length, at.hi), count: any }]])
  }
}

/** How one algorithm counts; its states are what may be true. */
interface Rules<State> {
  /** Returns the states that one becomes at a moment. */
  readonly at: (state: State, at: Span) => ReadonlyArray<State>
  readonly left: (state: State, at: Span) => Span
  readonly take: (state: State, at: Span, cost: Span) => State
  /** Returns the part of a state in which so many requests are left; `undefined` if there is none. */
  readonly withLeft: (state: State, at: Span, left: Span) => State | undefined
  /** Returns the part of a state that a Reset in this interval fits; `undefined` if there is none. */
  readonly withReset: (state: State, at: Span, reset: Span) => State | undefined
  readonly freeAt: (state: State, at: Span) => number
  readonly merge: (a: State, b: State) => State
}

/** Maximum number of states; neighbors are then merged, which is less exact but still true. */
const MAX_STATES = 8

/** Tolerance of the arithmetic of a service, and of the rounding of a Reset up or down, in milliseconds. */
const [MS, SECOND] = [1, 1_000]

const window = <State>(rules: Rules<State>, states: ReadonlyArray<State>): Window => {
  const now = (at: Span) => states.flatMap((state) => rules.at(state, at))
  const of = (next: ReadonlyArray<State>) => window(rules, merged(next, MAX_STATES, rules.merge))
  const learned = (next: ReadonlyArray<State | undefined>) => {
    const left = next.filter((state) => state !== undefined)
    return left.length === 0 ? undefined : of(left)
  }
  return {
    left: (at) =>
      now(at)
        .map((state) => rules.left(state, at))
        .reduce(hull),
    take: (at, cost) => of(now(at).map((state) => rules.take(state, at, cost))),
    learnLeft: (at, left) => learned(now(at).map((state) => rules.withLeft(state, at, left))),
    learnReset: (at, reset) => {
      const rounded = span(reset - SECOND - MS, reset + SECOND + MS)
      return learned(now(at).map((state) => rules.withReset(state, at, rounded)))
    },
    freeAt: (at) => Math.min(...now(at).map((state) => rules.freeAt(state, at)))
  }
}

/** Merges neighbors if there are more than `max` items. */
const merged = <A>(items: ReadonlyArray<A>, max: number, merge: (a: A, b: A) => A): ReadonlyArray<A> =>
  items.length <= max
    ? items
    : Array.from({ length: Math.ceil(items.length / 2) }, (_, index) =>
        items.slice(2 * index, 2 * index + 2).reduce(merge)
      )

const leftOf = (limit: number, { hi, lo }: Span): Span =>
  span(Math.max(0, limit - hi), Math.max(0, limit - lo))

/** Returns the numbers of used requests that leave so many; a service shows 0 also if more than the limit are used. */
const usedFor = (limit: number, { hi, lo }: Span): Span =>
  span(limit - hi, lo <= 0 ? Number.POSITIVE_INFINITY : limit - lo)

/** A token bucket: `level` requests at the time `at`, refilled evenly. */
interface Level {
  readonly level: Span
  readonly at: Span
}

/** Less than any part of a request that matters. */
const EPSILON = 1e-9

const bucket = (limit: number, length: number): Rules<Level> => {
  const perMs = limit / length
  const levelAt = ({ at: since, level }: Level, at: Span): Span => {
    // The tolerance must not add up if no time passes.
    if (at.lo === since.hi && at.hi === since.lo) return level
    const elapsed = span(Math.max(0, at.lo - since.hi), Math.max(0, at.hi - since.lo))
    return span(
      Math.min(limit, Math.max(0, level.lo + (elapsed.lo - MS) * perMs)),
      Math.min(limit, level.hi + (elapsed.hi + MS) * perMs)
    )
  }
  return {
    at: (state, at) => [{ at, level: levelAt(state, at) }],
    left: ({ level }) => span(Math.max(0, Math.floor(level.lo)), Math.floor(level.hi)),
    take: ({ level }, at, cost) => ({
      at,
      level: span(Math.max(0, level.lo - cost.hi), Math.max(0, level.hi - cost.lo))
    }),
    withLeft: (state, at, left) => {
      const level = common(state.level, span(left.lo, left.hi + 1 - EPSILON))
      return level && { at, level }
    },
    withReset: (state, at, reset) => {
      const full = span((limit - state.level.hi) / perMs, (limit - state.level.lo) / perMs)
      const meanings = [full, span(0, 1 / perMs), span(length)].map((wait) => plus(at, wait))
      return meanings.some((meaning) => common(meaning, reset)) ? state : undefined
    },
    freeAt: ({ level }, at) => at.lo + Math.max(0, (1 - level.hi) / perMs),
    merge: (a, b) => ({ at: hull(a.at, b.at), level: hull(a.level, b.level) })
  }
}

/** A fixed window: `used` requests until `end`. */
interface Fixed {
  readonly end: Span
  readonly used: Span
}

/**
 * Fixed windows. By the clock, one follows another at once and ends at a multiple of `grain`; without `grain`, each
 * begins with its first request.
 */
const fixed = (limit: number, length: number, grain?: number): Rules<Fixed> => {
  const snapped = ({ end, used }: Fixed): Fixed | undefined => {
    if (grain === undefined) return { end, used }
    const [lo, hi] = [Math.ceil(end.lo / grain) * grain, Math.floor(end.hi / grain) * grain]
    return lo <= hi ? { end: span(lo, hi), used } : undefined
  }
  /** Returns the window that begins with a request, or with the second of the request. */
  const begunAt = (at: Span): Fixed => ({ end: plus(at, span(length - SECOND + 1, length)), used: span(0) })
  /** Returns the windows that may follow. */
  const later = ({ end }: Fixed, at: Span): ReadonlyArray<Fixed> => {
    if (end.lo > at.hi) return []
    if (grain === undefined) return [begunAt(at)]
    const first = Math.max(1, Math.floor((at.lo - end.hi) / length))
    const last = Math.floor((at.hi + length - end.lo) / length)
    // Any window may follow when too little is known.
    if (last - first > MAX_STATES) return [{ end: span(at.lo + 1, at.hi + length), used: span(0) }]
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
      const next = common(plus(end, (first + index) * length), span(at.lo + 1, at.hi + length))
      return next === undefined ? [] : [{ end: next, used: span(0) }]
    }).flat()
  }
  return {
    at: (state, at) => {
      // Without a counted request, a window that begins with one has not begun.
      const hasBegun = grain !== undefined || state.used.lo > 0
      const used = hasBegun ? state.used : common(state.used, span(1, Number.POSITIVE_INFINITY))
      // A window that ends at a moment does not contain it.
      const end = common(state.end, span(at.lo + 1, Number.POSITIVE_INFINITY))
      const same = end === undefined || used === undefined ? [] : [{ end, used }]
      const next = hasBegun ? later(state, at) : [begunAt(at)]
      return [...same, ...next].flatMap((each) => snapped(each) ?? [])
    },
    left: ({ used }) => leftOf(limit, used),
    take: ({ end, used }, _, cost) => ({ end, used: plus(used, cost) }),
    withLeft: ({ end, used }, _, left) => {
      const known = common(used, usedFor(limit, left))
      return known && { end, used: known }
    },
    withReset: ({ end, used }, _, reset) => {
      const known = common(end, reset)
      return known && snapped({ end: known, used })
    },
    freeAt: ({ end, used }, at) => (used.lo < limit ? at.lo : Math.max(at.lo, end.lo)),
    merge: (a, b) => ({ end: hull(a.end, b.end), used: hull(a.used, b.used) })
  }
}

/** Requests in a sliding log; the first entry are those of which only the limit is known. */
interface Entry {
  readonly at: Span
  readonly count: Span
}

const log = (limit: number, length: number): Rules<ReadonlyArray<Entry>> => {
  /** Returns how much an entry counts: perhaps nothing, once it may have expired. */
  const counts = ({ at, count }: Entry, now: Span) => span(at.lo + length > now.hi ? count.lo : 0, count.hi)
  const usedAt = (entries: ReadonlyArray<Entry>, now: Span): Span =>
    entries.map((entry) => counts(entry, now)).reduce(plus, span(0))
  return {
    at: (entries, at) => [entries.filter((entry) => entry.at.hi + length > at.lo)],
    left: (entries, at) => leftOf(limit, usedAt(entries, at)),
    take: (entries, at, count) => (count.hi === 0 ? entries : [...entries, { at, count }]),
    withLeft: (entries, at, left) => {
      const used = usedAt(entries, at)
      const known = common(used, usedFor(limit, left))
      return (
        known &&
        entries.map((entry) => {
          const { hi, lo } = counts(entry, at)
          const [least, most] = [known.lo - (used.hi - hi), known.hi - (used.lo - lo)]
          return { ...entry, count: span(Math.max(entry.count.lo, least), Math.min(entry.count.hi, most)) }
        })
      )
    },
    withReset: (entries, at, reset) => {
      const ends = entries.filter(({ count }) => count.hi > 0).map((entry) => plus(entry.at, length))
      return [plus(at, length), at, ...ends].some((meaning) => common(meaning, reset)) ? entries : undefined
    },
    freeAt: (entries, at) => {
      let excess = usedAt(entries, at).lo - limit + 1
      if (excess <= 0) return at.lo
      const last = entries.find(({ count }) => {
        excess -= count.hi
        return excess <= 0
      })
      return last === undefined ? at.lo : Math.max(at.lo, last.at.lo + length)
    },
    merge: (a) => a
  }
}
