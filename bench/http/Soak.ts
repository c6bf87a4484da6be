/** Whether a server that is busy for long comes to need more memory. */
import type { Progress } from "../Progress.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { Operation } from "./Operation.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** How long, and how often memory is looked at. */
export interface SoakOptions {
  readonly seconds: number
  readonly everySeconds: number
  readonly connections: number
}

/** Memory at one moment, nothing being under way. */
export interface Sample {
  readonly seconds: number
  /** Requests since the start. */
  readonly requests: number
  readonly residentBytes: number
  /** What is in use after garbage was collected. */
  readonly usedBytes: number
}

/** What came of it. */
export interface SoakFigures {
  readonly server: string
  readonly operations: ReadonlyArray<string>
  readonly samples: ReadonlyArray<Sample>
  /** Growth over the second half, by a straight line through its samples. */
  readonly residentGrowth: Growth
  readonly usedGrowth: Growth
}

/** A straight line through samples, from its first moment to its last. */
export interface Growth {
  readonly bytes: number
  /** As a share of where the line begins. */
  readonly share: number
}

/** The operations one after the other, each for a while, again and again; `server` runs with `--expose-gc`. */
export const measure = async (
  server: ServerProcess,
  load: LoadGenerator,
  operations: ReadonlyArray<Operation>,
  { connections, everySeconds, seconds }: SoakOptions,
  progress: Progress
): Promise<SoakFigures> => {
  for (const operation of operations) await server.check(operation)
  const samples: Array<Sample> = []
  let requests = 0
  for (let spent = everySeconds; spent <= seconds; spent += everySeconds) {
    progress.at(`${spent} of ${seconds} s`)
    for (const operation of operations) {
      const part = { connections, seconds: everySeconds / operations.length }
      requests += (await load.carryOut(server, operation, part)).requests
    }
    const { residentBytes, usedBytes } = await server.usage()
    samples.push({ seconds: spent, requests, residentBytes, usedBytes })
    progress.advance(everySeconds)
  }
  const half = samples.slice(Math.floor(samples.length / 2))
  return {
    server: server.name,
    operations: operations.map(({ name }) => name),
    samples,
    residentGrowth: growth(half.map(({ residentBytes, seconds }) => [seconds, residentBytes])),
    usedGrowth: growth(half.map(({ seconds, usedBytes }) => [seconds, usedBytes]))
  }
}

/** How far the line of least squares rises from the first point to the last. */
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
