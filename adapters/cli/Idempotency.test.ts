/** Tests that a POST creates only one animal, even if it is repeated after a crash or sent to four servers at once. */
import { setTimeout as sleep } from "node:timers/promises"
import * as Schema from "effect/Schema"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type ServerProcess, start, stop } from "./Serve.fixture.ts"

const KEY_SPECIFICATION = "enterprise:perMinute=100000,perDay=1000000"
const CLIENTS = 8
const SERVERS = 4
const ROUNDS = 20
const KILLS = 4

const serve = async (address: string) => {
  const server = await start([
    "--port",
    "0",
    "--json",
    "--database",
    address,
    "--issue-key",
    KEY_SPECIFICATION
  ])
  const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(server.greeting)
  return { server, url, secret: keys[0]?.key ?? "" }
}

/** Creates an animal; its name is also the idempotency key. */
const post = (url: string, secret: string, name: string): Promise<Response> =>
  fetch(`${url}/pets`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${secret}`,
      "Content-Type": "application/json",
      "Idempotency-Key": name
    },
    body: JSON.stringify({ name, categoryId: 1 })
  })

/** Repeats the POST while it gets 409, which means that the first request is still in progress. */
const postUntilDone = async (url: string, secret: string, name: string): Promise<Response> => {
  for (;;) {
    const response = await post(url, secret, name)
    if (response.status !== 409) return response
    await response.text()
    await sleep(50)
  }
}

/** Counts the animals of a server by reading all pages. */
const countAnimals = async (url: string, secret: string): Promise<number> => {
  let count = 0
  for (let next: string | undefined = `${url}/pets?limit=100`; next !== undefined; ) {
    const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${secret}` } })
    count += animalsOf(await page.json()).length
    const [, path] = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "") ?? []
    next = path === undefined ? undefined : new URL(path, url).href
  }
  return count
}

const idOf = (animal: unknown): number => decodeAnimal(animal).id

const decodeAnimal = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.Number }))
const animalsOf = Schema.decodeUnknownSync(Schema.Array(Schema.Unknown))

describe.each(Databases.kinds)("a server on $name", (kind) => {
  const { missing } = kind
  it.skipIf(missing !== undefined)(
    `creates one animal per idempotency key, even if the server is killed ${KILLS} times under load${missing ? ` (skipped, ${missing})` : ""}`,
    async () => {
      const { address } = await Databases.createForTest(kind)
      let current: ServerProcess | undefined
      onTestFinished(async () => void (current && (await stop(current, "SIGKILL"))))
      const { secret, ...first } = await serve(address)
      let { server, url } = first
      current = server
      const ids = new Map<string, number>()
      for (let round = 0; round < KILLS; round++) {
        const names = new Set<string>()
        let isDown = false
        const killed = sleep(150 + 100 * round).then(() => {
          isDown = true
          return stop(server, "SIGKILL")
        })
        const createUntilDown = async (number: number): Promise<void> => {
          for (let count = 0; !isDown; count++) {
            const name = `${round}-${number}-${count}`
            names.add(name)
            const response = await post(url, secret, name).catch(() => undefined)
            if (response?.status === 201) ids.set(name, idOf(await response.json()))
          }
        }
        await Promise.all(Array.from({ length: CLIENTS }, (_, number) => createUntilDown(number)))
        await killed
        ;({ server, url } = await serve(address))
        current = server
        for (const name of names) {
          const response = await post(url, secret, name)
          expect(response.status).toBe(201)
          const id = idOf(await response.json())
          expect(ids.get(name) ?? id).toBe(id)
          ids.set(name, id)
        }
      }
      expect(new Set(ids.values()).size).toBe(ids.size)
      expect(await countAnimals(url, secret)).toBe(ids.size)
    },
    90_000
  )

  it.skipIf(missing !== undefined)(
    `creates one animal if the same POST is sent to ${SERVERS} servers at once, and returns it from each${missing ? ` (skipped, ${missing})` : ""}`,
    async () => {
      const { address } = await Databases.createForTest(kind)
      const opened = await Promise.all(Array.from({ length: SERVERS }, () => serve(address)))
      onTestFinished(
        async () => void (await Promise.all(opened.map(({ server }) => stop(server, "SIGKILL"))))
      )
      const [{ secret, url } = { secret: "", url: "" }] = opened
      for (let round = 0; round < ROUNDS; round++) {
        const responses = await Promise.all(
          opened.map((server) => postUntilDone(server.url, secret, `round-${round}`))
        )
        expect(responses.map(({ status }) => status)).toEqual(Array(SERVERS).fill(201))
        const replayed = responses.filter(({ headers }) => headers.get("Idempotency-Replayed") === "true")
        expect(replayed).toHaveLength(SERVERS - 1)
        const animals = await Promise.all(responses.map((response) => response.text()))
        expect(new Set(animals).size).toBe(1)
      }
      expect(await countAnimals(url, secret)).toBe(ROUNDS)
    },
    120_000
  )
})
