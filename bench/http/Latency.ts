/** Measures latency at shares of a server's maximum throughput: nearly idle, and at a typical load in production. */
import type { Progress } from "../Progress.ts"
import * as Spread from "../results/Spread.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import type { Workload } from "./Workload.ts"

/** The duration and the number of the measurements. */
export interface LatencyOptions {
  readonly rounds: number
  /** Seconds of each round. */
  readonly seconds: number
  /** Seconds of the warm-up; the search for the maximum takes the same time. */
  readonly maximumSeconds: number
  readonly connections: number
}

/** The shares of the maximum throughput at which latency is measured. */
export const shares = [0.1, 0.5] as const

/** The latency of one server with one workload. */
export interface LatencyFigures {
  readonly server: string
  readonly workload: string
  /** Requests per second when every connection always has one in flight. */
  readonly maximumPerSecond: number
  /** The share of the maximum at which requests were sent. */
  readonly share: number
  /** Requests per second that were sent. */
  readonly rate: number
  /** Milliseconds from the time at which a request was due to its response. */
  readonly p50: Spread.Spread
  readonly p99: Spread.Spread
  readonly p999: Spread.Spread
}

/** Number of measurements of the maximum; several, because other load on the machine slows down some of them. */
const TURNS_TO_MAXIMUM = 8

/** Number of requests that are built for a load, which sends them repeatedly. */
const REQUESTS = 5_000

/** Estimates the seconds that a workload takes. */
export const secondsOf = ({ maximumSeconds, rounds, seconds }: LatencyOptions): number =>
  2 * maximumSeconds + shares.length * rounds * seconds

/** Finds the maximum throughput, then sends shares of it at a constant rate. */
export const measure = async (
  server: ServerProcess,
  load: LoadGenerator,
  workload: Workload,
  { connections, maximumSeconds, rounds, seconds }: LatencyOptions,
  progress: Progress
): Promise<ReadonlyArray<LatencyFigures>> => {
  let seed = 1
  const send = async (what: string, given: { readonly seconds: number; readonly rate?: number }) => {
    progress.at(what)
    const outcome = await load.carryOut(server, {
      ...given,
      workload,
      connections,
      requests: REQUESTS,
      isCyclic: true,
      seed: seed++
    })
    progress.advance(given.seconds)
    return outcome
  }
  await send("warming up", { seconds: maximumSeconds })
  const maxima: Array<number> = []
  for (let turn = 0; turn < TURNS_TO_MAXIMUM; turn++) {
    const { perSecond } = await send("at full speed", { seconds: maximumSeconds / TURNS_TO_MAXIMUM })
    maxima.push(perSecond)
  }
  const maximumPerSecond = Spread.median(maxima)
  const figures: Array<LatencyFigures> = []
  for (const share of shares) {
    const rate = Math.round(maximumPerSecond * share)
    const latencies = []
    for (let round = 0; round < rounds; round++) {
      const what = `at ${rate} a second, round ${round + 1} of ${rounds}`
      latencies.push((await send(what, { seconds, rate })).latency)
    }
    figures.push({
      server: server.name,
      workload: workload.name,
      maximumPerSecond,
      share,
      rate,
      p50: Spread.of(latencies.map(({ p50 }) => p50)),
      p99: Spread.of(latencies.map(({ p99 }) => p99)),
      p999: Spread.of(latencies.map(({ p999 }) => p999))
    })
  }
  return figures
}
