/** What survives the end of a process, however it ends. */
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import type { NewPet } from "../../core/domain/NewPet.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { type Ended, type Started, start, stop } from "./Serve.fixture.ts"

const CLIENTS = 16
const PER_DAY = 1_000_000

interface Running {
  readonly server: Started
  readonly url: string
  /** The secret of the key that was issued at the start, if one was. */
  readonly key: string
}

interface Announced {
  readonly url: string
  readonly keys: ReadonlyArray<{ readonly key: string }>
}

/** A server whose key, if one is asked for, has a day that ends before its minute. */
const serve = async (database: string, ...args: ReadonlyArray<string>): Promise<Running> => {
  const server = await start(["--json", "--port", "0", "--database", database, ...args])
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  const { keys, url }: Announced = JSON.parse(server.greeting)
  return { server, url, key: keys[0]?.key ?? "" }
}

const issueKey = ["--issue-key", `Enterprise:perMinute=${PER_DAY * 100},perDay=${PER_DAY}`]

/** What clients have been promised, over all the lives of a server. */
class Ledger {
  readonly sent = new Map<bigint, NewPet>()
  readonly acknowledged = new Map<bigint, Load.WirePet>()
  readonly #answersUntil = new Map<string, number>()
  #requests = 0
  #latestId = 0n

