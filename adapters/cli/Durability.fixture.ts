/** Expects that no acknowledged data is lost when a server is killed or stopped under load. */
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, onTestFinished } from "vitest"
import type { NewPet } from "../../core/domain/NewPet.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { type ProcessResult, type ServerProcess, start, stop } from "./Serve.fixture.ts"

const CLIENTS = 16
const PER_DAY = 1_000_000

/** Starts a server, and kills it when the test ends. */
const serve = async (database: string, ...args: ReadonlyArray<string>): Promise<ServerProcess> => {
  const server = await start(["--json", "--port", "0", "--database", database, ...args])
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  return server
}

/** The daily limit is far below the per-minute limit, so the rate headers always show the daily limit. */
const issueKey = ["--issue-key", `Enterprise:perMinute=${PER_DAY * 100},perDay=${PER_DAY}`]

/** The request that creates an animal. Each has its own idempotency key, so that it can be repeated after a crash. */
const creation = (key: string, pet: NewPet): Load.Request => ({
  ...{ key, path: "/pets", body: Load.bodyOf(pet) },
  headers: { "Idempotency-Key": `"${pet.categoryId}"` }
})

/** Records, across restarts, which animals the clients sent and which of them a server acknowledged. */
class Ledger {
  readonly sent = new Map<bigint, NewPet>()
  readonly acknowledged = new Map<bigint, Load.WirePet>()
  readonly #responsesByReset = new Map<string, number>()
  #requests = 0
  #latestId = 0n

