/** How long answers take at half of what a server could do, which is how one would run it. */
import type { Progress } from "../Progress.ts"
import * as Spread from "../results/Spread.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { Operation } from "./Operation.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** How long and how often. */
export interface LatencyOptions {
  readonly rounds: number
  /** Of each round. */
  readonly seconds: number
  /** To warm up, and again to find the maximum. */
  readonly maximumSeconds: number
  readonly connections: number
}

/** What came of it for one operation. */
export interface LatencyFigures {
  readonly server: string
  readonly operation: string
  /** Requests per second when as many are sent as are answered. */
  readonly maximumPerSecond: number
  /** Requests per second that were sent. */
  readonly rate: number
  /** Milliseconds from the moment a request was due. */
  readonly p50: Spread.Spread
  readonly p99: Spread.Spread
  readonly p999: Spread.Spread
  /** p99 / p50 of the same round. */
  readonly tail: Spread.Spread
}

/** Several, since what else the machine does slows one or the other of them. */
const TURNS_TO_MAXIMUM = 8

/** Seconds that an operation takes. */
export const secondsOf = ({ maximumSeconds, rounds, seconds }: LatencyOptions): number =>
  2 * maximumSeconds + rounds * seconds

/** Finds the maximum of an operation, then sends half of that at a constant rate. */
export const measure = async (
  server: ServerProcess,
  load: LoadGenerator,
  operation: Operation,
  { connections, maximumSeconds, rounds, seconds }: LatencyOptions,
  progress: Progress
): Promise<LatencyFigures> => {
  const send = async (what: string, given: { readonly seconds: number; readonly rate?: number }) => {
    progress.at(what)
    const outcome = await load.carryOut(server, operation, { ...given, connections })
    progress.advance(given.seconds)
    return outcome
  }
  await send("warming up", { seconds: maximumSeconds })
  const maxima: Array<number> = []
  for (let turn = 0; turn < TURNS_TO_MAXIMUM; turn++) {
    const { perSecond } = await send("as fast as it can", { seconds: maximumSeconds / TURNS_TO_MAXIMUM })
    maxima.push(perSecond)
  }
  const maximumPerSecond = Spread.median(maxima)
  const rate = Math.round(maximumPerSecond / 2)
  const latencies = []
  for (let round = 0; round < rounds; round++) {
    const { latency } = await send(`at ${rate} a second, round ${round + 1} of ${rounds}`, { seconds, rate })
    latencies.push(latency)
  }
  return {
    server: server.name,
    operation: operation.name,
    maximumPerSecond,
    rate,
    p50: Spread.of(latencies.map(({ p50 }) => p50)),
    p99: Spread.of(latencies.map(({ p99 }) => p99)),
    p999: Spread.of(latencies.map(({ p999 }) => p999)),
    tail: Spread.of(latencies.map(({ p50, p99 }) => p99 / p50))
  }
}
