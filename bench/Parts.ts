/** Runs the parts of the benchmark; each part starts and stops the processes that it measures. */
import type { Cores } from "./Child.ts"
import type * as Databases from "./Databases.ts"
import * as Latency from "./http/Latency.ts"
import { LoadGenerator } from "./http/LoadGenerator.ts"
import * as Rounds from "./http/Rounds.ts"
import { ServerProcess } from "./http/ServerProcess.ts"
import * as Servers from "./http/Servers.ts"
import { bare, reference, type Server } from "./http/Servers.ts"
import * as Verification from "./http/Verification.ts"
import { reads } from "./http/Workload.ts"
import type { Options } from "./Options.ts"
import { report } from "./Progress.ts"
import type { HttpResults, LatencyResults, Skipped } from "./results/Results.ts"

/** The context in which every part runs. */
export interface Bench {
  readonly options: Options
  /** `undefined` where processes cannot be pinned to cores. */
  readonly cores: Cores | undefined
  readonly databases: Databases.Databases
}

/** Number of responses that the bare server replays. */
const RECORDED = 200

/** The servers whose latency is measured, the bare server last: it replays the responses of the reference. */
const latencyServers = ({ servers }: Options): ReadonlyArray<Server> => [
  reference,
  ...servers.filter(({ isOurs, stores }) => isOurs && stores.database !== "memory"),
  bare
]

/** Returns the chosen servers that cannot be measured, with the reasons. */
export const skipped = ({ databases, options }: Bench): ReadonlyArray<Skipped> =>
  options.servers.flatMap((server) => {
    const reason = Servers.unavailableReason(server, databases)
    return reason === undefined ? [] : [{ name: server.name, reason }]
  })

/** Measures all servers over HTTP, case by case. */
export const http = async (bench: Bench): Promise<HttpResults> => {
  const { cores, databases, options } = bench
  const servers = options.servers.filter(
    (server) => Servers.unavailableReason(server, databases) === undefined
  )
  report(`starting ${servers.length} servers`)
  const running = new Map<Server, ServerProcess>()
  for (const server of servers) {
    running.set(server, await ServerProcess.startOn(databases, server, { core: cores?.server }))
  }
  const [bareProcess, referenceProcess] = [running.get(bare), running.get(reference)]
  if (bareProcess === undefined || referenceProcess === undefined)
    throw new Error("the bare server and the reference are not among the servers")
  const load = new LoadGenerator(cores?.load)
  const setup = { servers: [...running.values()], bare: bareProcess, reference: referenceProcess, load }
  report("warming up")
  await Rounds.warmUpProcesses(setup, options.rounds)
  const figures: Array<Rounds.CaseFigures> = []
  for (const [index, chosen] of options.cases.entries()) {
    report(`${chosen.name} (case ${index + 1} of ${options.cases.length})`)
    figures.push(await Rounds.measure(setup, chosen, options.rounds))
  }
  await Promise.all([...setup.servers, load].map((child) => child.stop()))
  return {
    options: options.rounds,
    skipped: skipped(bench),
    cases: figures
  }
}

/** Starts one server and measures it while no other server runs. */
const measureAlone = async <A>(
  { cores, databases }: Bench,
  server: Server,
  measure: (server: ServerProcess, load: LoadGenerator) => Promise<A>
): Promise<A> => {
  const running = await ServerProcess.startOn(databases, server, { core: cores?.server })
  const load = new LoadGenerator(cores?.load)
  const measured = await measure(running, load)
  await Promise.all([running.stop(), load.stop()])
  return measured
}

/** Measures the latency of this project's servers at half of their maximum rate, and of the bare server. */
export const latency = async (bench: Bench): Promise<LatencyResults> => {
  const { databases, options } = bench
  const figures: Array<Latency.LatencyFigures> = []
  const recorded: Array<Parameters<ServerProcess["replay"]>> = []
  for (const chosen of latencyServers(options)) {
    if (Servers.unavailableReason(chosen, databases) !== undefined) continue
    await measureAlone(bench, chosen, async (server, load) => {
      for (const [index, workload] of reads.entries()) {
        if (chosen === reference) {
          const { responses } = await Verification.record(server, workload, RECORDED)
          recorded.push([server.address, responses])
        }
        const replayed = recorded[index]
        if (chosen === bare && replayed !== undefined) await server.replay(...replayed)
        figures.push(await Latency.measure(server, load, workload, options.latency))
      }
    })
  }
  return { options: options.latency, workloads: figures }
}
