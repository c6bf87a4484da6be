/** Runs the parts of the benchmark; each part starts and stops the processes that it measures. */
import type { Cores } from "./Child.ts"
import type * as Databases from "./Databases.ts"
import * as Latency from "./http/Latency.ts"
import { LoadGenerator } from "./http/LoadGenerator.ts"
import * as Rounds from "./http/Rounds.ts"
import { ServerProcess } from "./http/ServerProcess.ts"
import * as Servers from "./http/Servers.ts"
import { bare, reference, type Server } from "./http/Servers.ts"
import * as Soak from "./http/Soak.ts"
import * as Verification from "./http/Verification.ts"
import { reads } from "./http/Workload.ts"
import type { Options } from "./Options.ts"
import type { Progress } from "./Progress.ts"
import * as Process from "./process/Process.ts"
import type { HttpResults, LatencyResults, Skipped } from "./results/Results.ts"

/** The context in which every part runs. */
export interface Bench {
  readonly options: Options
  /** `undefined` where processes cannot be pinned to cores. */
  readonly cores: Cores | undefined
  readonly databases: Databases.Databases
  readonly progress: Progress
}

/** Estimated seconds to start a server. */
const START_SECONDS = 2

/** Number of responses that the bare server replays. */
const RECORDED = 200

/** The servers whose latency is measured, the bare server last: it replays the responses of the reference. */
const latencyServers = ({ servers }: Options): ReadonlyArray<Server> => [
  reference,
  ...servers.filter((server) => server.isOurs && Servers.isDurable(server)),
  bare
]

/** Estimates how many seconds the chosen parts take. */
export const estimateSeconds = (options: Options): number => {
  const { cases, latency, parts, rounds, servers, soak } = options
  const perLatency = START_SECONDS + reads.length * Latency.estimateSeconds(latency)
  return (
    (parts.has("http")
      ? servers.length * START_SECONDS + Rounds.estimateSeconds(servers.length, cases.length, rounds)
      : 0) +
    (parts.has("latency") ? latencyServers(options).length * perLatency : 0) +
    (parts.has("soak") ? START_SECONDS + soak.seconds : 0) +
    (parts.has("process") ? Process.ESTIMATED_SECONDS : 0)
  )
}

/** Returns the chosen servers that cannot be measured, with the reasons. */
export const skipped = ({ databases, options }: Bench): ReadonlyArray<Skipped> =>
  options.servers.flatMap((server) => {
    const reason = Servers.unavailableReason(server, databases)
    return reason === undefined ? [] : [{ name: server.name, reason }]
  })

/** Measures all servers over HTTP, case by case. */
export const http = async (bench: Bench): Promise<HttpResults> => {
  const { cores, databases, options, progress } = bench
  const servers = options.servers.filter(
    (server) => Servers.unavailableReason(server, databases) === undefined
  )
  progress.begin(`starting ${servers.length} servers`)
  const running = new Map<Server, ServerProcess>()
  for (const server of servers) {
    progress.step(server.name)
    running.set(server, await ServerProcess.startOn(databases, server, { core: cores?.server }))
    progress.advance(START_SECONDS)
  }
  const [bareProcess, referenceProcess] = [running.get(bare), running.get(reference)]
  if (bareProcess === undefined || referenceProcess === undefined)
    throw new Error("the bare server and the reference are not among the servers")
  const load = new LoadGenerator(cores?.load)
  const setup = { servers: [...running.values()], bare: bareProcess, reference: referenceProcess, load }
  progress.begin("warming up")
  await Rounds.warmUpProcesses(setup, options.rounds, progress)
  const figures: Array<Rounds.CaseFigures> = []
  for (const chosen of options.cases) {
    progress.begin(chosen.name)
    figures.push(await Rounds.measure(setup, chosen, options.rounds, progress))
  }
  await Promise.all([...setup.servers, load].map((child) => child.stop()))
  return {
    options: options.rounds,
    servers: servers.map((server) => ({
      name: server.name,
      what: server.what,
      isOurs: server.isOurs,
      isDurable: Servers.isDurable(server)
    })),
    skipped: skipped(bench),
    cases: figures
  }
}

/** Starts one server and measures it while no other server runs. */
const measureAlone = async <A>(
  { cores, databases, progress }: Bench,
  server: Server,
  nodeFlags: ReadonlyArray<string>,
  measure: (server: ServerProcess, load: LoadGenerator) => Promise<A>
): Promise<A> => {
  const running = await ServerProcess.startOn(databases, server, { core: cores?.server, nodeFlags })
  progress.advance(START_SECONDS)
  const load = new LoadGenerator(cores?.load)
  const measured = await measure(running, load)
  await Promise.all([running.stop(), load.stop()])
  return measured
}

/** Measures the latency of this project's servers at half of their maximum rate, and of the bare server. */
export const latency = async (bench: Bench): Promise<LatencyResults> => {
  const { databases, options, progress } = bench
  const figures: Array<Latency.LatencyFigures> = []
  const recorded: Array<Parameters<ServerProcess["replay"]>> = []
  for (const chosen of latencyServers(options)) {
    if (Servers.unavailableReason(chosen, databases) !== undefined) continue
    await measureAlone(bench, chosen, [], async (server, load) => {
      for (const [index, workload] of reads.entries()) {
        if (chosen === reference) {
          const { responses } = await Verification.record(server, workload, RECORDED)
          recorded.push([server.address, responses])
        }
        const replayed = recorded[index]
        if (chosen === bare && replayed !== undefined) await server.replay(...replayed)
        figures.push(await Latency.measure(server, load, workload, options.latency, progress))
      }
    })
  }
  return { options: options.latency, workloads: figures }
}

/** Measures the memory of this project's server under a long load. */
export const soak = (bench: Bench): Promise<Soak.SoakFigures> =>
  measureAlone(bench, reference, ["--expose-gc"], (server, load) => {
    bench.progress.begin("soak")
    return Soak.measure(server, load, reads, bench.options.soak, bench.progress)
  })

/** Measures what some targets need and HTTP does not show. */
export const process = ({ databases, progress }: Bench): Promise<Process.ProcessFigures> =>
  Process.measure(databases, progress)
