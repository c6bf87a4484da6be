/** Compares two servers: the CPU time of one as a multiple of the other's, round by round. */
import type { LoadGenerator } from "../http/LoadGenerator.ts"
import { measureTurn } from "../http/Rounds.ts"
import type { ServerProcess } from "../http/ServerProcess.ts"
import type { Workload } from "../http/Workload.ts"
import * as Spread from "../Spread.ts"

/** The workload, and the number of rounds and requests. */
export interface PairOptions {
  readonly workload: Workload
  readonly rounds: number
  readonly warmUpRequests: number
  /** Number of requests to each server in a round. */
  readonly requests: number
  readonly connections: number
}

/** The CPU time per request of both servers in one round, in microseconds. */
export interface Round {
  readonly first: number
  readonly second: number
}

/** Maximum duration of a server's warm-up in seconds. */
const WARM_UP_SECONDS = 4

/** Maximum duration of a turn in seconds. */
const TURN_SECONDS = 2

/** Measures both servers with the same requests in each round; the second server is first in every second round. */
export const measure = async (
  [first, second]: readonly [ServerProcess, ServerProcess],
  load: LoadGenerator,
  { connections, requests, rounds, warmUpRequests, workload }: PairOptions
): Promise<ReadonlyArray<Round>> => {
  const given = { workload, connections, isCyclic: false }
  for (const server of [first, second]) {
    await load.run(server, { ...given, requests: warmUpRequests, seconds: WARM_UP_SECONDS, seed: 0 })
  }
  const turn = async (server: ServerProcess, seed: number): Promise<number> =>
    (await measureTurn(server, load, { ...given, requests, seconds: TURN_SECONDS, seed })).cpuMicros
  const measured: Array<Round> = []
  for (let round = 1; round <= rounds; round++) {
    if (round % 2 === 0) {
      const secondMicros = await turn(second, round)
      measured.push({ first: await turn(first, round), second: secondMicros })
    } else {
      const firstMicros = await turn(first, round)
      measured.push({ first: firstMicros, second: await turn(second, round) })
    }
  }
  return measured
}

/**
 * Half the width of the 95% confidence interval of the median, as a share of the ranks, times √rounds (binomial
 * distribution, normal approximation).
 */
const HALF_WIDTH = 0.98

/** Formats one line of the result. */
export const row = (name: string, rounds: ReadonlyArray<Round>): string => {
  const ratios = rounds.map(({ first, second }) => second / first)
  const quantileAt = (share: number): string => Spread.quantile(ratios, share).toFixed(3)
  const halfWidth = Math.min(HALF_WIDTH / Math.sqrt(ratios.length), 0.5)
  const medianMicros = (server: keyof Round): string =>
    Spread.median(rounds.map((round) => round[server])).toFixed(1)
  return columns([
    name,
    quantileAt(0.5),
    `${quantileAt(0.5 - halfWidth)}–${quantileAt(0.5 + halfWidth)}`,
    `${quantileAt(0.25)}–${quantileAt(0.75)}`,
    medianMicros("first"),
    medianMicros("second")
  ])
}

const columns = ([name = "", ...cells]: ReadonlyArray<string>): string =>
  [name.padEnd(26), ...cells.map((cell, index) => cell.padStart(index === 1 || index === 2 ? 13 : 7))].join(
    "  "
  )

/** The heading of the columns that `row` formats. */
export const heading = columns(["database, workload", "B / A", "95%", "middle half", "A, µs", "B, µs"])
