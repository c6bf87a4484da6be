/** `npm run bench`: measures servers side by side, and renders the results; `--help` lists the options. */
import * as fs from "node:fs"
import { pathToFileURL } from "node:url"
import { findCores, stopAll } from "./Child.ts"
import * as Command from "./Command.ts"
import * as Databases from "./Databases.ts"
import * as Options from "./Options.ts"
import * as Parts from "./Parts.ts"
import { Progress } from "./Progress.ts"
import * as Page from "./results/Page.ts"
import * as Results from "./results/Results.ts"

const measure = async (
  options: Options.Options,
  databases: Databases.Databases
): Promise<Results.Results> => {
  const date = new Date().toISOString()
  const began = performance.now()
  const cores = findCores()
  const progress = new Progress(Parts.estimateSeconds(options))
  const bench = { options, cores, databases, progress }
  if (cores === undefined)
    progress.note("Servers and load generator cannot be pinned to separate cores here.")
  for (const { name, reason } of Parts.skipped(bench)) progress.note(`${name} is skipped: ${reason}`)
  const { parts } = options
  const measured = {
    http: parts.has("http") ? await Parts.http(bench) : undefined,
    latency: parts.has("latency") ? await Parts.latency(bench) : undefined,
    soak: parts.has("soak") ? await Parts.soak(bench) : undefined,
    process: parts.has("process") ? await Parts.process(bench) : undefined
  }
  progress.end()
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
}

await Command.run(Options.help, async (args) => {
  const options = Options.parse(args)
  if (!options.isRendered) {
    const databases = await Databases.open(options.parts.size > 1 || !options.parts.has("soak"))
    const results = await measure(options, databases).finally(async () => {
      await stopAll()
      await databases.remove()
    })
    Results.write(results)
  }
  write(Results.read(), options.out === undefined ? undefined : pathToFileURL(`${options.out}/`))
})
