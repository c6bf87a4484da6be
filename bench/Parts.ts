/** Runs the parts of the benchmark; each part starts and stops the processes that it measures. */

import type * as Databases from "./Databases.ts"
import { Child, type Cores, type Guard } from "./http/Child.ts"
import * as Latency from "./http/Latency.ts"
import { LoadGenerator } from "./http/LoadGenerator.ts"
import * as Nodes from "./http/Nodes.ts"
import * as Rounds from "./http/Rounds.ts"
import { ServerProcess, type StartOptions } from "./http/ServerProcess.ts"
import * as Servers from "./http/Servers.ts"
import { bare, reference, type Server } from "./http/Servers.ts"
import * as Soak from "./http/Soak.ts"
import * as Verification from "./http/Verification.ts"
import { type Case, cases, operations, type Workload } from "./http/Workload.ts"
import { choose, expectKnown, type Options } from "./Options.ts"
import type { Progress } from "./Progress.ts"
import type { Figure } from "./process/Figure.ts"
import type { SectionMessage } from "./process/SectionProcess.ts"
import type { HttpResults, LatencyResults, NodesResults, SectionResults, Skipped } from "./results/Results.ts"

/** The context in which every part runs. */
export interface Bench {
  readonly options: Options
  /** `undefined` where processes cannot be pinned to cores. */
  readonly cores: Cores | undefined
  readonly progress: Progress
}

/** Estimated seconds to start a server, and to measure a section. */
const START_SECONDS = 2
const SECTION_SECONDS = 20

/**
 * Timeout in milliseconds for the next message from a section; filling a store with a million callers takes a long
 * time.
 */
const SECTION_SILENCE_MS = 180_000

/** Number of responses that the bare server replays. */
const RECORDED = 200

/** Workloads that only read, because created animals would increase the memory in use. */
const reads: ReadonlyArray<Workload> = operations.filter(({ name }) => name === "list 20" || name === "get")

/** The servers with a database; their latency is measured. */
const durable: ReadonlyArray<Server> = Servers.all.filter(({ isDurable }) => isDurable)

const nameOf = ({ name }: { readonly name: string }): string => name

export const casesOf = ({ cases: requested }: Options): ReadonlyArray<Case> => {
  expectKnown("--cases", cases.map(nameOf), requested)
  return choose(cases, requested)
}

/** Estimates how many seconds the chosen parts take. */
export const estimateSeconds = (options: Options, servers: number, sections: number): number =>
  (options.parts.has("http")
    ? servers * START_SECONDS +
      Rounds.estimateStartSeconds(servers, options.rounds) +
      casesOf(options).length * Rounds.estimateSeconds(servers, options.rounds)
    : 0) +
  (options.parts.has("latency")
    ? (2 + durable.length) * (START_SECONDS + reads.length * Latency.estimateSeconds(options.latency))
    : 0) +
  (options.parts.has("nodes") ? Nodes.estimateSeconds(options.nodes) : 0) +
  (options.parts.has("soak") ? START_SECONDS + options.soak.seconds : 0) +
  (options.parts.has("process") ? sections * SECTION_SECONDS : 0)

/** Returns the chosen servers that are available; `bare` and `reference` are always chosen. */
export const serversOf = (options: Options, databases: Databases.RunDatabases): ReadonlyArray<Server> => {
  expectKnown("--servers", Servers.all.map(nameOf), options.servers)
  const chosen = new Set([bare, reference, ...choose(Servers.all, options.servers)])
  return Servers.all.filter(
    (server) => chosen.has(server) && Servers.unavailableReason(server, databases) === undefined
  )
}

/** Returns the chosen servers that cannot be measured, with the reasons. */
export const skippedOf = (options: Options, databases: Databases.RunDatabases): ReadonlyArray<Skipped> =>
  choose(Servers.all, options.servers).flatMap((server) => {
    const reason = Servers.unavailableReason(server, databases)
    return reason === undefined ? [] : [{ name: server.name, reason }]
  })

const startServer = async (
  server: Server,
  databases: Databases.RunDatabases,
  options: StartOptions
): Promise<ServerProcess> => {
  const processes = Servers.databaseProcesses(server, databases)
  return ServerProcess.start(await Servers.withDatabases(server, databases), {
    ...options,
    ...(processes === undefined ? {} : { databaseProcesses: processes })
  })
}

/** Measures all servers over HTTP, case by case. */
export const http = async (
  { cores, options, progress }: Bench,
  databases: Databases.RunDatabases
): Promise<HttpResults> => {
  const servers = serversOf(options, databases)
  progress.begin(`starting ${servers.length} servers`)
  const running = new Map<string, ServerProcess>()
  for (const server of servers) {
    progress.step(server.name)
    running.set(server.name, await startServer(server, databases, { core: cores?.server }))
    progress.advance(START_SECONDS)
  }
  const [bareProcess, referenceProcess] = [running.get(bare.name), running.get(reference.name)]
  if (bareProcess === undefined || referenceProcess === undefined)
    throw new Error("the bare server and the reference are not among the servers")
  const load = new LoadGenerator(cores?.load)
  const setup = { servers: [...running.values()], bare: bareProcess, reference: referenceProcess, load }
  progress.begin("warming up")
  await Rounds.warmUp(setup, options.rounds, progress)
  const figures: Array<Rounds.CaseFigures> = []
  for (const chosen of casesOf(options)) {
    progress.begin(chosen.name)
    figures.push(await Rounds.measure(setup, chosen, options.rounds, progress))
  }
  await Promise.all([...setup.servers, load].map((child) => child.stop()))
  return {
    options: options.rounds,
    servers: servers.map(({ isDurable, isOurs, name, what }) => ({ name, what, isOurs, isDurable })),
    skipped: skippedOf(options, databases),
    cases: figures
  }
}

