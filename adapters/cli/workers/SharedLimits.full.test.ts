/** Tests under load that the workers of one server share animals and limits exactly, on each kind of database. */
import { expect, it } from "vitest"
import * as RedisServers from "../../redis/RedisServers.fixture.ts"
import * as Databases from "../../sql/Databases.fixture.ts"
import * as Load from "../Load.fixture.ts"
import * as Workers from "./Workers.fixture.ts"

/** The databases of a server, and the number of its workers. */
interface Backend {
  readonly kind: Databases.Kind
  readonly workers: number
  /** Another database for limits; absent if limits are in the same database as the animals. */
  readonly limits?: {
    readonly name: string
    /** The reason why it cannot be started here, or `undefined`. */
    readonly missing: string | undefined
    /** Starts it and returns its address. */
    readonly start: () => Promise<string>
  }
}

const backends: ReadonlyArray<Backend> = [
  { kind: Databases.sqlite, workers: 3 },
  { kind: Databases.postgres, workers: 4 },
  {
    kind: Databases.postgres,
    workers: 4,
    limits: {
      name: "Redis",
      missing: RedisServers.redis.missing,
      start: async () => (await RedisServers.startForTest(RedisServers.redis)).address
    }
  }
]

/** Maximum difference between the clocks of the database and this machine, in seconds. */
const SKEW = 5

const serve = async ({ kind, limits, workers }: Backend, plan: string): Promise<Workers.Server> => {
  const { address } = await Databases.createForTest(kind)
  const limitsFlags = limits === undefined ? [] : ["--limits", await limits.start()]
  return Workers.serve(workers, address, [...limitsFlags, "--issue-key", Workers.UNLIMITED], { plan })
}

/** Expects that `GET /pets/{id}` returns each of the animals. */
const expectStored = async (
  { keys, url }: Workers.Server,
  animals: ReadonlyArray<Load.WirePet>
): Promise<void> => {
  const key = keys[1]?.key ?? ""
  const client = Load.connect(url)
  for (const animal of animals) {
    const { body, status } = await client.send({ key, path: `/pets/${animal.id}` })
    expect([status, Load.petIn(body)]).toEqual([200, animal])
  }
  client.close()
}

/** Expects the three rate-limit headers of the contract, with valid values for a per-minute limit of 1,000. */
const expectValidHeaders = ({ header, status }: Load.LoadResponse): void => {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => {
    const text = header(`x-ratelimit-${name}`)
    expect(text, name).toMatch(/^(0|[1-9][0-9]*)$/)
    return Number(text)
  })
  expect([200, 201, 429]).toContain(status)
  expect(limit).toBe(1_000)
  expect(remaining).toBeLessThan(1_000)
  const now = Date.now() / 1_000
  expect(reset).toBeGreaterThanOrEqual(Date.parse(header("date")) / 1_000 - SKEW)
  expect(reset).toBeLessThanOrEqual(now + 61 + SKEW)
  if (status !== 429) return
  expect(remaining).toBe(0)
  expect(Number(header("retry-after"))).toBeGreaterThanOrEqual(1)
  expect(Number(header("retry-after"))).toBeLessThanOrEqual(60)
}

for (const backend of backends) {
  const missing = Workers.missing ?? backend.limits?.missing
  const title = `${backend.workers} workers${backend.limits === undefined ? "" : ` with limits in ${backend.limits.name}`}`
  Databases.describeOn(backend.kind, title, () => {
    it.skipIf(missing !== undefined)(
      "together admit as many requests with a key as a single bucket of 1,000 tokens, and lose no acknowledged animal, even if a worker is killed",
      async () => {
        await Load.awayFromMidnight(30_000)
        const served = await serve(backend, "Business")
        const { key, url, workers } = served
        const next = Load.makeAnimals(5)
        const created: Array<Load.WirePet> = []
        const responding = new Set<string>()
        const brokenClients = new Set<number>()
        let [admitted, denied, count] = [0, 0, 0]
        const startedAt = performance.now()
        await Load.runClients([url], 24, async (first, index) => {
          let client = first
          while (denied < 200) {
            const animal = count++ % 4 === 0 ? next() : undefined
            const request =
              animal === undefined
                ? { key, path: "/pets?limit=1" }
                : { key, path: "/pets", body: Load.bodyOf(animal) }
            if (count === 500) process.kill(workers()[0] ?? 0, "SIGKILL")
            try {
              const response = await client.send(request)
              expectValidHeaders(response)
              responding.add(Workers.workerOf(response))
              if (response.status === 201) {
                const pet = Load.petIn(response.body)
                expect(animal !== undefined && Load.isSame(pet, animal)).toBe(true)
                created.push(pet)
              }
              if (response.status === 429) denied++
              else admitted++
            } catch (error) {
              // Only connections of the killed worker break, and each breaks once.
              if (brokenClients.has(index) || count < 500) throw error
              brokenClients.add(index)
              client.close()
              client = Load.connect(url)
            }
          }
          client.close()
        })
        const elapsedMs = performance.now() - startedAt
        expect(responding.size).toBeGreaterThanOrEqual(backend.workers)
        // At most a full bucket plus the tokens refilled in the elapsed time. A request that the killed worker counted
        // may have no response.
        expect(admitted).toBeGreaterThanOrEqual(1_000 - brokenClients.size)
        expect(admitted).toBeLessThanOrEqual(1_000 + Math.floor(((elapsedMs + 1) * 1_000) / 60_000))
        expect(brokenClients.size).toBeGreaterThan(0)
        expect(new Set(created.map(({ id }) => id)).size).toBe(created.length)
        await expectStored(served, created)
        console.log(
          `${backend.kind.name}: ${admitted} admitted in ${Math.round(elapsedMs)} ms, ${brokenClients.size} connections broke`
        )
      },
      300_000
    )
  })
}
