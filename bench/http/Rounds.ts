/**
 * The CPU time that servers take for a request, measured in rounds.
 *
 * In each round every server has its turn, so that whatever the machine does meanwhile strikes all of them; a ratio is
 * one of medians over the rounds, and its spread is that within single rounds. CPU time is the operating system's, of the whole process, divided by the requests it answered:
 * collecting garbage and accepting connections are in it.
 */
import type { Progress } from "../Progress.ts"
import * as Spread from "../results/Spread.ts"
import type { LoadGenerator } from "./LoadGenerator.ts"
import type { Operation } from "./Operation.ts"
import type { ServerProcess } from "./ServerProcess.ts"

/** How long and how often. */
export interface RoundsOptions {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly connections: number
}

/** Who takes part; `bare` and `reference` are among the servers. */
export interface Field {
  readonly servers: ReadonlyArray<ServerProcess>
  readonly bare: ServerProcess
  /** Whose answers `bare` repeats. */
  readonly reference: ServerProcess
  readonly load: LoadGenerator
}

/** What a server took for an operation. */
export interface ServerFigures {
  readonly server: string
  /** Microseconds of CPU for a request. */
  readonly cpuMicros: Spread.Spread
  /** CPU time as a multiple of the bare server's: of the medians, and the least and the most within a round. */
  readonly ratio: Spread.Spread
  readonly perSecond: Spread.Spread
  /** Milliseconds. */
  readonly latency: { readonly p50: Spread.Spread; readonly p99: Spread.Spread; readonly p999: Spread.Spread }
  /** The most memory that was resident since the process started. */
  readonly peakBytes: number
}

/** An operation at all servers. */
export interface OperationFigures {
  readonly operation: string
  readonly servers: ReadonlyArray<ServerFigures>
}

interface Turn {
  readonly cpuMicros: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

/** Seconds that an operation takes. */
export const secondsOf = (servers: number, { rounds, seconds, warmUpSeconds }: RoundsOptions): number =>
  servers * (warmUpSeconds + rounds * seconds)

/** Checks the answers of every server to an operation, then measures it. */
export const measure = async (
  { bare, load, reference, servers }: Field,
  operation: Operation,
  options: RoundsOptions,
  progress: Progress
): Promise<OperationFigures> => {
  const bodies = new Map<ServerProcess, string>()
  const bares = servers.filter(({ isBare }) => isBare)
  for (const server of servers) if (!server.isBare) bodies.set(server, await server.check(operation))
  for (const server of bares) {
    await server.repeat({ status: operation.status, body: bodies.get(reference) ?? "" })
    await server.check(operation)
  }

  const turn = async (server: ServerProcess, seconds: number): Promise<Turn> => {
    const send = await load.connect(server, operation, { ...options, seconds })
    const before = await server.usage()
    const { latency, perSecond, requests } = await send()
    const after = await server.usage()
    await load.close()
    progress.advance(seconds)
    return { cpuMicros: (after.cpuMicros - before.cpuMicros) / requests, perSecond, ...latency }
  }

  const turns = new Map<ServerProcess, Array<Turn>>()
  for (const server of servers) {
    progress.at(`warming up ${server.name}`)
    await turn(server, options.warmUpSeconds)
    turns.set(server, [])
  }
  for (let round = 0; round < options.rounds; round++) {
    // Another one comes first each time, and every other time all have their other neighbour before them.
    const first = round % servers.length
    const order = [...servers.slice(first), ...servers.slice(0, first)]
    for (const server of round % 2 === 0 ? order : order.reverse()) {
      progress.at(`round ${round + 1} of ${options.rounds}, ${server.name}`)
      turns.get(server)?.push(await turn(server, options.seconds))
    }
  }

  const ofBare = turns.get(bare) ?? []
  const bareMedian = Spread.median(ofBare.map(({ cpuMicros }) => cpuMicros))
  const figures: Array<ServerFigures> = []
  for (const [server, own] of turns) {
    const cpuMicros = Spread.of(own.map((turn) => turn.cpuMicros))
    const ratios = own.map((turn, round) => turn.cpuMicros / (ofBare[round]?.cpuMicros ?? Number.NaN))
    figures.push({
      server: server.name,
      cpuMicros,
      ratio: { ...Spread.of(ratios), median: cpuMicros.median / bareMedian },
      perSecond: Spread.of(own.map((turn) => turn.perSecond)),
      latency: {
        p50: Spread.of(own.map((turn) => turn.p50)),
        p99: Spread.of(own.map((turn) => turn.p99)),
        p999: Spread.of(own.map((turn) => turn.p999))
      },
      peakBytes: (await server.usage()).peakBytes
    })
  }
  return { operation: operation.name, servers: figures }
}
