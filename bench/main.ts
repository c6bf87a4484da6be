/** `npm run bench`: measures servers side by side, and renders the results; `--help` lists the options. */
import * as fs from "node:fs"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { findCores, stopAll } from "./Child.ts"
import * as Command from "./Command.ts"
import * as Databases from "./Databases.ts"
import * as Options from "./Options.ts"
import * as Parts from "./Parts.ts"
import { report } from "./Progress.ts"
import * as Process from "./process/Process.ts"
import * as Page from "./results/Page.ts"
import * as Results from "./results/Results.ts"

const documentation = pathToFileURL(`${Options.documentation}/`)
const readme = new URL("../README.md", import.meta.url)

const measure = async (
  options: Options.Options,
  databases: Databases.Databases
): Promise<Results.Results> => {
  const date = new Date().toISOString()
  const began = performance.now()
  const cores = findCores()
  const bench = { options, cores, databases }
  if (cores === undefined) report("Servers and load generator cannot be pinned to separate cores here.")
  for (const { name, reason } of Parts.skipped(bench)) report(`${name} is skipped: ${reason}`)
  const { parts } = options
  const measured = {
    http: parts.has("http") ? await Parts.http(bench) : undefined,
    latency: parts.has("latency") ? await Parts.latency(bench) : undefined,
    process: parts.has("process") ? await Process.measure(databases) : undefined
  }
  return {
    schema: Results.SCHEMA,
    date,
    seconds: Math.round((performance.now() - began) / 1000),
    machine: Results.thisMachine(cores !== undefined),
    versions: { ...Results.installedVersions(), ...databases.versions },
    isQuick: options.isQuick,
    ...measured
  }
}

const write = (results: Results.Results, directory: URL | undefined): void => {
  const files = Page.files(results)
  console.log(files[0]?.[1])
  if (directory === undefined) return
  fs.mkdirSync(directory, { recursive: true })
  for (const [name, content] of files) fs.writeFileSync(new URL(name, directory), content)
  if (directory.href === documentation.href)
    fs.writeFileSync(readme, Page.inReadme(fs.readFileSync(readme, "utf8"), results))
}

await Command.run(Options.help, async (args) => {
  const options = Options.parse(args)
  if (!options.isRendered) {
    const databases = await Databases.open(true)
    const results = await measure(options, databases).finally(async () => {
      await stopAll()
      await databases.remove()
    })
    Results.write(results)
  }
  write(
    Results.read(),
    options.out === undefined ? undefined : pathToFileURL(`${path.resolve(options.out)}/`)
  )
})
