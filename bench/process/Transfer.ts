/** Measures how many animals per second the commands `import` and `copy` store in SQLite and in PostgreSQL. */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import * as PetJson from "../../core/codec/PetJson.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as Databases from "../Databases.ts"
import { statuses } from "../http/Catalogue.ts"
import type { Figure } from "./Figure.ts"
import { figure } from "./Repeats.ts"
import type { Section } from "./Section.ts"

/** Number of animals, enough for a second or more. */
const ANIMALS = 200_000

/** Number of measurements of each figure; fewer than usual, because each takes seconds. */
const REPEATS = 3

/** The name of the section, and of the group of its figures. */
const GROUP = "import and copy"

const command = fileURLToPath(new URL("../../adapters/cli/main.ts", import.meta.url))

/** The environment of the measured processes, without settings of animal-store. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_"))
)

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", resolve)
  })

/** Runs a command, and returns the animals per second that it reports, which exclude its start. */
const perSecondOf = async (args: ReadonlyArray<string>): Promise<number> => {
  const child = spawn(process.execPath, [command, ...args, "--json"], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const [code, output, errors] = await Promise.all([exitOf(child), text(child.stdout), text(child.stderr)])
  if (code !== 0) throw new Error(`${args[0]} exited with code ${code}\n${errors}`)
  return Number(JSON.parse(output).perSecond)
}

interface Database {
  readonly address: string
  readonly remove: () => void | Promise<void>
}

/** A kind of database. */
interface Target {
  readonly name: string
  readonly create: () => Promise<Database | Databases.Unavailable>
}

const sqlite = (): Database => {
  const { filename, remove } = Databases.sqliteFile()
  return { address: `sqlite:${filename}`, remove }
}

const targets: ReadonlyArray<Target> = [
  { name: "SQLite", create: async () => sqlite() },
  { name: "PostgreSQL", create: () => Databases.postgresSchema(Databases.postgresServer) }
]

/** Measures a command several times, each time with a new database; returns no figure if none can be created. */
const measureRepeatedly = async (
  { create, name }: Target,
  what: string,
  args: (address: string) => ReadonlyArray<string>,
  progress: (text: string) => void
): Promise<ReadonlyArray<Figure>> => {
  const rates: Array<number> = []
  for (let count = 1; count <= REPEATS; count++) {
    progress(`${what}: ${count} of ${REPEATS}`)
    const database = await create()
    if ("reason" in database) {
      progress(`${name}: skipped, ${database.reason}`)
      return []
    }
    try {
      rates.push(await perSecondOf(args(database.address)))
    } finally {
      await database.remove()
    }
  }
  return [figure(GROUP, what, "per second", rates)]
}

const transfer: Section = {
  name: GROUP,
  run: async (progress) => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-bench-transfer-"))
    const source = sqlite()
    try {
      const file = path.join(directory, "animals.ndjson")
      fs.writeFileSync(file, encodeAnimals())
      const figures: Array<Figure> = []
      for (const target of targets) {
        for (const flags of [[], ["--keep-ids"]]) {
          const what = [`import into ${target.name}`, ...flags].join(", ")
          const args = (address: string) => ["import", file, "--database", address, ...flags]
          figures.push(...(await measureRepeatedly(target, what, args, progress)))
        }
      }
      await perSecondOf(["import", file, "--database", source.address])
      for (const target of targets) {
        const args = (address: string) => ["copy", "--from", source.address, "--to", address]
        figures.push(
          ...(await measureRepeatedly(target, `copy from SQLite to ${target.name}`, args, progress))
        )
      }
      return figures
    } finally {
      await source.remove()
      fs.rmSync(directory, { recursive: true, force: true })
    }
  }
}

const encodeAnimals = (): string => {
  let all = ""
  for (let index = 1; index <= ANIMALS; index++) {
    const pet = new Pet(BigInt(index), {
      name: `Rex the ${index}th of his name`,
      categoryId: BigInt(1_000 + (index % 17)),
      status: statuses[index % 3] ?? "sold"
    })
    all += `${PetJson.encode(pet)}\n`
  }
  return all
}

export const sections: ReadonlyArray<Section> = [transfer]
