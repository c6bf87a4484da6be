/** `npm run attack`: attacks real servers on the loopback address, and checks that they stay within their bounds. */
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import * as Databases from "../Databases.ts"
import * as Child from "../http/Child.ts"
import { InvalidOptions } from "../Options.ts"
import * as AttackedServer from "./AttackedServer.ts"
import * as Budget from "./Budget.ts"
import * as Finding from "./Finding.ts"
import * as Options from "./Options.ts"
import * as Report from "./Report.ts"
import type { Database, Scenario } from "./Scenario.ts"
import { scenarios } from "./Scenarios.ts"

const PAGE = new URL("../../docs/security.md", import.meta.url)

const interrupted = new AbortController()
const interruption = interrupted.signal

/** Returns the databases that can be created, and a function that removes the created ones. */
const makeDatabases = async () => {
  const removals: Array<() => void | Promise<void>> = []
  const memory: Database = { name: "memory", create: async () => "memory:" }
  const sqlite: Database = {
    name: "SQLite",
    create: async () => {
      const file = Databases.sqliteFile()
      removals.push(file.remove)
      return `sqlite:${file.filename}`
    }
  }
  const probe = await Databases.postgresSchema(Databases.postgresServer)
  if ("reason" in probe) console.log(`PostgreSQL is skipped: ${probe.reason}`)
  else removals.push(probe.remove)
  const postgres: Database = {
    name: "PostgreSQL",
    create: async () => {
      const schema = await Databases.postgresSchema(Databases.postgresServer)
      if ("reason" in schema) throw new Error(schema.reason)
      removals.push(schema.remove)
      return schema.address
    }
  }
  return {
    all: "reason" in probe ? [memory, sqlite] : [memory, sqlite, postgres],
    remove: async () => {
      for (const remove of removals) await remove()
    }
  }
}

/** Returns the databases to attack; a quick run attacks only the first one of the scenario by default. */
const chosenDatabases = (
  { databases }: Scenario,
  options: Options.Options
): ReadonlyArray<Database["name"]> => {
  if (options.databases.length > 0) return databases.filter((name) => options.databases.includes(name))
  return options.isQuick ? databases.slice(0, 1) : databases
}

/** Runs a scenario; an error becomes a failed finding. */
const runScenario = async (
  scenario: Scenario,
  options: Options.Options,
  database: Database
): Promise<Report.Result> => {
  const findings = await scenario
    .run(options, database)
    .catch((error: unknown) => [Finding.notCompleted(messageOf(error))])
  return { scenario, database: database.name, findings }
}

const runAll = async (
  options: Options.Options,
  databases: ReadonlyArray<Database>,
  secondsSoFar: () => number
) => {
  const results: Array<Report.Result> = []
  for (const scenario of scenarios) {
    if (interruption.aborted) break
    if (options.only.length > 0 && !options.only.some((part) => scenario.name.includes(part))) continue
    for (const name of chosenDatabases(scenario, options)) {
      const database = databases.find((candidate) => candidate.name === name)
      if (database === undefined) continue
      if (!Budget.hasTimeLeft(options.isQuick, secondsSoFar())) {
        const findings = [Finding.notStarted(Budget.LIMIT_SECONDS)]
        const notStarted = { scenario, database: database.name, findings }
        console.log(Report.lines(notStarted))
        results.push(notStarted)
        continue
      }
      let result = await runScenario(scenario, options, database)
      console.log(Report.lines(result))
      // A CI machine is shared, which can delay clients for seconds; a leak or an unbounded queue fails both times.
      if (options.isQuick && Report.mayBeDueToLoad(result) && !interruption.aborted) {
        console.log(
          `${scenario.name} on ${name} failed, perhaps because the machine is busy; it runs once more`
        )
        result = await runScenario(scenario, options, database)
        console.log(Report.lines(result))
      }
      results.push(result)
    }
  }
  return results
}

const main = async (options: Options.Options): Promise<void> => {
  if (options.isListing) {
    console.log(scenarios.map(({ description, name }) => `${name.padEnd(18)}  ${description}`).join("\n"))
    return
  }
  const began = performance.now()
  const databases = await makeDatabases()
  const secondsSoFar = (): number => (performance.now() - began) / 1_000
  const results = await runAll(options, databases.all, secondsSoFar).finally(async () => {
    await stopAll()
    await databases.remove()
  })
  const failed = results.filter((result) => !Report.hasPassed(result))
  console.log(
    `${results.length - failed.length} passed, ${failed.length} failed${failed.map(({ database, scenario }) => `, ${scenario.name} on ${database}`).join("")} (${Budget.report(options.isQuick, secondsSoFar())})`
  )
  if (options.isWritten && !interruption.aborted) {
    const cores = availableParallelism()
    const about = `Measured in a ${options.isQuick ? "quick" : "full"} run on ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node}; servers, load and clients shared ${cores} cores.`
    writeFileSync(
      PAGE,
      Report.insertTable(readFileSync(PAGE, "utf8"), `${about}\n\n${Report.table(results)}`)
    )
  }
  if (interruption.aborted) process.exitCode = 130
  else if (failed.length > 0) process.exitCode = 1
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const stopAll = async (): Promise<void> => {
  AttackedServer.stopAll()
  await Child.stopAll()
}

// Stopping the children makes pending waits fail. No further scenario starts, and the databases are removed.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted.abort()
    void stopAll()
  })
}

try {
  const options = Options.parse(
    process.argv.slice(2),
    scenarios.map(({ name }) => name)
  )
  if (options === undefined) console.log(Options.help)
  else await main(options)
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = error instanceof InvalidOptions ? 2 : 1
}
