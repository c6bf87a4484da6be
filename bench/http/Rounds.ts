/**
 * Measures the CPU time of servers per request, in rounds.
 *
 * In each round, every server has a turn with the same requests, so that other load on the machine affects all servers.
 * The figure is the CPU time of the whole process, as the operating system counts it, divided by the number of requests
 * in the turn, so it includes garbage collection. The multiple of the bare server is computed within each round,
 * because other load slows down both servers of a round; its median and its spread are computed over the rounds.
 */
import type { Progress } from "../Progress.ts"
import * as Spread from "../results/Spread.ts"
import type { Load, LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import * as Verification from "./Verification.ts"
import { type Case, DEFAULT_CONNECTIONS, mix } from "./Workload.ts"

/** The number and duration of the measurements. */
export interface RoundsOptions {
  /**
   * Number of requests of the mix to each server before the first case, because the first 40,000 requests to a process
   * take more CPU time than later ones.
   */
  readonly startRequests: number
  /** Maximum duration of these requests in seconds. */
  readonly startSeconds: number
  readonly rounds: number
  /** Number of requests in a turn; with one connection, a quarter of it. */
  readonly requests: number
  /** Maximum duration of a turn in seconds; a slow server gets fewer requests. */
  readonly seconds: number
  /** Number of requests to each server before the first round, so that V8 optimizes the code in use. */
  readonly warmUpRequests: number
  /** Maximum duration of a server's warm-up in seconds. */
  readonly warmUpSeconds: number
}

/** The load generator and the servers of a run; `bare` and `reference` are among the servers. */
export interface Setup {
  readonly servers: ReadonlyArray<ServerProcess>
  readonly bare: ServerProcess
  /** The server whose responses `bare` replays. */
  readonly reference: ServerProcess
  readonly load: LoadGenerator
}

/** The measurements of a server in a case. */
export interface ServerFigures {
  readonly server: string
  /** CPU microseconds per request. */
  readonly cpuMicros: Spread.Spread
  /** CPU time as a multiple of the bare server's. */
  readonly ratio: Spread.Spread
  readonly perSecond: Spread.Spread
  /** CPU microseconds of its database servers per request; absent if none runs on this machine. */
  readonly databaseMicros?: Spread.Spread
  /** Latency in milliseconds. */
  readonly latency: { readonly p50: Spread.Spread; readonly p99: Spread.Spread; readonly p999: Spread.Spread }
  /** Maximum resident memory in bytes since the start of the process. */
  readonly peakBytes: number
}

/** The figures of all servers in a case. */
export interface CaseFigures {
  readonly name: string
  readonly servers: ReadonlyArray<ServerFigures>
}

/** The measurements of one server in one round. */
export interface Turn {
  readonly databaseMicros: number | undefined
  readonly cpuMicros: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

/** Number of responses that the bare server replays. */
const RECORDED = 200
/** Number of responses that are compared with those of the reference. */
const COMPARED = 25

/** Estimates how many seconds a case takes. */
export const estimateSeconds = (servers: number, { rounds, seconds, warmUpSeconds }: RoundsOptions): number =>
  servers * (rounds * seconds + warmUpSeconds) * SHARE_OF_LIMITS

/** Estimates how many seconds the first requests take. */
export const estimateStartSeconds = (servers: number, { startSeconds }: RoundsOptions): number =>
  servers * startSeconds * SHARE_OF_LIMITS

/** The average fraction of the maximum durations that servers need. */
const SHARE_OF_LIMITS = 0.4

/** The seed of the warm-up; the seed of a round is its number. */
const WARM_UP_SEED = -1

/** Sends the first requests to every server except the bare one, which has no responses yet. */
export const warmUp = async (
  { bare, load, servers }: Setup,
  { startRequests, startSeconds }: RoundsOptions,
  progress: Progress
): Promise<void> => {
  const mixed = { workload: mix, connections: DEFAULT_CONNECTIONS, isCyclic: false, seed: WARM_UP_SEED }
  await sendToEach(
    servers.filter((server) => server !== bare),
    load,
    { ...mixed, requests: startRequests, seconds: startSeconds },
    progress
  )
}

/** Sends a load that is not measured to each of the servers. */
const sendToEach = async (
  servers: ReadonlyArray<ServerProcess>,
  generator: LoadGenerator,
  load: Load,
  progress: Progress
): Promise<void> => {
  for (const server of servers) {
    progress.step(`warming up ${server.name}`)
    await generator.run(server, load)
  }
  progress.advance(servers.length * load.seconds * SHARE_OF_LIMITS)
}

/** Checks the responses of every server, then measures all of them. */
export const measure = async (
  { bare, load, reference, servers }: Setup,
  { connections, name, workload }: Case,
  options: RoundsOptions,
  progress: Progress
): Promise<CaseFigures> => {
  progress.step("comparing responses")
  const sample = await Verification.record(reference, workload, RECORDED)
  await bare.replay(reference.address, sample.responses)
  for (const server of servers) {
    if (server !== bare && server !== reference) await Verification.check(server, sample, COMPARED)
  }

  const given = { workload, connections, isCyclic: false }
  const { warmUpRequests, warmUpSeconds } = options
  const warmUpLoad = { ...given, requests: warmUpRequests, seconds: warmUpSeconds, seed: WARM_UP_SEED }
  await sendToEach(servers, load, warmUpLoad, progress)

  const requests = connections === 1 ? Math.ceil(options.requests / 4) : options.requests
  const turn = async (server: ServerProcess, seed: number): Promise<Turn> => {
    const send = await load.connect(server, { ...given, requests, seconds: options.seconds, seed })
    const before = await server.usage()
    const databaseUsage = server.databaseUsage()
    const outcome = await send()
    const after = await server.usage()
    const databaseMicros = databaseUsage()
    await load.close()
    return {
      databaseMicros: databaseMicros === undefined ? undefined : databaseMicros / outcome.requests,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / outcome.requests,
      perSecond: outcome.perSecond,
      ...outcome.latency
    }
  }

  const turns = new Map<ServerProcess, Array<Turn>>(servers.map((server) => [server, []]))
  for (let round = 1; round <= options.rounds; round++) {
    // Each round starts with a different server, and every second round is in reverse order, so that no server always
    // follows the same one.
    const first = round % servers.length
    const order = [...servers.slice(first), ...servers.slice(0, first)]
    for (const server of round % 2 === 0 ? order : order.reverse()) {
      progress.step(`round ${round} of ${options.rounds}, ${server.name}`)
      turns.get(server)?.push(await turn(server, round))
    }
    progress.advance(servers.length * options.seconds * SHARE_OF_LIMITS)
  }
  const bareTurns = turns.get(bare) ?? []
  const figures: Array<ServerFigures> = []
  for (const [server, ownTurns] of turns) {
    figures.push({
      server: server.name,
      ...figuresOf(ownTurns, bareTurns),
      peakBytes: (await server.usage()).peakBytes
    })
  }
  return { name, servers: figures }
}

/** Computes the figures of a server from its turns and those of the bare server, in the same order of rounds. */
export const figuresOf = (
  ownTurns: ReadonlyArray<Turn>,
  bareTurns: ReadonlyArray<Turn>
): Omit<ServerFigures, "server" | "peakBytes"> => {
  const databaseMicros = ownTurns.map((turn) => turn.databaseMicros).filter((micros) => micros !== undefined)
  return {
    cpuMicros: Spread.of(ownTurns.map((turn) => turn.cpuMicros)),
    ratio: Spread.of(
      ownTurns.map((turn, round) => turn.cpuMicros / (bareTurns[round]?.cpuMicros ?? Number.NaN))
    ),
    perSecond: Spread.of(ownTurns.map((turn) => turn.perSecond)),
    ...(databaseMicros.length === 0 ? {} : { databaseMicros: Spread.of(databaseMicros) }),
    latency: {
      p50: Spread.of(ownTurns.map((turn) => turn.p50)),
      p99: Spread.of(ownTurns.map((turn) => turn.p99)),
      p999: Spread.of(ownTurns.map((turn) => turn.p999))
    }
  }
}
