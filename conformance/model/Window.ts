/**
 * The algorithms that may count a limit (§8.2 names none): a token bucket, a window that follows the clock, one that
 * begins with its first request, and a sliding log. Each state says what may be left, given what was seen; all states
 * are immutable.
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

/** Rounding of a Reset to whole seconds, up or down, in milliseconds. */
const SECOND = 1_000

/** Less than any part of a request that matters. */
const EPSILON = 1e-9

/** Tolerance of the arithmetic of a service, in milliseconds. */
const MS = 1

/** Creates a window of which nothing is known but its algorithm. */
export const make = (algorithm: Algorithm, limit: number, length: number): Window => {
  // A day begins at midnight of some time zone; a minute need not begin with a minute of the clock.
  const grain = length >= 24 * QUARTER_MS ? QUARTER_MS : 1
  switch (algorithm) {
    case "token bucket":
      return bucket(limit, length, { level: span(0, limit), at: undefined })
    case "window by the clock":
      return fixed(limit, length, grain, undefined)
    case "window from first use":
      return fixed(limit, length, undefined, undefined)
    case "sliding log":
      return log(limit, length, { entries: [], earlier: span(0, limit), until: undefined })
  }
}

const isNear = (reset: number, meaning: Span): boolean =>
  reset >= meaning.lo - SECOND - MS && reset <= meaning.hi + SECOND + MS

// A token bucket: `level` requests at the time `at`, refilled evenly.

interface Level {
  readonly level: Span
  readonly at: Span | undefined
}

const bucket = (limit: number, length: number, { at: since, level }: Level): Window => {
  const perMs = limit / length
  const levelAt = (at: Span): Span => {
    if (since === undefined) return level
    const elapsed = span(Math.max(0, at.lo - since.hi), Math.max(0, at.hi - since.lo))
    return span(
      Math.min(limit, Math.max(0, level.lo + (elapsed.lo - MS) * perMs)),
      Math.min(limit, level.hi + (elapsed.hi + MS) * perMs)
    )
  }
  /** Keeps the level at `at`; without the tolerance, which must not add up, if no time passed. */
  const exactAt = (at: Span): Span =>
    since !== undefined && at.lo === at.hi && at.hi === since.hi && since.lo === since.hi
      ? level
      : levelAt(at)
  const left = (at: Span) => {
    const { hi, lo } = exactAt(at)
    return span(Math.max(0, Math.floor(lo)), Math.floor(hi))
  }
  return {
    left,
    take: (at, cost) => {
      const { hi, lo } = exactAt(at)
      return bucket(limit, length, { at, level: span(Math.max(0, lo - cost.hi), Math.max(0, hi - cost.lo)) })
    },
    learnLeft: (at, known) => {
      const level = common(exactAt(at), span(known.lo, known.hi + 1 - EPSILON))
      return level && bucket(limit, length, { at, level })
    },
    learnReset: (at, reset) => {
      const { hi, lo } = exactAt(at)
      const full = plus(at, span((limit - hi) / perMs, (limit - lo) / perMs))
      const next = plus(at, span(0, 1 / perMs))
      const meanings = [full, next, plus(at, length)]
      return meanings.some((meaning) => isNear(reset, meaning))
        ? bucket(limit, length, { at, level: exactAt(at) })
        : undefined
    },
    freeAt: (at) => at.lo + Math.max(0, (1 - exactAt(at).hi) / perMs)
  }
}

// A fixed window: `used` requests until `end`. By the clock, the next one follows at once; otherwise with a request.

interface Fixed {
  readonly end: Span
  readonly used: Span
}

const mergeCases = (a: Fixed, b: Fixed): Fixed => ({ end: hull(a.end, b.end), used: hull(a.used, b.used) })

/** Maximum number of cases; neighbors are then merged, which is less exact but still true. */
const MAX_CASES = 8

/**
 * Creates a fixed window of which one of several cases is true; at first, neither its end nor its use is known. By the
 * clock, it ends at a multiple of `grain`; `undefined` if each window begins with its first request.
 */
