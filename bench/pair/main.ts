/** `npm run bench:pair`: compares the CPU time of two checkouts of this project; `--help` lists the options. */
import * as Databases from "../Databases.ts"
import { findCores, stopAll } from "../http/Child.ts"
import { LoadGenerator } from "../http/LoadGenerator.ts"
import { ServerProcess } from "../http/ServerProcess.ts"
import { reference } from "../http/Servers.ts"
import type { Workload } from "../http/Workload.ts"
import { InvalidOptions } from "../Options.ts"
import { Progress } from "../Progress.ts"
import * as Options from "./Options.ts"
import * as Pair from "./Pair.ts"

/** Number of requests after which V8 has optimized the code in use. */
const WARM_UP_REQUESTS = 40_000

const removals: Array<() => void | Promise<void>> = []

/** Creates an empty database and returns its address, or the reason why it is unavailable. */
const create = async (database: Options.Database): Promise<string | Databases.Unavailable> => {
  if (database === "memory") return "memory:"
  if (database === "sqlite") {
    const file = Databases.sqliteFile()
    removals.push(file.remove)
    return `sqlite:${file.filename}`
  }
  const schema = await Databases.postgresSchema(Databases.postgresServer)
  if ("reason" in schema) return schema
  removals.push(schema.remove)
  return schema.address
}

/** Measures a workload on a database. The servers are started several times, because processes differ in CPU time. */
const measureCase = async (
  database: Options.Database,
  workload: Workload,
  { checkouts, isSecondMetered, starts, ...options }: Options.Options,
  progress: Progress
): Promise<ReadonlyArray<Pair.Round> | Databases.Unavailable> => {
  const cores = findCores()
  const load = new LoadGenerator(cores?.load)
  const rounds: Array<Pair.Round> = []
  for (let count = 1; count <= starts; count++) {
    progress.step(`${database}, ${workload.name}, start ${count} of ${starts}`)
    // Swaps the checkouts at every second start, so that each is started and warmed up first equally often.
    const isSwapped = count % 2 === 0
    const subjects = [
      { checkout: checkouts[0], kind: "" },
      { checkout: checkouts[1], kind: isSecondMetered ? "metered" : "" }
    ]
    const servers: Array<ServerProcess> = []
    for (const { checkout, kind } of isSwapped ? subjects.toReversed() : subjects) {
      const address = await create(database)
      if (typeof address !== "string") return address
      const server = { ...reference, name: checkout, arguments: [address, checkout, "", kind] }
      servers.push(await ServerProcess.start(server, { core: cores?.server }))
    }
    const [first, second] = servers
    if (first === undefined || second === undefined) throw new Error("expected two servers")
    const perStart = Math.ceil(options.rounds / starts)
    const settings = { ...options, workload, rounds: perStart, warmUpRequests: WARM_UP_REQUESTS }
    const measured = await Pair.measure([first, second], load, settings, (text) =>
      progress.step(`${database}, ${workload.name}, start ${count} of ${starts}, ${text}`)
    )
    rounds.push(
      ...(isSwapped ? measured.map(({ first, second }) => ({ first: second, second: first })) : measured)
    )
    await Promise.all(servers.map((server) => server.stop()))
  }
  await load.stop()
  return rounds
}

const measure = async (options: Options.Options): Promise<void> => {
  const { checkouts, connections, isSecondMetered, requests, rounds, starts } = options
  console.log(`A: ${checkouts[0]}\nB: ${checkouts[1]}${isSecondMetered ? ", with metrics" : ""}`)
  console.log(`${rounds} rounds of ${requests} requests, ${connections} connections, ${starts} starts\n`)
  console.log(Pair.heading)
  const progress = new Progress(options.databases.length * options.workloads.length)
  for (const database of options.databases) {
    for (const workload of options.workloads) {
      const measured = await measureCase(database, workload, options, progress)
      progress.advance(1)
      progress.end()
      console.log(
        "reason" in measured
          ? `${database} is skipped: ${measured.reason}`
          : Pair.row(`${database}, ${workload.name}`, measured)
      )
    }
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [messageOf(error.cause)])].join("\n")
    : String(error)

// Stopping the children makes all pending waits fail, which starts cleanup; a second signal ends this process at once.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stopAll())

try {
  const options = Options.parse(process.argv.slice(2))
  if (options === undefined) console.log(Options.help)
  else {
    await measure(options).finally(async () => {
      await stopAll()
      for (const remove of removals) await remove()
    })
  }
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = error instanceof InvalidOptions ? 2 : 1
}
