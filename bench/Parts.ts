/** The parts of a run: each starts what it measures and ends it. */

import type * as Databases from "./Databases.ts"
import { Child, type Cores, type Guard } from "./http/Child.ts"
import * as Latency from "./http/Latency.ts"
import { LoadGenerator } from "./http/LoadGenerator.ts"
import { type Operation, operations } from "./http/Operation.ts"
import * as Rounds from "./http/Rounds.ts"
import { ServerProcess } from "./http/ServerProcess.ts"
import { all, bare, POSTGRES, reference, type Server } from "./http/Servers.ts"
import * as Soak from "./http/Soak.ts"
import { choose, expectKnown, type Options } from "./Options.ts"
import type { Progress } from "./Progress.ts"
import type { Figure } from "./process/Figure.ts"
import type { SectionMessage } from "./process/SectionProcess.ts"
import type { HttpResults, LatencyResults, SectionResults } from "./results/Results.ts"

/** What a part has to go by. */
export interface Bench {
  readonly options: Options
  /** `undefined` where nothing can be pinned. */
  readonly cores: Cores | undefined
  readonly progress: Progress
}

/** Seconds that a server and a section take about, where nobody can know. */
const START_SECONDS = 1
const SECTION_SECONDS = 20

/** Milliseconds for which a section may say nothing: a million callers are not counted in a moment. */
const SECTION_SILENCE_MS = 180_000

/** Of ours, those that only read: what is created would be growth of memory, and rightly so. */
const readings = operations.filter(({ name }) => name === "list 20" || name === "get")

const nameOf = ({ name }: { readonly name: string }): string => name

export const operationsOf = ({ operations: asked }: Options): ReadonlyArray<Operation> => {
  expectKnown("--operations", operations.map(nameOf), asked)
  return choose(operations, asked)
}

/** Seconds that the parts will take, about. */
export const secondsOf = (options: Options, servers: number, sections: number): number =>
  (options.parts.has("http")
    ? servers * START_SECONDS + operationsOf(options).length * Rounds.secondsOf(servers, options.rounds)
    : 0) +
  (options.parts.has("latency")
    ? 2 * (START_SECONDS + readings.length * Latency.secondsOf(options.latency))
    : 0) +
  (options.parts.has("soak") ? START_SECONDS + options.soak.seconds : 0) +
  (options.parts.has("process") ? sections * SECTION_SECONDS : 0)

/** Those asked for, and the two without which there is nothing to compare. */
export const serversOf = (options: Options, databases: Databases.RunDatabases): ReadonlyArray<Server> => {
  const known = all(databases)
  expectKnown("--servers", [...new Set([...known.map(nameOf), POSTGRES])], options.servers)
  const chosen = new Set([bare, reference, ...choose(known, options.servers)])
  return known.filter((server) => chosen.has(server))
}

/** All servers, operation by operation. */
export const http = async (
  { cores, options, progress }: Bench,
  databases: Databases.RunDatabases
): Promise<HttpResults> => {
  const servers = serversOf(options, databases)
  progress.begin(`starting ${servers.length} servers`)
  const running = new Map<string, ServerProcess>()
  for (const server of servers) {
    progress.at(server.name)
    running.set(server.name, await ServerProcess.start(server, { core: cores?.server }))
    progress.advance(START_SECONDS)
  }
  const [bareProcess, referenceProcess] = [running.get(bare.name), running.get(reference.name)]
  if (bareProcess === undefined || referenceProcess === undefined)
    throw new Error("both are among the servers")
  const load = new LoadGenerator(cores?.load)
  const field = { servers: [...running.values()], bare: bareProcess, reference: referenceProcess, load }
  const figures: Array<Rounds.OperationFigures> = []
  for (const operation of operationsOf(options)) {
    progress.begin(operation.name)
    figures.push(await Rounds.measure(field, operation, options.rounds, progress))
  }
  await Promise.all([...field.servers, load].map((child) => child.stop()))
  return {
    options: options.rounds,
    servers: servers.map(({ isDurable, isOurs, name, what }) => ({ name, what, isOurs, isDurable })),
    skipped: skippedOf(options, databases),
    operations: figures
  }
}

const skippedOf = (options: Options, { postgres }: Databases.RunDatabases): HttpResults["skipped"] =>
  "missing" in postgres && choose([{ name: POSTGRES }], options.servers).length > 0
    ? [{ name: POSTGRES, reason: postgres.missing }]
    : []

/** A server alone with a load. */
const alone = async <A>(
  chosen: Server,
  { cores, progress }: Bench,
  nodeFlags: ReadonlyArray<string>,
  measure: (server: ServerProcess, load: LoadGenerator) => Promise<A>
): Promise<A> => {
  const server = await ServerProcess.start(chosen, { core: cores?.server, nodeFlags })
  progress.advance(START_SECONDS)
  const load = new LoadGenerator(cores?.load)
  const measured = await measure(server, load)
  await Promise.all([server.stop(), load.stop()])
  return measured
}

/** Ours at a constant rate, and the bare server, which shows what the machine and the load generator are good for. */
export const latency = async (bench: Bench): Promise<LatencyResults> => {
  const { options, progress } = bench
  const figures: Array<Latency.LatencyFigures> = []
  const bodies = new Map<Operation, string>()
  for (const chosen of [reference, bare]) {
    await alone(chosen, bench, [], async (server, load) => {
      for (const operation of readings) {
        progress.begin(`latency at half of the maximum, ${operation.name}, ${server.name}`)
        const body = bodies.get(operation)
        if (body !== undefined) await server.repeat({ status: operation.status, body })
        bodies.set(operation, await server.check(operation))
        figures.push(await Latency.measure(server, load, operation, options.latency, progress))
      }
    })
  }
  return { options: options.latency, operations: figures }
}

/** Ours under load for long. */
export const soak = (bench: Bench): Promise<Soak.SoakFigures> =>
  alone(reference, bench, ["--expose-gc"], (server, load) => {
    bench.progress.begin("soak")
    return Soak.measure(server, load, readings, bench.options.soak, bench.progress)
  })

const isSectionMessage: Guard<SectionMessage> = (message): message is SectionMessage =>
  typeof message === "object" && message !== null && ("progress" in message || "figures" in message)

/** Every section in a process of its own, so that none finds the heap and the optimised code of another. */
export const sections = async (
  { cores, progress }: Bench,
  names: ReadonlyArray<string>
): Promise<ReadonlyArray<SectionResults>> => {
  const results: Array<SectionResults> = []
  for (const section of names) {
    progress.begin(section)
    const module = new URL("./process/SectionProcess.ts", import.meta.url)
    const child = new Child({ name: section, module, arguments: [section], core: cores?.server })
    let said = "it found nothing to measure"
    let figures: ReadonlyArray<Figure> = []
    try {
      for (;;) {
        const message = await child.receive(isSectionMessage, SECTION_SILENCE_MS)
        if ("figures" in message) {
          figures = message.figures
          break
        }
        said = message.progress
        progress.at(said)
      }
    } catch (error) {
      // What the others found is worth keeping.
      said = error instanceof Error ? error.message : String(error)
    }
    results.push({ section, figures, ...(figures.length === 0 ? { skipped: said } : {}) })
    if (figures.length === 0) progress.note(said)
    await child.stop()
    progress.advance(SECTION_SECONDS)
  }
  return results
}