const fixed = (
  limit: number,
  length: number,
  grain: number | undefined,
  cases: ReadonlyArray<Fixed> | undefined
): Window => {
  const snapped = ({ end, used }: Fixed): ReadonlyArray<Fixed> => {
    if (grain === undefined) return [{ end, used }]
    const [lo, hi] = [Math.ceil(end.lo / grain) * grain, Math.floor(end.hi / grain) * grain]
    return lo <= hi ? [{ end: span(lo, hi), used }] : []
  }
  /** Returns the windows that may contain the moment: that of the case, or a later one. */
  const settle = ({ end, used }: Fixed, at: Span): ReadonlyArray<Fixed> => {
    const settled: Array<Fixed> = []
    // A window that ends at a moment does not contain it.
    const same = common(end, span(at.lo + 1, Number.POSITIVE_INFINITY))
    if (same !== undefined) settled.push({ end: same, used })
    if (end.lo > at.hi) return settled
    if (grain === undefined) return [...settled, { end: plus(at, length), used: span(0) }]
    for (
      let by = Math.max(1, Math.floor((at.lo - end.hi) / length)) * length;
      end.lo + by <= at.hi + length;
      by += length
    ) {
      const later = common(plus(end, by), span(at.lo + 1, at.hi + length))
      if (later !== undefined) settled.push({ end: later, used: span(0) })
    }
    return settled
  }
  const casesAt = (at: Span): ReadonlyArray<Fixed> =>
    cases === undefined
      ? [{ end: span(at.lo + 1, at.hi + length), used: span(0, limit) }]
      : cases.flatMap((each) => settle(each, at)).flatMap(snapped)
  const of = (changed: ReadonlyArray<Fixed>) =>
    changed.length === 0 ? undefined : fixed(limit, length, grain, merged(changed, MAX_CASES, mergeCases))
  const leftIn = ({ used }: Fixed) => span(Math.max(0, limit - used.hi), Math.max(0, limit - used.lo))
  return {
    left: (at) => casesAt(at).map(leftIn).reduce(hull),
    take: (at, cost) =>
      fixed(
        limit,
        length,
        grain,
        merged(
          casesAt(at).map(({ end, used }) => ({ end, used: plus(used, cost) })),
          MAX_CASES,
          mergeCases
        )
      ),
    learnLeft: (at, left) =>
      of(
        casesAt(at).flatMap(({ end, used }) => {
          const known = common(
            used,
            span(limit - left.hi, left.lo <= 0 ? Number.POSITIVE_INFINITY : limit - left.lo)
          )
          return known === undefined ? [] : [{ end, used: known }]
        })
      ),
    learnReset: (at, reset) =>
      of(
        casesAt(at).flatMap(({ end, used }) => {
          const known = common(end, span(reset - SECOND - MS, reset + SECOND + MS))
          return known === undefined ? [] : snapped({ end: known, used })
        })
      ),
    freeAt: (at) =>
      Math.min(...casesAt(at).map((each) => (leftIn(each).hi >= 1 ? at.lo : Math.max(at.lo, each.end.lo))))
  }
}

// A sliding log: the times of the requests of the last `length` ms, and an unknown number of requests before the first.

interface Entry {
  readonly at: Span
  readonly count: Span
}

interface Log {
  readonly entries: ReadonlyArray<Entry>
  readonly earlier: Span
  /** The time at which all earlier requests have expired. */
  readonly until: number | undefined
}

/** Maximum number of entries; neighbors are then merged, which is less exact but still true. */
const MAX_ENTRIES = 64

const log = (limit: number, length: number, { earlier, entries, until }: Log): Window => {
  const unexpired = (at: Span) => entries.filter((entry) => entry.at.hi + length > at.lo)
  const earlierAt = (at: Span): Span =>
    until !== undefined && at.lo >= until ? span(0) : span(0, earlier.hi)
  const usedAt = (at: Span): Span =>
    unexpired(at).reduce(
      (sum, entry) => plus(sum, span(entry.at.lo + length > at.hi ? entry.count.lo : 0, entry.count.hi)),
      earlierAt(at)
    )
  const left = (at: Span) => {
    const used = usedAt(at)
    return span(Math.max(0, limit - used.hi), Math.max(0, limit - used.lo))
  }
  const of = (changed: Partial<Log>) => log(limit, length, { earlier, entries, until, ...changed })
  return {
    left,
    take: (at, count) =>
      of({ entries: withEntry(unexpired(at), { at, count }), until: until ?? at.hi + length }),
    learnLeft: (at, known) => {
      const used = usedAt(at)
      const learned = common(
        used,
        span(limit - known.hi, known.lo <= 0 ? Number.POSITIVE_INFINITY : limit - known.lo)
      )
      if (learned === undefined) return undefined
      // If only one reading of the uncertain entries is left, they become certain.
      const isLeast = learned.hi === used.lo
      const isMost = learned.lo === used.hi
      const kept = unexpired(at).map((entry) => {
        const isCertain = entry.at.lo + length > at.hi
        if (isLeast && isCertain) return { ...entry, count: span(entry.count.lo) }
        return isMost ? { ...entry, count: span(entry.count.hi) } : entry
      })
      const certain = used.lo
      return of({
        entries: kept,
        earlier: span(0, Math.max(0, Math.min(earlierAt(at).hi, learned.hi - certain))),
        until: until ?? at.hi + length
      })
    },
    learnReset: (at, reset) => {
      const meanings = [plus(at, length), at, ...unexpired(at).map((entry) => plus(entry.at, length))]
      if (earlierAt(at).hi > 0) meanings.push(span(at.lo, until ?? at.hi + length))
      return meanings.some((meaning) => isNear(reset, meaning)) ? of({}) : undefined
    },
    freeAt: (at) => {
      let excess = usedAt(at).lo - limit + 1
      const last = unexpired(at).find(({ count }) => {
        excess -= count.hi
        return excess <= 0
      })
      return excess <= 0 && last !== undefined && usedAt(at).lo >= limit
        ? Math.max(at.lo, last.at.lo + length)
        : at.lo
    }
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

/** Merges neighbors if there are more than `max` items. */
const merged = <A>(items: ReadonlyArray<A>, max: number, merge: (a: A, b: A) => A): ReadonlyArray<A> =>
  items.length <= max
    ? items
    : items.flatMap((first, index) => {
        const second = items[index + 1]
        if (index % 2 === 1) return []
        return [second === undefined ? first : merge(first, second)]
      })
