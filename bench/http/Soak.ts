/** Measures whether a server's memory keeps growing under a long load. */
import type { Progress } from "../Progress.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import type { Workload } from "./Workload.ts"

/** The duration of the load, and the interval between memory measurements. */
export interface SoakOptions {
  readonly seconds: number
  readonly intervalSeconds: number
  readonly connections: number
}

/** A measurement of memory while no request is in flight. */
export interface Sample {
  readonly seconds: number
  /** Number of requests since the start. */
  readonly requests: number
  readonly residentBytes: number
  /** Bytes in use after a garbage collection. */
  readonly usedBytes: number
}

/** The result of a soak. */
export interface SoakFigures {
  readonly server: string
  readonly workloads: ReadonlyArray<string>
  readonly samples: ReadonlyArray<Sample>
  /** Growth over the second half: the rise of a straight line through its samples. */
  readonly residentGrowth: Growth
  readonly usedGrowth: Growth
}

/** The rise of a straight line through samples, from the first to the last. */
export interface Growth {
  readonly bytes: number
  /** The rise as a share of the value at which the line begins. */
  readonly share: number
}

/** Number of distinct requests; the load generator sends them repeatedly. */
const REQUESTS = 5_000

/** Sends the workloads in turn, each for an equal part of the interval; `server` needs `--expose-gc`. */
export const measure = async (
  server: ServerProcess,
  load: LoadGenerator,
  workloads: ReadonlyArray<Workload>,
  { connections, intervalSeconds, seconds }: SoakOptions,
  progress: Progress
): Promise<SoakFigures> => {
  const samples: Array<Sample> = []
  let requests = 0
  let seed = 1
  for (let spent = intervalSeconds; spent <= seconds; spent += intervalSeconds) {
    progress.step(`${spent} of ${seconds} s`)
    for (const workload of workloads) {
      const part = { workload, connections, seconds: intervalSeconds / workloads.length }
      const sent = { ...part, requests: REQUESTS, isCyclic: true, seed: seed++ }
      requests += (await load.run(server, sent)).requests
    }
    const { residentBytes, usedBytes } = await server.usage()
    samples.push({ seconds: spent, requests, residentBytes, usedBytes })
    progress.advance(intervalSeconds)
  }
  const secondHalf = samples.slice(Math.floor(samples.length / 2))
  return {
    server: server.name,
    workloads: workloads.map(({ name }) => name),
    samples,
    residentGrowth: growth(secondHalf.map(({ residentBytes, seconds }) => [seconds, residentBytes])),
    usedGrowth: growth(secondHalf.map(({ seconds, usedBytes }) => [seconds, usedBytes]))
  }
}

/** Computes the rise of the least-squares line from the first point to the last. */
export const growth = (points: ReadonlyArray<readonly [x: number, y: number]>): Growth => {
  const mean = (values: ReadonlyArray<number>): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const xs = points.map(([x]) => x)
  const [meanX, meanY] = [mean(xs), mean(points.map(([, y]) => y))]
  const slope =
    mean(points.map(([x, y]) => (x - meanX) * (y - meanY))) / (mean(xs.map((x) => (x - meanX) ** 2)) || 1)
  const [first = 0, last = 0] = [xs[0], xs.at(-1)]
  const bytes = slope * (last - first)
  return { bytes, share: bytes / (meanY + slope * (first - meanX)) }
}
