/** Measures how soon the built command listens, and the load time and size of each public entry of the package. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import packageJson from "../../package.json" with { type: "json" }
import * as Spread from "../results/Spread.ts"
import { formatCount } from "../Thousands.ts"
import type { Figure } from "./Figure.ts"
import { localImports } from "./LocalImports.ts"
import { figure, REPEATS } from "./Repeats.ts"
import type { Section } from "./Section.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const command = path.join(root, packageJson.bin["animal-store"])

const STARTS = 7

/** The environment of the measured processes, without settings of animal-store and Node. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_") && name !== "NODE_OPTIONS")
)

const spawnNode = (args: ReadonlyArray<string>): ChildProcess =>
  spawn(process.execPath, args, { env: environment, stdio: ["ignore", "pipe", "inherit"] })

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("exit", resolve)
  })

/** Returns the milliseconds from the start of the command to the line that it prints once it listens. */
const listeningMs = async (): Promise<number> => {
  const began = performance.now()
  const child = spawnNode([command, "serve", "--json", "--port", "0", "--database", "memory:"])
  const exit = exitOf(child)
  const listening = new Promise<number>((resolve) =>
    child.stdout?.once("data", () => resolve(performance.now() - began))
  )
  const exitedEarly = exit.then((code) =>
    Promise.reject(new Error(`the command exited early with code ${code}`))
  )
  exitedEarly.catch(() => undefined)
  const ms = await Promise.race([listening, exitedEarly])
  child.kill()
  await exit
  return ms
}

/** Returns the milliseconds from the start to the exit of a process that runs only `code`. */
const lifetimeMs = async (code: string): Promise<number> => {
  const began = performance.now()
  const exitCode = await exitOf(spawnNode(["--input-type=module", "--eval", code]))
  if (exitCode !== 0) throw new Error(`a process that ran ${code} exited with code ${exitCode}`)
  return performance.now() - began
}

interface Entry {
  readonly name: string
  readonly file: string
}

/** The public entries of the package that are modules; plain files and patterns are excluded. */
const entries: ReadonlyArray<Entry> = Object.entries(packageJson.exports).flatMap(([name, target]) =>
  typeof target === "string" || name.includes("*") ? [] : [{ name, file: path.join(root, target.default) }]
)

/** Returns a file and all files of the package that it imports, directly or indirectly. */
const filesOf = (entry: string): ReadonlyArray<string> => {
  const files = new Set([entry])
  // The loop also visits files that are added to the set while it runs.
  for (const file of files) {
    const code = fs.readFileSync(file, "utf8")
    for (const imported of localImports(code)) files.add(path.resolve(path.dirname(file), imported))
  }
  return [...files]
}

const sizesOf = ({ file, name }: Entry): ReadonlyArray<Figure> => {
  const contents = filesOf(file).map((each) => fs.readFileSync(each))
  const sum = (size: (content: Buffer) => number) => [
    contents.reduce((total, content) => total + size(content), 0)
  ]
  return [
    figure(
      "size of entries",
      `${name}, ${formatCount(contents.length, "file")}`,
      "bytes",
      sum(({ length }) => length)
    ),
    figure(
      "size of entries",
      `${name}, each compressed`,
      "bytes",
      sum((content) => gzipSync(content).length)
    )
  ]
}

const measureLoading = async (progress: (text: string) => void): Promise<ReadonlyArray<Figure>> => {
  const empty: Array<number> = []
  const loaded = entries.map((entry) => ({ ...entry, values: [] as number[] }))
  for (let count = 0; count < REPEATS; count++) {
    progress(`loading of entries: ${count + 1} of ${REPEATS}`)
    empty.push(await lifetimeMs(""))
    for (const { file, values } of loaded) values.push(await lifetimeMs(`import ${JSON.stringify(file)}`))
  }
  const emptyMs = Spread.median(empty)
  return [
    figure("loading of entries", "an empty process, subtracted from all others", "ms", empty),
    ...loaded.map(({ name, values }) =>
      figure(
        "loading of entries",
        name,
        "ms",
        values.map((ms) => ms - emptyMs)
      )
    )
  ]
}

const startup: Section = {
  name: "startup",
  run: async (progress) => {
    // The files in dist may be older than the sources.
    progress("startup: building the package")
    execFileSync("npm", ["run", "--silent", "build:files"], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"]
    })
    const starts: Array<number> = []
    for (let count = 0; count < STARTS; count++) {
      progress(`startup: ${count + 1} of ${STARTS}`)
      starts.push(await listeningMs())
    }
    return [
      figure("startup", "the command listens, memory:", "ms", starts),
      ...(await measureLoading(progress)),
      ...entries.flatMap(sizesOf)
    ]
  }
}

export const sections: ReadonlyArray<Section> = [startup]
