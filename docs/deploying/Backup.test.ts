/** Tests the backup script on a database to which a store is writing. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as path from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { type AnimalStore, openAnimalStore } from "../../adapters/embed/index.ts"
import { commandsOf, createDirectory, describeWith, root, shell } from "../Pages.fixture.ts"

const script = "docs/deploying/animal-store-backup.sh"

/** Returns the backup command from the page with the paths of a test directory; it keeps `copies` backups. */
const command = (directory: string, copies = 14): string =>
  (commandsOf("backup")[0] ?? "")
    .replace(script, path.join(root, script))
    .replace("data/", `${directory}/data/`)
    .replace("backups 14", `${directory}/backups ${copies}`)

const openStore = async (filename: string): Promise<AnimalStore> => {
  const store = await openAnimalStore({ database: `sqlite:${filename}` })
  onTestFinished(() => store.close())
  return store
}

const request = (store: AnimalStore, key: string, target: string, body?: string): Promise<Response> =>
  store.fetch(
    new Request(`http://store.test${target}`, {
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body })
    })
  )

interface Animal {
  readonly id: number
  readonly name: string
}

const create = async (store: AnimalStore, key: string, name: string): Promise<Animal> => {
  const response = await request(store, key, "/v1/pets", JSON.stringify({ name, categoryId: 1 }))
  expect(response.status).toBe(201)
  return JSON.parse(await response.text())
}

const listAll = async (store: AnimalStore, key: string): Promise<ReadonlyArray<Animal>> => {
  const animals: Array<Animal> = []
  for (let target: string | undefined = "/v1/pets?limit=100"; target !== undefined; ) {
    const response = await request(store, key, target)
    animals.push(...JSON.parse(await response.text()))
    target = /^<([^>]+)>/.exec(response.headers.get("Link") ?? "")?.[1]
  }
  return animals
}

const copiesIn = (directory: string): ReadonlyArray<string> => fs.readdirSync(path.join(directory, "backups"))

describeWith(["sqlite3"], "the backup script", () => {
  it("creates a consistent copy that a store can open, even while animals are created", async () => {
    const directory = createDirectory()
    const store = await openStore(`${directory}/data/animal-store.db`)
    const limits = { perMinute: 1_000_000, perDay: 10_000_000 }
    const { key } = await store.keys.issue({ plan: "Enterprise", limits })
    const before: Array<Animal> = []
    for (let count = 0; count < 200; count++) before.push(await create(store, key, `before ${count}`))

    let isRunning = true
    const later: Array<Animal> = []
    const writer = async (): Promise<void> => {
      while (isRunning) later.push(await create(store, key, `later ${later.length}`))
    }
    const writers = Promise.all(Array.from({ length: 8 }, writer))
    const backup = spawn("sh", ["-c", command(directory)], { stdio: ["ignore", "pipe", "inherit"] })
    const [[code]] = await Promise.all([once(backup, "exit"), once(backup.stdout.resume(), "close")])
    isRunning = false
    await writers
    expect(code).toBe(0)

    const [name = "", ...others] = copiesIn(directory)
    expect(others).toEqual([])
    expect(name).toMatch(/^animal-store-\d{8}T\d{6}Z\.db$/)
    expect((fs.statSync(path.join(directory, "backups", name)).mode & 0o777).toString(8)).toBe("600")
    const copy = await openStore(path.join(directory, "backups", name))
    const [copied, original] = [await listAll(copy, key), await listAll(store, key)]
    expect(copied.length).toBeGreaterThanOrEqual(before.length)
    expect(copied).toEqual(original.slice(0, copied.length))
    expect(original.length).toBe(before.length + later.length)
    expect((await copy.keys.list()).length).toBe(1)
    await create(copy, key, "written to the copy")
  })

  it("deletes the oldest copy, and keeps the newest copies and all other files", async () => {
    const directory = createDirectory()
    await openStore(`${directory}/data/animal-store.db`)
    fs.mkdirSync(`${directory}/backups`)
    const oldCopies = ["animal-store-20260101T000000Z.db", "animal-store-20260102T000000Z.db"]
    for (const name of [...oldCopies, "notes.txt"]) fs.writeFileSync(`${directory}/backups/${name}`, "")
    expect(shell(command(directory, 2)).status).toBe(0)
    expect(copiesIn(directory)).toEqual([
      oldCopies[1],
      expect.stringMatching(/^animal-store-2\d+T\d+Z\.db$/),
      "notes.txt"
    ])
  })

  it("fails and leaves no copy behind if the database is missing or damaged", () => {
    const directory = createDirectory()
    const missing = shell(command(directory))
    expect(missing).toMatchObject({ status: 1, stdout: "" })
    expect(missing.stderr).toMatch(/^animal-store-backup: there is no database at .*\n$/)
    expect(fs.existsSync(`${directory}/data`)).toBe(false)
    fs.mkdirSync(`${directory}/data`)
    fs.writeFileSync(`${directory}/data/animal-store.db`, "no database ".repeat(400))
    expect(shell(command(directory)).status).not.toBe(0)
    expect(copiesIn(directory)).toEqual([])
  })
})
