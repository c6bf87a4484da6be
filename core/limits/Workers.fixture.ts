/**
 * Simulates workers that share one key. A simulation yields the time of each request and receives the verdict on it;
 * any store can return the verdicts.
 */
import type * as RateLimit from "./RateLimit.ts"

const MINUTE_MS = 60_000

/** One request in a simulation. */
export interface Sent {
  readonly worker: number
  readonly now: number
  readonly verdict: RateLimit.Verdict
}

/** Yields the time of each request, receives its verdict, and returns all requests. */
export type Simulation = Generator<number, ReadonlyArray<Sent>, RateLimit.Verdict>

export interface ClosedLoop {
  /** The time of each worker's first request, in epoch milliseconds. */
  readonly starts: ReadonlyArray<number>
  /** The time after which no request is sent, in epoch milliseconds. */
  readonly end: number
  /** Milliseconds between an admitted request and the worker's next one. */
  readonly work: (worker: number) => number
  /** Milliseconds that a worker waits after a denied request, given its `Retry-After`. */
  readonly wait: (retryAfterMs: number) => number
}

/** Simulates workers that each send one request at a time. Ends early at the first ban. */
export function* closedLoop({ end, starts, wait, work }: ClosedLoop): Simulation {
  const sent: Array<Sent> = []
  const queue = starts.map((at, worker) => ({ at, worker })).sort((a, b) => a.at - b.at)
  for (let next = queue.shift(); next !== undefined && next.at <= end; next = queue.shift()) {
    const { at, worker } = next
    const verdict = yield at
    sent.push({ now: at, verdict, worker })
    if (verdict.outcome === "banned") break
    const pause = verdict.outcome === "admitted" ? work(worker) : wait(verdict.retryAfter * 1_000)
    insert(queue, { at: at + Math.max(pause, 1), worker })
  }
  return sent
}

/** Simulates one client that sends requests at a constant rate. Ends early at the first ban. */
export function* constantRate(start: number, end: number, perMinute: number): Simulation {
  const sent: Array<Sent> = []
  for (let count = 0; ; count++) {
    const now = start + Math.floor((count * MINUTE_MS) / perMinute)
    if (now > end) return sent
    const verdict = yield now
    sent.push({ now, verdict, worker: 0 })
    if (verdict.outcome === "banned") return sent
  }
}

/** Simulates `requests` requests at `start`, and one retry of each denied request exactly after `Retry-After`. */
export function* burst(start: number, requests: number): Simulation {
  const sent: Array<Sent> = []
  for (let worker = 0; worker < requests; worker++) {
    sent.push({ now: start, verdict: yield start, worker })
  }
  const retries = sent
    .filter(({ verdict }) => verdict.outcome !== "admitted")
    .map(({ verdict, worker }) => ({ now: start + verdict.retryAfter * 1_000, worker }))
    .sort((a, b) => a.now - b.now)
  for (const { now, worker } of retries) sent.push({ now, verdict: yield now, worker })
  return sent
}

const insert = <A extends { readonly at: number }>(queue: Array<A>, element: A): void => {
  let [low, high] = [0, queue.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((queue[middle]?.at ?? 0) <= element.at) low = middle + 1
    else high = middle
  }
  queue.splice(low, 0, element)
}

/** Runs a simulation; `send` returns the verdict on a request at the given time. */
export const run = (
  simulation: Simulation,
  send: (now: number) => RateLimit.Verdict
): ReadonlyArray<Sent> => {
  let next = simulation.next()
  while (next.done !== true) next = simulation.next(send(next.value))
  return next.value
}
