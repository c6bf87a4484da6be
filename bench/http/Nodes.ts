/**
 * Measures several nodes on one PostgreSQL database: throughput, CPU time of the nodes and of the database, batch
 * sizes, and latency, each with one key, some keys and many keys.
 */
import type { Progress } from "../Progress.ts"
import * as Spread from "../results/Spread.ts"
import * as BatchSizes from "./BatchSizes.ts"
import type { Tokens } from "./Catalogue.ts"
import { Child, type Guard, hasNumber } from "./Child.ts"
import * as DatabaseCpu from "./DatabaseCpu.ts"
import { shares } from "./Latency.ts"
import { type Load, LoadGenerator } from "./LoadGenerator.ts"
import type { Listening, Metrics, Usage } from "./Peer.ts"
import { nodeFlags, peerModule } from "./Servers.ts"
import { DEFAULT_CONNECTIONS, operations, type Workload } from "./Workload.ts"

/** The numbers of nodes and keys, and the number and duration of the measurements. */
export interface NodesOptions {
  readonly nodes: ReadonlyArray<number>
  readonly keys: ReadonlyArray<number>
  readonly rounds: number
  /** Duration of each turn in seconds. */
  readonly seconds: number
}

/** Latency in milliseconds at a fraction of the maximum throughput. */
export interface LatencyAtShare {
  readonly share: number
  readonly p50: Spread.Spread
  readonly p99: Spread.Spread
}

/** The figures for a number of nodes and a number of keys. */
export interface NodesFigures {
  readonly nodes: number
  readonly keys: number
  readonly perSecond: Spread.Spread
  /** CPU microseconds per request, of all nodes together. */
  readonly cpuMicros: Spread.Spread
  /** CPU microseconds of the database server per request; absent if it does not run on this machine. */
  readonly databaseMicros?: Spread.Spread
  /** Measured in separate turns, because counting batches takes CPU time. */
  readonly batches: BatchSizes.BatchSizes
  readonly latency: ReadonlyArray<LatencyAtShare>
}

/** Number of distinct requests; the load generator sends them repeatedly. */
const REQUESTS = 5_000

/** Timeout in milliseconds for the node that issues the keys. */
const FILLING_MS = 180_000

const isListening: Guard<Listening> = (message): message is Listening => hasNumber(message, "port")
const isUsage: Guard<Usage> = (message): message is Usage => hasNumber(message, "cpuMicros")
const isMetrics: Guard<Metrics> = (message): message is Metrics =>
  typeof message === "object" && message !== null && typeof Reflect.get(message, "metrics") === "string"

interface Node {
  readonly child: Child
  readonly port: number
  readonly tokens: Tokens
}

const startNode = async (name: string, given: ReadonlyArray<string>): Promise<Node> => {
  const child = new Child({
    name,
    module: peerModule("AnimalStoreNode"),
    arguments: given,
    nodeFlags
  })
  return { child, ...(await child.receive(isListening, FILLING_MS)) }
}

/** Estimates how many seconds this part takes. */
export const estimateSeconds = ({ keys, nodes, rounds, seconds }: NodesOptions): number =>
  20 + nodes.length * keys.length * seconds * (rounds * (1 + shares.length) + 2)

/** The nodes of a run. A `Server` of the benchmark is a single process, so nodes need their own interface. */
interface Cluster {
  readonly nodes: ReadonlyArray<Node>
  readonly tokens: Tokens
}

/** Measures each number of nodes with each number of keys; nodes and database share all cores. */
export const measure = async (
  address: string,
  databaseProcess: number | undefined,
  loadCore: number | undefined,
  options: NodesOptions,
  progress: Progress
): Promise<ReadonlyArray<NodesFigures>> => {
  const maxNodes = Math.max(...options.nodes)
  const keys = Math.max(...options.keys)
  progress.step(`issuing ${keys} keys`)
  const filler = await startNode("the filling node", [address, String(keys)])
  await filler.child.stop()
  const start = (kind: string) =>
    Promise.all(
      Array.from({ length: maxNodes }, (_, index) => startNode(`node ${index + 1}`, [address, "0", kind]))
    )
  const plainNodes = await start("")
  const meteredNodes = await start("metered")
  const load = new LoadGenerator(loadCore)
  const figures: Array<NodesFigures> = []
  for (const nodes of options.nodes) {
    const clusterOf = (all: ReadonlyArray<Node>): Cluster => ({
      nodes: all.slice(0, nodes),
      tokens: filler.tokens
    })
    for (const keys of options.keys) {
      progress.step(`${nodes} nodes, ${keys} keys`)
      figures.push({
        nodes,
        keys,
        batches: await measureBatches(clusterOf(meteredNodes), load, keys, options),
        ...(await measureTurns(clusterOf(plainNodes), load, keys, databaseProcess, options))
      })
      progress.advance(options.seconds * (options.rounds * (1 + shares.length) + 2))
    }
  }
  await Promise.all([...plainNodes, ...meteredNodes].map(({ child }) => child.stop()))
  await load.stop()
  return figures
}

