/** Measures whether a server's memory keeps growing under a long load. */
import type { Progress } from "../Progress.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import { DEFAULT_CONNECTIONS, type Workload } from "./Workload.ts"

/** The duration of the load, and the interval between memory measurements. */
export interface SoakOptions {
  readonly seconds: number
  readonly intervalSeconds: number
}

/** The memory at the end, and how it grew over the second half: the rise of a straight line through its samples. */
export interface MemoryFigures {
  readonly finalBytes: number
  readonly growth: Growth
}

/** The result of a soak. */
export interface SoakFigures {
  readonly server: string
  readonly workloads: ReadonlyArray<string>
  readonly seconds: number
  readonly requests: number
  readonly resident: MemoryFigures
  /** Memory in use after a garbage collection. */
  readonly used: MemoryFigures
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
  { intervalSeconds, seconds }: SoakOptions,
  progress: Progress
): Promise<SoakFigures> => {
  const resident: Array<number> = []
  const used: Array<number> = []
  let requests = 0
  let seed = 1
  for (let spent = intervalSeconds; spent <= seconds; spent += intervalSeconds) {
    progress.step(`${spent} of ${seconds} s`)
    for (const workload of workloads) {
      const part = { workload, connections: DEFAULT_CONNECTIONS, seconds: intervalSeconds / workloads.length }
      const sent = { ...part, requests: REQUESTS, isCyclic: true, seed: seed++ }
      requests += (await load.run(server, sent)).requests
    }
    const usage = await server.usage()
    resident.push(usage.residentBytes)
    used.push(usage.usedBytes)
    progress.advance(intervalSeconds)
  }
  const memory = (samples: ReadonlyArray<number>): MemoryFigures => ({
    finalBytes: samples.at(-1) ?? 0,
    growth: growth(samples.slice(Math.floor(samples.length / 2)))
  })
  return {
    server: server.name,
    workloads: workloads.map(({ name }) => name),
    seconds,
    requests,
    resident: memory(resident),
    used: memory(used)
  }
}

/** Computes the rise of the least-squares line through samples at equal intervals, from the first to the last. */
export const growth = (samples: ReadonlyArray<number>): Growth => {
  const mean = (values: ReadonlyArray<number>): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = (samples.length - 1) / 2
  const slope =
    mean(samples.map((bytes, index) => (index - middle) * bytes)) /
    (mean(samples.map((_, index) => (index - middle) ** 2)) || 1)
  const bytes = slope * (samples.length - 1)
  return { bytes, share: bytes / (mean(samples) - slope * middle) }
}