/** Starts one server and measures it while no other server runs. */
const measureAlone = async <A>(
  start: (options: StartOptions) => Promise<ServerProcess>,
  { cores, progress }: Bench,
  nodeFlags: ReadonlyArray<string>,
  measure: (server: ServerProcess, load: LoadGenerator) => Promise<A>
): Promise<A> => {
  const server = await start({ core: cores?.server, nodeFlags })
  progress.advance(START_SECONDS)
  const load = new LoadGenerator(cores?.load)
  const measured = await measure(server, load)
  await Promise.all([server.stop(), load.stop()])
  return measured
}

/** Measures the latency of this project's servers at constant rates, and of the bare server for comparison. */
export const latency = async (bench: Bench, databases: Databases.RunDatabases): Promise<LatencyResults> => {
  const { options, progress } = bench
  const figures: Array<Latency.LatencyFigures> = []
  const recorded: Array<Parameters<ServerProcess["replay"]>> = []
  const measure = async (server: ServerProcess, load: LoadGenerator, workload: Workload): Promise<void> => {
    progress.begin(`latency, ${workload.name}, ${server.name}`)
    figures.push(...(await Latency.measure(server, load, workload, options.latency, progress)))
  }
  for (const chosen of [reference, ...durable]) {
    if (Servers.unavailableReason(chosen, databases) !== undefined) continue
    await measureAlone(
      (startOptions) => startServer(chosen, databases, startOptions),
      bench,
      [],
      async (server, load) => {
        for (const workload of reads) {
          if (chosen === reference)
            recorded.push([server.address, (await Verification.record(server, workload, RECORDED)).responses])
          await measure(server, load, workload)
        }
      }
    )
  }
  await measureAlone(
    (startOptions) => ServerProcess.start(bare, startOptions),
    bench,
    [],
    async (server, load) => {
      for (const [index, workload] of reads.entries()) {
        const responses = recorded[index]
        if (responses !== undefined) await server.replay(...responses)
        await measure(server, load, workload)
      }
    }
  )
  return { options: options.latency, workloads: figures }
}

/** Measures several nodes on one database. */
export const nodes = async (
  { cores, options, progress }: Bench,
  databases: Databases.RunDatabases
): Promise<NodesResults> => {
  progress.begin("nodes on one PostgreSQL database")
  const skipped = databases.unavailable.postgresql
  if (skipped !== undefined) return { options: options.nodes, figures: [], skipped }
  const address = await databases.create("postgresql")
  const databaseProcess = databases.pidOf("postgresql")
  const figures = await Nodes.measure(address, databaseProcess, cores?.load, options.nodes, progress)
  return { options: options.nodes, figures }
}

/** Measures the memory of this project's server under a long load. */
export const soak = (bench: Bench): Promise<Soak.SoakFigures> =>
  measureAlone(
    (startOptions) => ServerProcess.start(reference, startOptions),
    bench,
    ["--expose-gc"],
    (server, load) => {
      bench.progress.begin("soak")
      return Soak.measure(server, load, reads, bench.options.soak, bench.progress)
    }
  )

const isSectionMessage: Guard<SectionMessage> = (message): message is SectionMessage =>
  typeof message === "object" && message !== null && ("progress" in message || "figures" in message)

/** Measures each section in its own process, so that it inherits neither heap nor optimized code from others. */
export const sections = async (
  { cores, progress }: Bench,
  names: ReadonlyArray<string>
): Promise<ReadonlyArray<SectionResults>> => {
  const results: Array<SectionResults> = []
  for (const section of names) {
    progress.begin(section)
    const module = new URL("./process/SectionProcess.ts", import.meta.url)
    const { nodeFlags } = Servers
    const child = new Child({ name: section, module, arguments: [section], core: cores?.server, nodeFlags })
    let lastMessage = "it found nothing to measure"
    let figures: ReadonlyArray<Figure> = []
    try {
      for (;;) {
        const message = await child.receive(isSectionMessage, SECTION_SILENCE_MS)
        if ("figures" in message) {
          figures = message.figures
          break
        }
        lastMessage = message.progress
        progress.step(lastMessage)
      }
    } catch (error) {
      // The figures of the other sections are kept.
      lastMessage = error instanceof Error ? error.message : String(error)
    }
    results.push({ section, figures, ...(figures.length === 0 ? { skipped: lastMessage } : {}) })
    if (figures.length === 0) progress.note(lastMessage)
    await child.stop()
    progress.advance(SECTION_SECONDS)
  }
  return results
}