const workloadOf = (keys: number): Workload => {
  const get = operations.find(({ name }) => name === "get")
  if (get === undefined) throw new Error("the workload get is missing")
  return { ...get, keys }
}

const send = async (
  { nodes, tokens }: Cluster,
  load: LoadGenerator,
  keys: number,
  given: Pick<Load, "seconds" | "seed" | "rate">
) => {
  const [first, ...others] = nodes
  if (first === undefined) throw new Error("the list of nodes is empty")
  const cursors = { all: [], available: [], pending: [], sold: [] }
  return load.runAt(
    "the nodes",
    { port: first.port, tokens, cursors },
    {
      ...given,
      ports: others.map(({ port }) => port),
      isYielding: true,
      workload: workloadOf(keys),
      connections: DEFAULT_CONNECTIONS,
      requests: REQUESTS,
      isCyclic: true
    }
  )
}

const cpuOf = async ({ nodes }: Cluster): Promise<number> => {
  const usages = await Promise.all(nodes.map(({ child }) => child.execute("usage", isUsage)))
  return usages.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0)
}

const measureTurns = async (
  cluster: Cluster,
  load: LoadGenerator,
  keys: number,
  databaseProcess: number | undefined,
  { rounds, seconds }: NodesOptions
): Promise<Omit<NodesFigures, "nodes" | "keys" | "batches">> => {
  const readDatabase = () => (databaseProcess === undefined ? undefined : DatabaseCpu.read(databaseProcess))
  await send(cluster, load, keys, { seconds, seed: 0 })
  const turns: Array<{ perSecond: number; cpuMicros: number; databaseMicros: number | undefined }> = []
  for (let round = 1; round <= rounds; round++) {
    const [cpu, database] = [await cpuOf(cluster), readDatabase()]
    const { perSecond, requests } = await send(cluster, load, keys, { seconds, seed: round })
    const after = readDatabase()
    turns.push({
      perSecond,
      cpuMicros: ((await cpuOf(cluster)) - cpu) / requests,
      databaseMicros:
        database === undefined || after === undefined
          ? undefined
          : DatabaseCpu.microsBetween(database, after) / requests
    })
  }
  const perSecond = Spread.of(turns.map((turn) => turn.perSecond))
  const latency: Array<LatencyAtShare> = []
  for (const share of shares) {
    const found: Array<{ readonly p50: number; readonly p99: number }> = []
    for (let round = 1; round <= rounds; round++) {
      const rate = Math.max(Math.round(perSecond.median * share), 1)
      found.push((await send(cluster, load, keys, { seconds, seed: round, rate })).latency)
    }
    latency.push({
      share,
      p50: Spread.of(found.map(({ p50 }) => p50)),
      p99: Spread.of(found.map(({ p99 }) => p99))
    })
  }
  const databaseMicros = turns.map((turn) => turn.databaseMicros).filter((micros) => micros !== undefined)
  return {
    perSecond,
    cpuMicros: Spread.of(turns.map((turn) => turn.cpuMicros)),
    ...(databaseMicros.length === 0 ? {} : { databaseMicros: Spread.of(databaseMicros) }),
    latency
  }
}

const measureBatches = async (
  cluster: Cluster,
  load: LoadGenerator,
  keys: number,
  { seconds }: NodesOptions
): Promise<BatchSizes.BatchSizes> => {
  const read = async () => {
    const responses = await Promise.all(cluster.nodes.map(({ child }) => child.execute("metrics", isMetrics)))
    return responses.map(({ metrics }) => BatchSizes.parse(metrics))
  }
  const before = await read()
  await send(cluster, load, keys, { seconds, seed: 1 })
  return BatchSizes.total(before, await read())
}
