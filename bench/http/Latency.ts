/** Measures latency at half of a server's maximum throughput, a typical load of a server in production. */
import { report } from "../Progress.ts"
import * as Spread from "../Spread.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import { DEFAULT_CONNECTIONS, type Workload } from "./Workload.ts"

/** The number and duration of the measurements. */
export interface LatencyOptions {
  readonly rounds: number
  /** Duration of each round in seconds. */
  readonly seconds: number
  /** Duration of the warm-up in seconds; the search for the maximum takes as long again. */
  readonly maximumSeconds: number
}

/** The latency of one server with one workload. */
export interface LatencyFigures {
  readonly server: string
  readonly workload: string
  /** Requests per second when every connection always has one request in flight. */
  readonly maximumPerSecond: number
  /** Milliseconds from when a request was due to when its response arrived. */
  readonly p50: Spread.Spread
  readonly p99: Spread.Spread
}

/**
 * Number of measurements of the maximum. Their median is used, because other load on the machine slows some of them
 * down.
 */
const MAXIMUM_RUNS = 8

/** Number of distinct requests; the load generator sends them repeatedly. */
const REQUESTS = 5_000

/** Measures the maximum throughput, then sends requests at half of that rate. */
export const measure = async (
  server: ServerProcess,
  load: LoadGenerator,
  workload: Workload,
  { maximumSeconds, rounds, seconds }: LatencyOptions
): Promise<LatencyFigures> => {
  let seed = 1
  const send = (given: { readonly seconds: number; readonly rate?: number }) => {
    const connections = DEFAULT_CONNECTIONS
    return load.run(server, {
      ...given,
      workload,
      connections,
      requests: REQUESTS,
      isCyclic: true,
      seed: seed++
    })
  }
  report(`latency, ${workload.name}, ${server.name}`)
  await send({ seconds: maximumSeconds })
  const maxima: Array<number> = []
  while (maxima.length < MAXIMUM_RUNS)
    maxima.push((await send({ seconds: maximumSeconds / MAXIMUM_RUNS })).perSecond)
  const maximumPerSecond = Spread.median(maxima)
  const latencies = []
  while (latencies.length < rounds)
    latencies.push((await send({ seconds, rate: Math.round(maximumPerSecond / 2) })).latency)
  return {
    server: server.name,
    workload: workload.name,
    maximumPerSecond,
    p50: Spread.of(latencies.map(({ p50 }) => p50)),
    p99: Spread.of(latencies.map(({ p99 }) => p99))
  }
}
