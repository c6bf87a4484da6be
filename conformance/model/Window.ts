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

/** Creates a window of which nothing is known but its algorithm. */
export const make = (algorithm: Algorithm, limit: number, length: number): Window => {
  switch (algorithm) {
    case "token bucket":
      return window(bucket(limit, length), [{ level: span(0, limit), at: undefined }])
    case "window by the clock":
      // A day begins at midnight of some time zone; a minute need not begin with a minute of the clock.
      return window(fixed(limit, length, length >= 24 * QUARTER_MS ? QUARTER_MS : 1), [undefined])
    case "window from first use":
      return window(fixed(limit, length), [undefined])
    case "sliding log":
      return window(log(limit, length), [{ entries: [], earlier: span(0, limit), until: undefined }])
  }
}

/** How one algorithm counts; its states are what may be true. */
interface Rules<State> {
  /** Returns the states that one becomes at a moment. */
  readonly at: (state: State, at: Span) => ReadonlyArray<Exclude<State, undefined>>
  readonly left: (state: Exclude<State, undefined>, at: Span) => Span
  readonly take: (state: Exclude<State, undefined>, at: Span, cost: Span) => State
  /** Returns the part of a state in which so many requests are left; `undefined` if there is none. */
  readonly withLeft: (state: Exclude<State, undefined>, at: Span, left: Span) => State | undefined
  /** Returns the part of a state that a Reset in this interval fits; `undefined` if there is none. */
  readonly withReset: (state: Exclude<State, undefined>, at: Span, reset: Span) => State | undefined
  readonly freeAt: (state: Exclude<State, undefined>, at: Span) => number
  readonly merge: (a: State, b: State) => State
}

/** Maximum number of states; neighbors are then merged, which is less exact but still true. */
const MAX_STATES = 8

/** Tolerance of the arithmetic of a service, and of the rounding of a Reset, in milliseconds. */
const [MS, SECOND] = [1, 1_000]

