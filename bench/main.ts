/** `npm run bench`: runs the benchmark and writes the results; `--help` lists the options. */
import * as fs from "node:fs"
import * as Databases from "./Databases.ts"
import { findCores, stopAll } from "./http/Child.ts"
import { help, InvalidOptions, type Options, parse } from "./Options.ts"
import * as Parts from "./Parts.ts"
import { Progress } from "./Progress.ts"
import { sections } from "./process/Run.ts"
import * as Machine from "./results/Machine.ts"
import * as Markdown from "./results/Markdown.ts"
import * as Pictures from "./results/Pictures.ts"
import * as Results from "./results/Results.ts"

const measure = async (options: Options, databases: Databases.RunDatabases): Promise<Results.Results> => {
  const date = new Date().toISOString()
  const began = performance.now()
  const cores = findCores()
  const servers = Parts.serversOf(options, databases)
  const names = sections.map(({ name }) => name)
  const progress = new Progress(Parts.estimateSeconds(options, servers.length, names.length))
  const bench = { options, cores, progress }
  if (cores === undefined)
    progress.note(
      "Servers and load generator cannot be pinned to separate cores on this machine: expect more noise."
    )
  for (const { name, reason } of Parts.skippedOf(options, databases))
    progress.note(`${name} is skipped: ${reason}`)
  const has = (part: Parameters<typeof options.parts.has>[0]) => options.parts.has(part)
  const measured = {
    http: has("http") ? await Parts.http(bench, databases) : undefined,
    latency: has("latency") ? await Parts.latency(bench, databases) : undefined,
    nodes: has("nodes") ? await Parts.nodes(bench, databases) : undefined,
    soak: has("soak") ? await Parts.soak(bench) : undefined,
    process: has("process") ? await Parts.sections(bench, names) : undefined
  }
  progress.end()
  return {
    schema: Results.SCHEMA,
    date,
    seconds: Math.round((performance.now() - began) / 1000),
    machine: Machine.current(cores !== undefined),
    versions: {
      ...Machine.versions(),
      ...databases.versions,
      SQLite: process.versions.sqlite ?? "unknown"
    },
    isQuick: options.isQuick,
    ...measured
  }
}

const write = (results: Results.Results, page: string, directory: URL): void => {
  fs.mkdirSync(directory, { recursive: true })
  const json = `${JSON.stringify(results, undefined, 2)}\n`
  const files = [["results.json", json], ["README.md", page], ...Pictures.make(results)] as const
  for (const [name, content] of files) fs.writeFileSync(new URL(name, directory), content)
}

/** Rounds all numbers to six significant digits before rendering; the remaining digits are noise. */
const roundNumbers = (results: Results.Results): Results.Results =>
  JSON.parse(JSON.stringify(results), (_, value) =>
    typeof value === "number" ? Number(value.toPrecision(6)) : value
  )

const main = async (options: Options): Promise<void> => {
  // Unknown names are reported before anything is started.
  Parts.casesOf(options)

  const needsRedis = options.parts.has("http") || options.parts.has("latency")
  const databases = await Databases.make(options.postgres, needsRedis)
  const measured = await measure(options, databases).finally(async () => {
    await stopAll()
    await databases.remove()
  })
  const results = roundNumbers(measured)
  const page = Markdown.render(results)
  console.log(page)
  if (options.out !== undefined) write(results, page, options.out)
}

const messageOf = (error: unknown): string =>
  error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [messageOf(error.cause)])].join("\n")
    : String(error)

let isInterrupted = false
// Stopping the children makes all pending waits fail, which starts cleanup; a second signal ends this process at once.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    isInterrupted = true
    void stopAll()
  })
}

try {
  const options = parse(process.argv.slice(2))
  if (options === undefined) console.log(help)
  else await main(options)
} catch (error) {
  console.error(isInterrupted ? "\ninterrupted" : messageOf(error))
  process.exitCode = isInterrupted ? 130 : error instanceof InvalidOptions ? 2 : 1
}
