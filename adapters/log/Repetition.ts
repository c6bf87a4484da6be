/**
 * Summarizes repeated events: the first event of a kind is emitted immediately, further ones as one summary per
 * second. This is a pure state machine; times are monotonic milliseconds.
 */

/** Milliseconds between two emissions of one kind of event. */
export const INTERVAL_MS = 1_000

/** Maximum number of kinds that are tracked separately; events of further kinds share one summary. */
export const MAX_KINDS = 64

/** An event or a summary to log. */
export interface Emission<Event> {
  /** The event, or the latest event of a summary. */
  readonly event: Event
  /** Number of events. */
  readonly count: number
  /** Milliseconds since the previous emission of this kind; 0 for the first event of a kind. */
  readonly withinMs: number
  /** Whether the events are of several kinds. */
  readonly isMixed: boolean
}

interface Pending<Event> {
  /** Time of the last emission of this kind. */
  readonly since: number
  /** Number of events since the last emission, and the latest event. */
  readonly count: number
  readonly event: Event
}

/** Pending events by kind. */
export type State<Event> = ReadonlyMap<string, Pending<Event>>

type Step<Event> = readonly [emissions: ReadonlyArray<Emission<Event>>, state: State<Event>]

const MIXED = "\0mixed"

/** The state before any event. */
export const empty: State<never> = new Map()

/** Records an event at `now`. Emits it if it is the first of its kind, after all summaries that are due. */
export const step = <Event>(state: State<Event>, now: number, kind: string, event: Event): Step<Event> => {
  const [due, current] = tick(state, now)
  const key = current.has(kind) || current.size < MAX_KINDS ? kind : MIXED
  const pending = current.get(key)
  const next = new Map(current)
  if (pending === undefined) {
    next.set(key, { since: now, count: 0, event })
    return [[...due, { event, count: 1, withinMs: 0, isMixed: false }], next]
  }
  next.set(key, { since: pending.since, count: pending.count + 1, event })
  return [due, next]
}

/** Emits the summaries that are due, and removes kinds without an event since their last emission. */
export const tick = <Event>(state: State<Event>, now: number): Step<Event> => {
  const due = [...state].filter(([, { since }]) => now - since >= INTERVAL_MS)
  if (due.length === 0) return [[], state]
  const next = new Map(state)
  for (const [key, { count, event }] of due) {
    if (count === 0) next.delete(key)
    else next.set(key, { since: now, count: 0, event })
  }
  return [summaries(due, now), next]
}

/** Emits all pending summaries, whether due or not. */
export const flush = <Event>(state: State<Event>, now: number): Step<Event> => [
  summaries([...state], now),
  empty
]

/** Returns the milliseconds until the next summary is due, or `undefined` if nothing is pending. */
export const dueIn = (state: State<unknown>, now: number): number | undefined => {
  let earliest: number | undefined
  for (const { since } of state.values()) earliest = Math.min(earliest ?? since, since)
  return earliest === undefined ? undefined : Math.max(earliest + INTERVAL_MS - now, 0)
}

const summaries = <Event>(
  pending: ReadonlyArray<readonly [key: string, pending: Pending<Event>]>,
  now: number
): ReadonlyArray<Emission<Event>> =>
  pending
    .filter(([, { count }]) => count > 0)
    .map(([key, { count, event, since }]) => ({
      event,
      count,
      withinMs: now - since,
      isMixed: key === MIXED
    }))
