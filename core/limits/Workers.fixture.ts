/** Workers that share one key, as a simulation that any store of rate limits can run: it yields times and takes verdicts. */
import type * as RateLimit from "./RateLimit.ts"

/** One request of a simulation. */
export interface Sent {
  readonly worker: number
  readonly now: number
  readonly verdict: RateLimit.Verdict
}

/** Yields the moment of each request and is given its verdict; returns all requests. */
export type Simulation = Generator<number, ReadonlyArray<Sent>, RateLimit.Verdict>

export interface ClosedLoop {
  /** The moment of each worker's first request. */
  readonly starts: ReadonlyArray<number>
  /** The moment after which no request is sent. */
  readonly end: number
  /** Milliseconds that a worker takes until it sends its next request, after one that was admitted. */
  readonly work: (worker: number) => number
  /** Milliseconds that a worker waits after it was told to wait `toldMs`. */
  readonly wait: (toldMs: number) => number
}

/** Workers that each send their next request when the last one is done; ends early with the first ban. */
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

/** One sender at a constant rate, without pause; ends early with the first ban. */
export function* constantRate(start: number, end: number, perMinute: number): Simulation {
  const sent: Array<Sent> = []
  for (let count = 0; ; count++) {
    const now = start + Math.floor((count * 60_000) / perMinute)
    if (now > end) return sent
    const verdict = yield now
    sent.push({ now, verdict, worker: 0 })
    if (verdict.outcome === "banned") return sent
  }
}

/** `requests` at `start`; each denied one is sent once more, exactly when it was told. */
export function* burst(start: number, requests: number): Simulation {
  const sent: Array<Sent> = []
  for (let worker = 0; worker < requests; worker++) {
    sent.push({ now: start, verdict: yield start, worker })
  }
  const again = sent
    .filter(({ verdict }) => verdict.outcome !== "admitted")
    .map(({ verdict, worker }) => ({ now: start + verdict.retryAfter * 1_000, worker }))
    .sort((a, b) => a.now - b.now)
  for (const { now, worker } of again) sent.push({ now, verdict: yield now, worker })
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

/** Runs a simulation on `send`, which counts one request. */
export const run = (
  simulation: Simulation,
  send: (now: number) => RateLimit.Verdict
): ReadonlyArray<Sent> => {
  let next = simulation.next()
  while (next.done !== true) next = simulation.next(send(next.value))
  return next.value
}

/** The same where counting takes a promise. */
export const runAsync = async (
  simulation: Simulation,
  send: (now: number) => Promise<RateLimit.Verdict>
): Promise<ReadonlyArray<Sent>> => {
  let next = simulation.next()
  while (next.done !== true) next = simulation.next(await send(next.value))
  return next.value
}
