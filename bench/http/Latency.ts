/** Measures latency at fractions of a server's maximum throughput: nearly idle, and at a typical production load. */
import type { Progress } from "../Progress.ts"
import * as Spread from "../results/Spread.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import type { Workload } from "./Workload.ts"

/** The number and duration of the measurements. */
export interface LatencyOptions {
  readonly rounds: number
  /** Duration of each round in seconds. */
  readonly seconds: number
  /** Duration of the warm-up in seconds; the search for the maximum takes as long again. */
  readonly maximumSeconds: number
  readonly connections: number
}

/** The fractions of the maximum throughput at which latency is measured. */
export const shares = [0.1, 0.5] as const

/** The latency of one server with one workload. */
export interface LatencyFigures {
  readonly server: string
  readonly workload: string
  /** Requests per second when every connection always has one request in flight. */
  readonly maximumPerSecond: number
  /** The fraction of the maximum at which requests were sent. */
  readonly share: number
  /** The rate at which requests were sent, per second. */
  readonly rate: number
  /** Milliseconds from when a request was due to when its response arrived. */
  readonly p50: Spread.Spread
  readonly p99: Spread.Spread
  readonly p999: Spread.Spread
}

/**
 * Number of measurements of the maximum. Their median is used, because other load on the machine slows some of them
 * down.
 */
const MAXIMUM_RUNS = 8

/** Number of distinct requests; the load generator sends them repeatedly. */
const REQUESTS = 5_000

/** Estimates how many seconds a workload takes. */
export const estimateSeconds = ({ maximumSeconds, rounds, seconds }: LatencyOptions): number =>
  2 * maximumSeconds + shares.length * rounds * seconds

/** Measures the maximum throughput, then sends requests at constant rates that are fractions of it. */
export const measure = async (
  server: ServerProcess,
  load: LoadGenerator,
  workload: Workload,
  { connections, maximumSeconds, rounds, seconds }: LatencyOptions,
  progress: Progress
): Promise<ReadonlyArray<LatencyFigures>> => {
  let seed = 1
  const send = async (step: string, given: { readonly seconds: number; readonly rate?: number }) => {
    progress.step(step)
    const outcome = await load.run(server, {
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
  for (let turn = 0; turn < MAXIMUM_RUNS; turn++) {
    const { perSecond } = await send("at full speed", { seconds: maximumSeconds / MAXIMUM_RUNS })
    maxima.push(perSecond)
  }
  const maximumPerSecond = Spread.median(maxima)
  const figures: Array<LatencyFigures> = []
  for (const share of shares) {
    const rate = Math.round(maximumPerSecond * share)
    const latencies = []
    for (let round = 0; round < rounds; round++) {
      const step = `at ${rate} per second, round ${round + 1} of ${rounds}`
      latencies.push((await send(step, { seconds, rate })).latency)
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
