/** `npm run bench:pair`: compares the CPU time of two checkouts of this project; `--help` lists the options. */
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { findCores, stopAll } from "../Child.ts"
import * as Command from "../Command.ts"
import * as Databases from "../Databases.ts"
import { LoadGenerator } from "../http/LoadGenerator.ts"
import { ServerProcess } from "../http/ServerProcess.ts"
import { reference } from "../http/Servers.ts"
import * as Workload from "../http/Workload.ts"
import { report } from "../Progress.ts"
import * as Process from "../process/Process.ts"
import * as Pair from "./Pair.ts"

const databases = [{ name: "memory" }, { name: "sqlite" }, { name: "postgresql" }] as const

/** Number of requests after which V8 has optimized the code in use. */
const WARM_UP_REQUESTS = 40_000

type Database = (typeof databases)[number]["name"]

const workloads = [Workload.mix, ...Workload.operations]

const namesOf = (values: ReadonlyArray<{ readonly name: string }>): string =>
  values.map(({ name }) => name).join(", ")

const defaults = {
  workloads: Workload.mix.name,
  rounds: "60",
  starts: "2",
  requests: "600",
  connections: "64"
}

const help = `npm run bench:pair -- A B [OPTIONS]

Measures the servers of two checkouts of this project, A and B, in turn, and prints the CPU time per request of B as a
multiple of A's. Both need their dependencies installed. Comparing A with itself shows the noise of the machine.

  --databases NAMES   some of ${namesOf(databases)}; comma-separated (default all)
  --workloads NAMES   some of ${namesOf(workloads)} (default ${defaults.workloads})
  --rounds N          pairs of turns (default ${defaults.rounds})
  --starts N          number of times that both servers are started; each has its own rounds (default ${defaults.starts})
  --requests N        requests in a turn (default ${defaults.requests})
  --connections N     connections, each with one request in flight (default ${defaults.connections})
  --metrics           collects metrics in B only; with the same checkout twice, this measures their CPU time
  --handling          only Service.handle in memory, without a host: microseconds, and bytes allocated
  --help

Columns: the median of the rounds' ratios, its 95% confidence interval, the middle half of the rounds, and the median CPU
time of A and of B. The CPU time of the PostgreSQL server itself is not included.`

const parse = (args: Array<string>) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      databases: { type: "string" },
      workloads: { type: "string", default: defaults.workloads },
      rounds: { type: "string", default: defaults.rounds },
      starts: { type: "string", default: defaults.starts },
      requests: { type: "string", default: defaults.requests },
      connections: { type: "string", default: defaults.connections },
      metrics: { type: "boolean", default: false },
      handling: { type: "boolean", default: false }
    }
  })

const checkoutOf = (text: string): string => {
  const directory = path.resolve(text)
  if (!fs.existsSync(path.join(directory, "adapters/embed/index.ts")))
    throw new Command.InvalidOptions(`${directory} is not a checkout of this project`)
  return directory
}

/** The options of a comparison. */
interface Comparison extends Omit<Pair.PairOptions, "workload"> {
  readonly checkouts: readonly [first: string, second: string]
  readonly starts: number
  readonly isSecondMetered: boolean
}

/** Measures a workload on a database. The servers are started several times, because processes differ in CPU time. */
const measureCase = async (
  available: Databases.Databases,
  database: Database,
  workload: Workload.Workload,
  { checkouts, isSecondMetered, starts, ...given }: Comparison
): Promise<ReadonlyArray<Pair.Round>> => {
  const cores = findCores()
  const load = new LoadGenerator(cores?.load)
  const start = async (checkout: string, kind: string): Promise<ServerProcess> =>
    ServerProcess.start(
      { ...reference, name: checkout },
      { core: cores?.server, arguments: [await available.create(database), "", checkout, kind] }
    )
  const rounds: Array<Pair.Round> = []
  for (let count = 1; count <= starts; count++) {
    const label = `${database}, ${workload.name}, start ${count} of ${starts}`
    report(label)
    // Swaps the checkouts at every second start, so that each is started and warmed up first equally often.
    const isSwapped = count % 2 === 0
    const startSecond = () => start(checkouts[1], isSecondMetered ? "metered" : "")
    const swapped = isSwapped ? await startSecond() : undefined
    const first = await start(checkouts[0], "")
    const second = swapped ?? (await startSecond())
    const pair = isSwapped ? ([second, first] as const) : ([first, second] as const)
    const settings = { ...given, workload, rounds: Math.ceil(given.rounds / starts) }
    const measured = await Pair.measure(pair, load, settings)
    for (const round of measured)
      rounds.push(isSwapped ? { first: round.second, second: round.first } : round)
    await Promise.all([first.stop(), second.stop()])
  }
  await load.stop()
  return rounds
}

/** Measures `Service.handle` of both checkouts, in alternating processes, and prints a line for each figure. */
const compareHandling = async ({ checkouts: [first, second], starts }: Comparison): Promise<void> => {
  const measured: Array<readonly [Process.HandlingFigures, Process.HandlingFigures]> = []
  while (measured.length < starts) {
    report(`handling, start ${measured.length + 1} of ${starts}`)
    measured.push([await Process.handling(first), await Process.handling(second)])
  }
  for (const name of Process.handlingNames)
    console.log(
      Pair.row(
        name,
        measured.map(([a, b]) => ({ first: a[name], second: b[name] }))
      )
    )
}

await Command.run(help, async (args) => {
  const { positionals, values } = parse(args)
  const [first, second, ...others] = positionals.map(checkoutOf)
  if (first === undefined || second === undefined || others.length > 0)
    throw new Command.InvalidOptions("the arguments must be the paths of two checkouts")
  const count = (name: "starts" | "rounds" | "requests" | "connections"): number =>
    Command.count(name, values[name])
  const comparison: Comparison = {
    checkouts: [first, second],
    starts: count("starts"),
    rounds: count("rounds"),
    requests: count("requests"),
    connections: count("connections"),
    warmUpRequests: WARM_UP_REQUESTS,
    isSecondMetered: values.metrics
  }
  const chosenDatabases = Command.choose("databases", databases, values.databases)
  const chosenWorkloads = Command.choose("workloads", workloads, values.workloads)
  const { isSecondMetered, requests, rounds, starts } = comparison
  console.log(`A: ${first}\nB: ${second}${isSecondMetered ? ", with metrics" : ""}`)
  if (values.handling) {
    console.log(Pair.heading)
    await compareHandling(comparison)
    return
  }
  console.log(
    `${rounds} rounds of ${requests} requests, ${comparison.connections} connections, ${starts} starts\n`
  )
  console.log(Pair.heading)
  const available = await Databases.open(false)
  try {
    for (const { name } of chosenDatabases) {
      const reason = available.unavailable[name]
      if (reason !== undefined) console.log(`${name} is skipped: ${reason}`)
      for (const workload of reason === undefined ? chosenWorkloads : []) {
        const measured = await measureCase(available, name, workload, comparison)
        console.log(Pair.row(`${name}, ${workload.name}`, measured))
      }
    }
  } finally {
    await stopAll()
    await available.remove()
  }
})