  /** Creates an animal; returns false if the connection was lost. */
  async create(client: Load.Client, key: string, pet: NewPet): Promise<boolean> {
    const latestId = this.#latestId
    this.sent.set(pet.categoryId, pet)
    const response = await this.send(client, creation(key, pet))
    if (response === undefined) return false
    expect(response).toMatchObject({ status: 201 })
    const created = Load.petIn(response.body)
    expect(Load.isSame(created, pet)).toBe(true)
    // The request was sent after the response with `latestId` arrived, so the new id must be larger.
    expect(created.id > latestId, `${created.id} > ${latestId}`).toBe(true)
    expect(this.acknowledged.has(created.id)).toBe(false)
    this.acknowledged.set(created.id, created)
    if (created.id > this.#latestId) this.#latestId = created.id
    return true
  }

  /** Sends a request and counts it; returns `undefined` if there is no response. */
  async send(
    client: Load.Client,
    request: Load.Request,
    onSent?: () => void
  ): Promise<Load.LoadResponse | undefined> {
    this.#requests++
    const response = await client.send(request, onSent).catch(() => undefined)
    if (response !== undefined) {
      const reset = response.header("x-ratelimit-reset")
      this.#responsesByReset.set(reset, (this.#responsesByReset.get(reset) ?? 0) + 1)
    }
    return response
  }

  /** The animals that were sent and not acknowledged, in the order in which they were sent. */
  unacknowledged(): ReadonlyArray<NewPet> {
    const acknowledged = new Set([...this.acknowledged.values()].map(({ categoryId }) => categoryId))
    return [...this.sent.values()].filter(({ categoryId }) => !acknowledged.has(categoryId))
  }

  /** Expects the daily quota to count every request that got a response, and no request twice. */
  checkUsage(response: Load.LoadResponse): void {
    expect(response.header("x-ratelimit-limit")).toBe(String(PER_DAY))
    const used = PER_DAY - Number(response.header("x-ratelimit-remaining"))
    const responses = this.#responsesByReset.get(response.header("x-ratelimit-reset")) ?? 0
    expect(used).toBeGreaterThanOrEqual(responses)
    expect(used).toBeLessThanOrEqual(this.#requests)
  }
}

/** Reads the list of animals; each read continues at the last page of the previous read. */
class Reader {
  readonly pets = new Map<bigint, Load.WirePet>()
  #position = "/pets?limit=100"
  #latest = 0n

  async readNewPages(ledger: Ledger, client: Load.Client, key: string): Promise<void> {
    while (true) {
      const response = await ledger.send(client, { key, path: this.#position })
      if (response === undefined) throw new Error("the connection to a running server was lost")
      expect(response.status).toBe(200)
      ledger.checkUsage(response)
      for (const pet of Load.petsIn(response.body)) {
        // The last page is read again, because it may have grown.
        if (this.pets.has(pet.id)) expect(pet).toEqual(this.pets.get(pet.id))
        else expect(pet.id > this.#latest).toBe(true)
        this.pets.set(pet.id, pet)
        if (pet.id > this.#latest) this.#latest = pet.id
      }
      const next = /^<\/v1([^>]+)>; rel="next"$/.exec(response.header("link"))?.[1]
      if (next === undefined) return
      this.#position = next
    }
  }

  /** Reads the list to its end, and compares it with the ledger. */
  async checkAll(ledger: Ledger, url: string, key: string): Promise<void> {
    await Load.runClients([url], 1, (client) => this.readNewPages(ledger, client, key))
    this.check(ledger)
  }

  /** Expects the list to have every acknowledged animal, and no animal that was not sent. */
  check({ acknowledged, sent }: Ledger): void {
    for (const [id, pet] of acknowledged) expect(this.pets.get(id)).toEqual(pet)
    const categories = new Set<bigint>()
    for (const pet of this.pets.values()) {
      const origin = sent.get(pet.categoryId)
      expect(
        origin !== undefined && Load.isSame(pet, origin),
        `animal ${pet.id} equals the one that was sent`
      ).toBe(true)
      categories.add(pet.categoryId)
    }
    expect(categories.size).toBe(this.pets.size)
  }
}

/**
 * Creates animals with many clients until the server exits, and returns how many were acknowledged. Calls `onFirst`
 * after the first acknowledgement.
 */
const createUntilExit = async (
  ledger: Ledger,
  { key, url }: { readonly key: string; readonly url: string },
  next: () => NewPet,
  onFirst: () => void
): Promise<number> => {
  let count = 0
  await Load.runClients([url], CLIENTS, async (client) => {
    while (await ledger.create(client, key, next())) if (++count === 1) onFirst()
  })
  return count
}

/**
 * Kills a server `kills` times under load. Expects that no acknowledged animal is lost, that at most the animals of
 * requests in flight were stored without a response, and that repeating these requests stores each animal once.
 */
export const expectDurable = async (kind: Databases.Kind, kills: number): Promise<void> => {
  const { address } = await Databases.createForTest(kind)
  const ledger = new Ledger()
  const reader = new Reader()
  const next = Load.makeAnimals(20)
  let key = ""
  for (let round = 0; round < kills; round++) {
    const server = await serve(address, ...(round === 0 ? issueKey : []))
    if (round === 0) key = server.key
    else await reader.checkAll(ledger, server.url, key)
    let killed: Promise<unknown> | undefined
    await createUntilExit(ledger, { url: server.url, key }, next, () => {
      killed = sleep(100 + Math.random() * 300).then(() => stop(server, "SIGKILL"))
    })
    expect(killed, "the load ended before the server was killed").toBeDefined()
    await killed
  }
  const { url } = await serve(address)
  await reader.checkAll(ledger, url, key)
  // Requests in flight at the end of each round may have been stored.
  expect(reader.pets.size - ledger.acknowledged.size).toBeLessThanOrEqual(kills * CLIENTS)

  const stored = new Map([...reader.pets.values()].map((pet) => [pet.categoryId, pet]))
  await Load.runClients([url], 1, async (client) => {
    for (const pet of ledger.unacknowledged()) {
      const response = await ledger.send(client, creation(key, pet))
      expect(response?.status).toBe(201)
      const created = Load.petIn(response?.body ?? "")
      expect(created).toEqual(stored.get(pet.categoryId) ?? { ...pet, id: created.id })
      ledger.acknowledged.set(created.id, created)
    }
  })
  await reader.checkAll(ledger, url, key)
  expect(reader.pets.size).toBe(ledger.sent.size)
}

/**
 * Stops a server under load, without a drain period. Expects responses to all requests that were sent before the
 * signal, and every acknowledged animal after a restart.
 */
export const expectCleanStop = async (kind: Databases.Kind): Promise<void> => {
  const { address } = await Databases.createForTest(kind)
  const server = await serve(address, ...issueKey)
  const { key, url } = server
  const ledger = new Ledger()
  const next = Load.makeAnimals(4)
  let isStopping = false
  let ended: Promise<ProcessResult> | undefined
  const connected = new Set<number>()
  const lost: Array<string> = []
  await Load.runClients([url], CLIENTS, async (client, index) => {
    while (true) {
      const pet = next()
      let isSentBeforeStop = false
      ledger.sent.set(pet.categoryId, pet)
      const response = await ledger.send(client, creation(key, pet), () => {
        isSentBeforeStop = !isStopping
      })
      if (response === undefined) {
        if (isSentBeforeStop) lost.push(Load.bodyOf(pet))
        return
      }
      expect(response.status).toBe(201)
      const created = Load.petIn(response.body)
      ledger.acknowledged.set(created.id, created)
      // A client that has received a response is connected. The server is stopped only once all clients are connected.
      if (connected.add(index).size < CLIENTS) continue
      ended ??= sleep(200).then(() => {
        isStopping = true
        return stop(server)
      })
    }
  })
  expect(lost).toEqual([])
  expect(await ended).toMatchObject({
    code: 0,
    signal: null,
    stderr: expect.stringMatching(/(?:^|\n)animal-store: stopping; waiting for requests in flight\n$/)
  })
  if (kind.name === "SQLite") expectClosed(address.slice("sqlite:".length))

  const restarted = await serve(address)
  const reader = new Reader()
  await reader.checkAll(ledger, restarted.url, key)
  expect(reader.pets.size).toBe(ledger.acknowledged.size)
}

/** Expects one intact database file without journal files. */
const expectClosed = (filename: string): void => {
  expect(fs.readdirSync(path.dirname(filename))).toEqual([path.basename(filename)])
  const database = new DatabaseSync(filename, { readOnly: true })
  expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }])
  database.close()
}