const window = <State>(rules: Rules<State>, states: ReadonlyArray<State>): Window => {
  const now = (at: Span) => states.flatMap((state) => rules.at(state, at))
  const of = (next: ReadonlyArray<State>) => window(rules, merged(next, MAX_STATES, rules.merge))
  const learned = (next: ReadonlyArray<State>) => (next.length === 0 ? undefined : of(next))
  return {
    left: (at) =>
      now(at)
        .map((state) => rules.left(state, at))
        .reduce(hull),
    take: (at, cost) => of(now(at).map((state) => rules.take(state, at, cost))),
    learnLeft: (at, left) => learned(now(at).flatMap((state) => rules.withLeft(state, at, left) ?? [])),
    learnReset: (at, reset) => {
      const rounded = span(reset - SECOND - MS, reset + SECOND + MS)
      return learned(now(at).flatMap((state) => rules.withReset(state, at, rounded) ?? []))
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
  readonly at: Span | undefined
}

/** Less than any part of a request that matters. */
const EPSILON = 1e-9

const bucket = (limit: number, length: number): Rules<Level> => {
  const perMs = limit / length
  const levelAt = ({ at: since, level }: Level, at: Span): Span => {
    if (since === undefined) return level
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
    merge: (a, b) => ({ at: a.at && b.at && hull(a.at, b.at), level: hull(a.level, b.level) })
  }
}

/** A fixed window: `used` requests until `end`. */
interface Fixed {
  readonly end: Span
  readonly used: Span
}

/**
 * Fixed windows; `undefined` before the first request. By the clock, one follows another at once and ends at a multiple
 * of `grain`; without `grain`, each begins with its first request.
 */
const fixed = (limit: number, length: number, grain?: number): Rules<Fixed | undefined> => {
  const snapped = ({ end, used }: Fixed): Fixed | undefined => {
    if (grain === undefined) return { end, used }
    const [lo, hi] = [Math.ceil(end.lo / grain) * grain, Math.floor(end.hi / grain) * grain]
    return lo <= hi ? { end: span(lo, hi), used } : undefined
  }
  /** Returns the windows that may follow. */
  const later = ({ end }: Fixed, at: Span): ReadonlyArray<Fixed> => {
    if (end.lo > at.hi) return []
    if (grain === undefined) return [{ end: plus(at, length), used: span(0) }]
    const first = Math.max(1, Math.floor((at.lo - end.hi) / length))
    const last = Math.floor((at.hi + length - end.lo) / length)
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
      const next = common(plus(end, (first + index) * length), span(at.lo + 1, at.hi + length))
      return next === undefined ? [] : [{ end: next, used: span(0) }]
    }).flat()
  }
  return {
    at: (state, at) => {
      if (state === undefined) return [{ end: span(at.lo + 1, at.hi + length), used: span(0, limit) }]
      // A window that ends at a moment does not contain it.
      const end = common(state.end, span(at.lo + 1, Number.POSITIVE_INFINITY))
      const same = end === undefined ? [] : [{ end, used: state.used }]
      return [...same, ...later(state, at)].flatMap((each) => snapped(each) ?? [])
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
    merge: (a, b) => a && b && { end: hull(a.end, b.end), used: hull(a.used, b.used) }
  }
}

/** A sliding log: the requests of the last `length` ms, and an unknown number of requests before the first. */
interface Log {
  readonly entries: ReadonlyArray<Entry>
  readonly earlier: Span
  /** The time at which all earlier requests have expired. */
  readonly until: number | undefined
}

interface Entry {
  readonly at: Span
  readonly count: Span
}

/** Maximum number of entries; neighbors are then merged, which is less exact but still true. */
const MAX_ENTRIES = 64

const log = (limit: number, length: number): Rules<Log> => {
  const isCertain = (entry: Entry, at: Span) => entry.at.lo + length > at.hi
  const usedAt = ({ earlier, entries }: Log, at: Span): Span =>
    entries.reduce(
      (sum, entry) => plus(sum, span(isCertain(entry, at) ? entry.count.lo : 0, entry.count.hi)),
      earlier
    )
  return {
    at: ({ earlier, entries, until }, at) => [
      {
        entries: entries.filter((entry) => entry.at.hi + length > at.lo),
        earlier: span(0, until !== undefined && at.lo >= until ? 0 : earlier.hi),
        until: until ?? at.hi + length
      }
    ],
    left: (state, at) => leftOf(limit, usedAt(state, at)),
    take: (state, at, count) => ({ ...state, entries: withEntry(state.entries, { at, count }) }),
    withLeft: (state, at, left) => {
      const used = usedAt(state, at)
      const known = common(used, usedFor(limit, left))
      if (known === undefined) return undefined
      // If only one reading of the uncertain entries is left, they become certain.
      const entries = state.entries.map((entry) => {
        if (known.hi === used.lo && isCertain(entry, at)) return { ...entry, count: span(entry.count.lo) }
        return known.lo === used.hi ? { ...entry, count: span(entry.count.hi) } : entry
      })
      const earlier = span(0, Math.max(0, Math.min(state.earlier.hi, known.hi - used.lo)))
      return { ...state, entries, earlier }
    },
    withReset: (state, at, reset) => {
      const ends = state.entries.map((entry) => plus(entry.at, length))
      const ofEarlier = state.earlier.hi > 0 ? [span(at.lo, state.until)] : []
      const meanings = [plus(at, length), at, ...ends, ...ofEarlier]
      return meanings.some((meaning) => common(meaning, reset)) ? state : undefined
    },
    freeAt: (state, at) => {
      let excess = usedAt(state, at).lo - limit + 1
      if (excess <= 0) return at.lo
      const last = state.entries.find(({ count }) => {
        excess -= count.hi
        return excess <= 0
      })
      return last === undefined ? at.lo : Math.max(at.lo, last.at.lo + length)
    },
    merge: (a) => a
  }
}

const withEntry = (entries: ReadonlyArray<Entry>, entry: Entry): ReadonlyArray<Entry> => {
  if (entry.count.hi === 0) return entries
  const last = entries.at(-1)
  if (last !== undefined && last.at.lo === entry.at.lo && last.at.hi === entry.at.hi) {
    return [...entries.slice(0, -1), { at: last.at, count: plus(last.count, entry.count) }]
  }
  return merged([...entries, entry], MAX_ENTRIES, (a, b) => ({
    at: hull(a.at, b.at),
    count: plus(a.count, b.count)
  }))
}