  /** Creates an animal; answers whether the server did, and false once the connection is lost. */
  async create(client: Load.Client, key: string, pet: NewPet): Promise<boolean> {
    const latestId = this.#latestId
    this.sent.set(pet.categoryId, pet)
    const answer = await this.ask(client, { key, path: "/pets", body: Load.bodyOf(pet) })
    if (answer === undefined) return false
    expect(answer).toMatchObject({ status: 201 })
    const created = Load.petIn(answer.body)
    expect(Load.isSame(created, pet)).toBe(true)
    // It was asked for after the answer that told of that id.
    expect(created.id > latestId, `${created.id} > ${latestId}`).toBe(true)
    expect(this.acknowledged.has(created.id)).toBe(false)
    this.acknowledged.set(created.id, created)
    if (created.id > this.#latestId) this.#latestId = created.id
    return true
  }

  /** Sends a request and counts it; `undefined` when there is no answer. */
  async ask(
    client: Load.Client,
    request: Load.Request,
    onSent?: () => void
  ): Promise<Load.Answer | undefined> {
    this.#requests++
    const answer = await client.send(request, onSent).catch(() => undefined)
    if (answer !== undefined) {
      const until = answer.header("x-ratelimit-reset")
      this.#answersUntil.set(until, (this.#answersUntil.get(until) ?? 0) + 1)
    }
    return answer
  }

  /** Checks that every answer is counted, and no request twice. */
  checkUsage(answer: Load.Answer): void {
    expect(answer.header("x-ratelimit-limit")).toBe(String(PER_DAY))
    const used = PER_DAY - Number(answer.header("x-ratelimit-remaining"))
    const answers = this.#answersUntil.get(answer.header("x-ratelimit-reset")) ?? 0
    expect(used).toBeGreaterThanOrEqual(answers)
    expect(used).toBeLessThanOrEqual(this.#requests)
  }
}

/** Reads the list on from where it ended last. */
class Reader {
  readonly pets = new Map<bigint, Load.WirePet>()
  #position = "/pets?limit=100"
  #latest = 0n

  async readOn(ledger: Ledger, client: Load.Client, key: string): Promise<void> {
    while (true) {
      const answer = await ledger.ask(client, { key, path: this.#position })
      if (answer === undefined) throw new Error("a server that nobody kills has gone")
      expect(answer.status).toBe(200)
      ledger.checkUsage(answer)
      for (const pet of Load.petsIn(answer.body)) {
        // The last page is read again.
        if (this.pets.has(pet.id)) expect(pet).toEqual(this.pets.get(pet.id))
        else expect(pet.id > this.#latest).toBe(true)
        this.pets.set(pet.id, pet)
        if (pet.id > this.#latest) this.#latest = pet.id
      }
      const next = /^<\/v1([^>]+)>; rel="next"$/.exec(answer.header("link"))?.[1]
      if (next === undefined) return
      this.#position = next
    }
  }

  /** Checks that all that was promised is there, and nothing that nobody sent. */
  check({ acknowledged, sent }: Ledger): void {
    for (const [id, pet] of acknowledged) expect(this.pets.get(id)).toEqual(pet)
    const categories = new Set<bigint>()
    for (const pet of this.pets.values()) {
      const origin = sent.get(pet.categoryId)
      expect(origin !== undefined && Load.isSame(pet, origin), `${pet.id} was sent as it is`).toBe(true)
      categories.add(pet.categoryId)
    }
    expect(categories.size).toBe(this.pets.size)
  }
}

/** Creates animals with many clients until the server is gone; `onFirst` is told of the first that is acknowledged. */
const storm = async (
  ledger: Ledger,
  { key, url }: { readonly key: string; readonly url: string },
  next: () => NewPet,
  onFirst: () => void
): Promise<number> => {
  let count = 0
  await Load.together([url], CLIENTS, async (client) => {
    while (await ledger.create(client, key, next())) if (++count === 1) onFirst()
  })
  return count
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a server", () => {
    it("that is killed in a storm of creates, 20 times, keeps every promise", async () => {
      const { address } = await Databases.createForTest(kind)
      const ledger = new Ledger()
      const reader = new Reader()
      const next = Load.makeAnimals(20)
      const figures: Array<string> = []
      let key = ""
      for (let round = 0; round < 20; round++) {
        const running = await serve(address, ...(round === 0 ? issueKey : []))
        if (round === 0) key = running.key
        if (round > 0) {
          await Load.together([running.url], 1, (client) => reader.readOn(ledger, client, key))
          reader.check(ledger)
        }
        const delay = 100 + Math.random() * 300
        let killed: Promise<unknown> | undefined
        const count = await storm(ledger, { url: running.url, key }, next, () => {
          killed = sleep(delay).then(() => stop(running.server, "SIGKILL"))
        })
        expect(killed, "it ended before it was killed").toBeDefined()
        await killed
        figures.push(`${count} in ${Math.round(delay)} ms`)
      }
      const { url } = await serve(address)
      await Load.together([url], 1, (client) => reader.readOn(ledger, client, key))
      reader.check(ledger)
      const unanswered = reader.pets.size - ledger.acknowledged.size
      // The clients' requests that were open at the end of each round may have been carried out.
      expect(unanswered).toBeLessThanOrEqual(20 * CLIENTS)
      console.log(`${kind.name}: ${figures.join(", ")}; ${unanswered} stored without an answer`)
    }, 120_000)

    it("that is stopped in a storm of creates answers all that was sent before", async () => {
      const { address } = await Databases.createForTest(kind)
      const { key, server, url } = await serve(address, ...issueKey)
      const ledger = new Ledger()
      const next = Load.makeAnimals(4)
      let isStopping = false
      let ended: Promise<Ended> | undefined
      const answered = new Set<number>()
      const lost: Array<string> = []
      await Load.together([url], CLIENTS, async (client, index) => {
        while (true) {
          const pet = next()
          let sentBefore = false
          ledger.sent.set(pet.categoryId, pet)
          const answer = await ledger.ask(client, { key, path: "/pets", body: Load.bodyOf(pet) }, () => {
            sentBefore = !isStopping
          })
          if (answer === undefined) {
            if (sentBefore) lost.push(Load.bodyOf(pet))
            return
          }
          expect(answer.status).toBe(201)
          const created = Load.petIn(answer.body)
          ledger.acknowledged.set(created.id, created)
          // From here on all connections have been accepted.
          if (answered.add(index).size < CLIENTS) continue
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
        stderr: "animal-store: stopping; requests in flight may finish\n"
      })
      if (kind.name === "SQLite") expectClosed(address.slice("sqlite:".length))

      const again = await serve(address)
      const reader = new Reader()
      await Load.together([again.url], 1, (client) => reader.readOn(ledger, client, key))
      reader.check(ledger)
      expect(reader.pets.size).toBe(ledger.acknowledged.size)
    }, 60_000)
  })
}

/** Checks that the file holds all there is, and that it is whole. */
const expectClosed = (filename: string): void => {
  expect(fs.readdirSync(path.dirname(filename))).toEqual([path.basename(filename)])
  const database = new DatabaseSync(filename, { readOnly: true })
  expect(database.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }])
  database.close()
}
