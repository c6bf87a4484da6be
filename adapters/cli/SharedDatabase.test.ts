/** Tests that several servers on one database behave like one server; see also `workers/SharedLimits.full.test.ts`. */
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type Server, serveJson } from "./CommandLine.fixture.ts"
import * as Load from "./Load.fixture.ts"

const SERVERS = 3

/** Starts servers concurrently on an empty database, and a client for each; the clients use the first key. */
const serveTogether = async (kind: Databases.Kind, plan: string) => {
  const { address } = await Databases.createForTest(kind)
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, (_, index) =>
      serveJson(["--database", address, ...(index === 0 ? ["--issue-key", plan] : ["--no-first-key"])])
    )
  )
  const key = servers[0]?.key ?? ""
  const clientOf = ({ get, url }: Server) => ({
    get: (path: string) => get(path, key),
    post: (body: string, idempotencyKey: string): Promise<Response> =>
      fetch(`${url}/pets`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${key}`,
          "Content-Type": "application/json",
          "Idempotency-Key": `"${idempotencyKey}"`
        },
        body
      })
  })
  return servers.map(clientOf)
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "servers that start concurrently", () => {
    it("admit exactly the daily limit of a key, without gaps in X-RateLimit-Remaining", async () => {
      await Load.awayFromMidnight(60_000)
      const clients = await serveTogether(kind, "Enterprise:perMinute=1000000,perDay=100")
      const responses = (
        await Promise.all(
          clients.map(({ get }) => Promise.all(Array.from({ length: 40 }, () => get("/pets?limit=1"))))
        )
      ).flat()
      const admitted = responses.filter(({ status }) => status === 200)
      const remaining = admitted.map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")))
      expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 100 }, (_, index) => 99 - index))
      const midnight = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400
      for (const response of responses) {
        expect(Number(response.headers.get("X-RateLimit-Reset"))).toBe(midnight)
        if (response.status === 200) continue
        expect(await response.json()).toMatchObject({ code: "rate_limit_exceeded", status: 429 })
      }
    })

    it("return animals immediately after another server has created them, and accept each other's cursors", async () => {
      const clients = await serveTogether(kind, "Enterprise:perMinute=1000000,perDay=1000000")
      const next = Load.makeAnimals(3)
      let latest = 0n
      for (let round = 0; round < 5; round++) {
        for (const [index, creator] of clients.entries()) {
          const created = await creator.post(Load.bodyOf(next()), `${round}-${index}`)
          const body = await created.text()
          expect(created.status).toBe(201)
          const { id } = Load.petIn(body)
          expect(id > latest).toBe(true)
          latest = id
          for (const client of clients) {
            const read = await client.get(`/pets/${id}`)
            expect([read.status, await read.text()]).toEqual([200, body])
          }
        }
      }
      const lists = await Promise.all(clients.map(({ get }) => get("/pets?limit=10")))
      expect(new Set(await Promise.all(lists.map((list) => list.clone().text()))).size).toBe(1)
      for (const [index, list] of lists.entries()) {
        const path = /^<\/v1([^>]+)>; rel="next"$/.exec(list.headers.get("link") ?? "")?.[1] ?? "/none"
        const page = await clients[(index + 1) % clients.length]?.get(path)
        expect(Load.petsIn((await page?.text()) ?? "")).toHaveLength(5)
      }
    })

    it("create one animal if the same POST is sent to all of them at once, and each returns it", async () => {
      const clients = await serveTogether(kind, "Enterprise:perMinute=1000000,perDay=1000000")
      for (let round = 0; round < 3; round++) {
        const body = `{"name":"round ${round}","categoryId":1}`
        const responses = await Promise.all(
          clients.map(async ({ post }) => {
            // 409 means that the first request is still in progress.
            for (;;) {
              const response = await post(body, `round-${round}`)
              if (response.status !== 409) return response
              await sleep(20)
            }
          })
        )
        expect(responses.map(({ status }) => status)).toEqual(Array(SERVERS).fill(201))
        const replayed = responses.filter(({ headers }) => headers.get("Idempotency-Replayed") === "true")
        expect(replayed).toHaveLength(SERVERS - 1)
        expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1)
      }
      const list = await clients[0]?.get("/pets")
      expect(Load.petsIn((await list?.text()) ?? "")).toHaveLength(3)
    })
  })
}
