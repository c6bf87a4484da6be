/** Tests under load that several servers on one database behave like one server; see also `SharedDatabase.test.ts`. */
import { expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { start, stop } from "./Serve.fixture.ts"

const CONNECTIONS = 20

/** Number of servers on each kind of database. */
const serversOn = { SQLite: 2, PostgreSQL: 4 } as const

/** Starts servers concurrently on an empty database; returns their URLs and a key that has this plan. */
const serveTogether = async (kind: Databases.Kind, plan: string) => {
  const { address } = await Databases.createForTest(kind)
  const servers = await Promise.all(
    Array.from({ length: serversOn[kind.name] }, async (_, index) => {
      const issue = index === 0 ? ["--issue-key", plan] : ["--issue-key", "Free"]
      const server = await start(["--json", "--port", "0", "--database", address, ...issue])
      onTestFinished(async () => void (await stop(server, "SIGKILL")))
      return server
    })
  )
  return { urls: servers.map(({ url }) => url), key: servers[0]?.key ?? "" }
}

interface Decision extends Load.LoadResponse {
  readonly limit: number
  readonly remaining: number
  readonly reset: number
  /** Epoch seconds at which the response was received. */
  readonly receivedAt: number
}

/** Maximum difference between the clocks of the database and this machine, in seconds. */
const SKEW = 5

const decisionOf = (response: Load.LoadResponse): Decision => {
  const [limit, remaining, reset] = (["limit", "remaining", "reset"] as const).map((name) => {
    const text = response.header(`x-ratelimit-${name}`)
    expect(text, name).toMatch(/^(0|[1-9][0-9]*)$/)
    return Number(text)
  })
  const receivedAt = Date.now() / 1_000
  return { ...response, limit: limit ?? 0, remaining: remaining ?? 0, reset: reset ?? 0, receivedAt }
}

/** Sends requests on all connections until `isOver` returns true; every fourth request creates an animal. */
const hammer = async (
  urls: ReadonlyArray<string>,
  key: string,
  isOver: (decisions: ReadonlyArray<Decision>) => boolean
): Promise<ReadonlyArray<Decision>> => {
  const decisions: Array<Decision> = []
  const next = Load.makeAnimals(2)
  let count = 0
  await Load.runClients(urls, CONNECTIONS, async (client) => {
    while (!isOver(decisions)) {
      const pet = next()
      const body = Load.bodyOf(pet)
      const request = count++ % 4 === 0 ? { key, path: "/pets", body } : { key, path: "/pets?limit=1" }
      const response = await client.send(request)
      if (response.status === 201) expect(Load.isSame(Load.petIn(response.body), pet)).toBe(true)
      decisions.push(decisionOf(response))
    }
  })
  return decisions
}

const isDenied = ({ status }: Load.LoadResponse): boolean => status === 429

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, `${serversOn[kind.name]} servers that start concurrently`, () => {
    it("admit exactly the daily limit of a key, without gaps in X-RateLimit-Remaining", async () => {
      await Load.awayFromMidnight(30_000)
      const { key, urls } = await serveTogether(kind, "Enterprise:perMinute=1000000,perDay=1000")
      const decisions = await hammer(urls, key, (soFar) => soFar.filter(isDenied).length >= 100)

      const admitted = decisions.filter(({ status }) => status === 200 || status === 201)
      expect(admitted.map(({ remaining }) => remaining).sort((a, b) => b - a)).toEqual(
        Array.from({ length: 1_000 }, (_, index) => 999 - index)
      )
      const midnight = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400
      for (const decision of decisions) {
        expect([200, 201, 429]).toContain(decision.status)
        expect(decision).toMatchObject({ limit: 1_000, reset: midnight })
        if (!isDenied(decision)) continue
        expect(decision.remaining).toBe(0)
        const retryAt = Date.parse(decision.header("date")) / 1_000 + Number(decision.header("retry-after"))
        expect(Math.abs(retryAt - midnight)).toBeLessThanOrEqual(1 + SKEW)
        expect(JSON.parse(decision.body)).toMatchObject({ code: "rate_limit_exceeded", status: 429 })
      }

      const ids = decisions.filter(({ status }) => status === 201).map(({ body }) => Load.petIn(body).id)
      expect(ids.length).toBeGreaterThanOrEqual(200)
      expect(new Set(ids).size).toBe(ids.length)
    }, 300_000)

    it("together admit as many requests with a key as a single bucket of 1,000 tokens", async () => {
      await Load.awayFromMidnight(30_000)
      const { key, urls } = await serveTogether(kind, "Business")
      const startedAt = performance.now()
      const decisions = await hammer(urls, key, (soFar) => soFar.filter(isDenied).length >= 200)
      const elapsedMs = performance.now() - startedAt

      const admitted = decisions.filter((decision) => !isDenied(decision)).length
      // At least a full bucket, and at most a full bucket plus the tokens refilled in the elapsed time.
      expect(admitted).toBeGreaterThanOrEqual(1_000)
      expect(admitted).toBeLessThanOrEqual(1_000 + Math.floor(((elapsedMs + 1) * 1_000) / 60_000))
      for (const { header, limit, receivedAt, remaining, reset, status } of decisions) {
        expect([200, 201, 429]).toContain(status)
        expect(limit).toBe(1_000)
        expect(remaining).toBeLessThan(1_000)
        expect(reset).toBeGreaterThanOrEqual(Date.parse(header("date")) / 1_000 - SKEW)
        expect(reset).toBeLessThanOrEqual(receivedAt + 61 + SKEW)
        if (status !== 429) continue
        expect(remaining).toBe(0)
        // Each denied request gets its own retry time within the next minute, after which the bucket is full.
        expect(Number(header("retry-after"))).toBeGreaterThanOrEqual(1)
        expect(Number(header("retry-after"))).toBeLessThanOrEqual(60)
      }
      console.log(`${kind.name}: ${admitted} admitted in ${Math.round(elapsedMs)} ms`)
    }, 300_000)

    it("return animals immediately after another server has created them", async () => {
      const { key, urls } = await serveTogether(kind, "Enterprise:perMinute=1000000,perDay=1000000")
      const clients = urls.map(Load.connect)
      onTestFinished(async () => {
        for (const client of clients) client.close()
      })
      const next = Load.makeAnimals(3)
      let latest = 0n
      for (let round = 0; round < 25; round++) {
        for (const creator of clients) {
          const pet = next()
          const created = await creator.send({ key, path: "/pets", body: Load.bodyOf(pet) })
          expect(created.status).toBe(201)
          const { id } = Load.petIn(created.body)
          expect(id > latest).toBe(true)
          latest = id
          for (const client of clients) {
            const read = await client.send({ key, path: `/pets/${id}` })
            expect([read.status, read.body]).toEqual([200, created.body])
          }
        }
      }
      const lists = await Promise.all(clients.map((client) => client.send({ key, path: "/pets?limit=10" })))
      expect(new Set(lists.map(({ body }) => body)).size).toBe(1)
      for (const [index, list] of lists.entries()) {
        // A server must accept the cursor of another server.
        const path = /^<\/v1([^>]+)>; rel="next"$/.exec(list.header("link"))?.[1] ?? "/none"
        const page = await clients[(index + 1) % clients.length]?.send({ key, path })
        expect(Load.petsIn(page?.body ?? "")).toHaveLength(10)
      }
    }, 300_000)
  })
}
