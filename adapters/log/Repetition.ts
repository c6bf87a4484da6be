/**
 * Sums up events that repeat: the first of a kind is emitted at once, those that follow as one summary a second. A pure
 * state machine; times are monotonic milliseconds.
 */

/** Milliseconds between two emissions of one kind of event. */
export const INTERVAL_MS = 1_000

/** Kinds that are told apart at a time; the events of all others are summed up together. */
export const MAX_KINDS = 64

/** What is to be logged. */
export interface Emission<Event> {
  /** The event, or the latest one of those that are summed up. */
  readonly event: Event
  /** How many events this stands for. */
  readonly count: number
  /** Milliseconds since the previous emission of this kind; 0 for the first event of a kind. */
  readonly withinMs: number
  /** True if the events are of several kinds. */
  readonly isMixed: boolean
}

interface Pending<Event> {
  /** When this kind was emitted last. */
  readonly since: number
  /** Events after that, and the latest of them. */
  readonly count: number
  readonly event: Event
}

/** By kind. */
export type State<Event> = ReadonlyMap<string, Pending<Event>>

type Step<Event> = readonly [emissions: ReadonlyArray<Emission<Event>>, state: State<Event>]

const MIXED = "\0mixed"

/** The state before any event. */
export const empty: State<never> = new Map()

/** After an event of a kind at `now`. */
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

/** After time has passed: emits the summaries that are due, and removes the kinds that have not repeated. */
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

/** Emits what is pending, due or not. */
export const flush = <Event>(state: State<Event>, now: number): Step<Event> => [
  summaries([...state], now),
  empty
]

/** Milliseconds until `tick` has something to do, or `undefined` while nothing is pending. */
export const dueIn = (state: State<unknown>, now: number): number | undefined => {
  let first: number | undefined
  for (const { since } of state.values()) first = Math.min(first ?? since, since)
  return first === undefined ? undefined : Math.max(first + INTERVAL_MS - now, 0)
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
