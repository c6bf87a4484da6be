/**
 * Measures the CPU time of servers per request, in rounds.
 *
 * In each round, every server has a turn with the same requests, so that other load on the machine affects all servers
 * equally. The figure is the CPU time of the whole process, as the operating system counts it, divided by the number of
 * requests in the turn, so it includes garbage collection.
 */
import type { Load, LoadGenerator } from "./LoadGenerator.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import * as Verification from "./Verification.ts"
import { type Case, DEFAULT_CONNECTIONS, mix } from "./Workload.ts"

/** A load that ends after a number of requests, or after a time if the server is slow. */
export interface Amount {
  readonly requests: number
  readonly seconds: number
}

/** The lengths of the warm-ups and of the measurement. */
export interface RoundsOptions {
  /**
   * Requests of all kinds, sent to each server before the first case, because the first 40,000 requests to a process
   * take more CPU time than later ones.
   */
  readonly processWarmUp: Amount
  /** Requests that each server gets before the first round of a case, so that V8 optimizes the code in use. */
  readonly caseWarmUp: Amount
  readonly rounds: number
  /** Requests that each server gets in a round; a case with one connection sends only a quarter of them. */
  readonly turn: Amount
}

/** The load generator and the servers of a run. */
export interface Setup {
  readonly servers: ReadonlyArray<ServerProcess>
  /** The one of the `servers` that replays recorded responses with bare `node:http`. */
  readonly bare: ServerProcess
  /** The one of the `servers` whose responses `bare` replays. */
  readonly reference: ServerProcess
  readonly load: LoadGenerator
}

/** The measurements of one server in one round. */
export interface Turn {
  /** CPU microseconds per request. */
  readonly cpuMicros: number
  /** CPU microseconds of its database servers per request; absent if none runs on this machine. */
  readonly databaseMicros?: number
  readonly perSecond: number
}

/** The measurements of all servers in a case: for each server its turns, one for each round. */
export interface CaseFigures {
  readonly name: string
  readonly servers: ReadonlyArray<{ readonly server: string; readonly turns: ReadonlyArray<Turn> }>
}

/** Number of responses that the bare server replays. */
const RECORDED = 200
/** Number of responses that are compared with those of the reference. */
const COMPARED = 25

/** The seed of all warm-ups; the seed of a round is its number. */
const WARM_UP_SEED = -1

/** Sends an unmeasured load to each of the servers. */
const warmUp = async (
  servers: ReadonlyArray<ServerProcess>,
  generator: LoadGenerator,
  load: Omit<Load, "seed" | "isCyclic">
): Promise<void> => {
  for (const server of servers) {
    await generator.run(server, { ...load, seed: WARM_UP_SEED, isCyclic: false })
  }
}

/** Warms up every process except the bare server's, which has no responses yet. */
export const warmUpProcesses = (
  { bare, load, servers }: Setup,
  { processWarmUp }: RoundsOptions
): Promise<void> => {
  const others = servers.filter((server) => server !== bare)
  const mixed = { ...processWarmUp, workload: mix, connections: DEFAULT_CONNECTIONS }
  return warmUp(others, load, mixed)
}

/** Sends a load to a server, and measures the CPU time that the server and its databases use. */
export const measureTurn = async (
  server: ServerProcess,
  generator: LoadGenerator,
  load: Load
): Promise<Turn> => {
  const send = await generator.connect(server, load)
  const before = await server.usage()
  const databaseUsage = server.databaseUsage()
  const { perSecond, requests } = await send()
  const after = await server.usage()
  const databaseMicros = databaseUsage()
  await generator.close()
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / requests,
    ...(databaseMicros === undefined ? {} : { databaseMicros: databaseMicros / requests }),
    perSecond
  }
}

/** Checks the responses of every server, warms up the servers, and measures all of them. */
export const measure = async (
  { bare, load, reference, servers }: Setup,
  { connections, name, workload }: Case,
  { caseWarmUp, rounds, turn }: RoundsOptions
): Promise<CaseFigures> => {
  const sample = await Verification.record(reference, workload, RECORDED)
  await bare.replay(reference.address, sample.responses)
  for (const server of servers) {
    if (server !== bare && server !== reference) await Verification.check(server, sample, COMPARED)
  }
  await warmUp(servers, load, { ...caseWarmUp, workload, connections })

  const requests = connections === 1 ? Math.ceil(turn.requests / 4) : turn.requests
  const turnLoad = { workload, connections, requests, seconds: turn.seconds, isCyclic: false }
  const turns = new Map<ServerProcess, Array<Turn>>(servers.map((server) => [server, []]))
  for (let round = 1; round <= rounds; round++) {
    // Each round starts with a different server, and every second round is in reverse order, so that no server always
    // follows the same one.
    const first = round % servers.length
    const order = [...servers.slice(first), ...servers.slice(0, first)]
    for (const server of round % 2 === 0 ? order : order.reverse()) {
      turns.get(server)?.push(await measureTurn(server, load, { ...turnLoad, seed: round }))
    }
  }
  return { name, servers: [...turns].map(([server, own]) => ({ server: server.name, turns: own })) }
}
