/** Tests that a POST repeated after the server was killed creates its animal only once. */
import { setTimeout as sleep } from "node:timers/promises"
import * as Schema from "effect/Schema"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type ServerProcess, start, stop } from "./Serve.fixture.ts"

const PLAN = "enterprise:perMinute=100000,perDay=1000000"
const CLIENTS = 8

const serve = async (address: string) => {
  const server = await start(["--port", "0", "--json", "--database", address, "--issue-key", PLAN])
  const { keys, url }: { readonly url: string; readonly keys: ReadonlyArray<{ readonly key: string }> } =
    JSON.parse(server.greeting)
  return { server, url, secret: keys[0]?.key ?? "" }
}

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

const idOf = (animal: unknown): number => decodeAnimal(animal).id

const decodeAnimal = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.Number }))
const animalsOf = Schema.decodeUnknownSync(Schema.Array(Schema.Unknown))

describe.each(Databases.kinds)("a server on $name", (kind) => {
  const { missing } = kind
  it.skipIf(missing !== undefined)(
    `creates one animal per repeated POST, even if killed four times under load${missing ? ` (skipped, ${missing})` : ""}`,
    async () => {
      const { address } = await Databases.createForTest(kind)
      let current: ServerProcess | undefined
      onTestFinished(async () => void (current && (await stop(current, "SIGKILL"))))
      const { secret, ...first } = await serve(address)
      let { server, url } = first
      current = server
      const ids = new Map<string, number>()
      for (let round = 0; round < 4; round++) {
        const names = new Set<string>()
        let isDown = false
        const killed = sleep(150 + 100 * round).then(() => {
          isDown = true
          return stop(server, "SIGKILL")
        })
        const client = async (number: number): Promise<void> => {
          for (let count = 0; !isDown; count++) {
            const name = `${round}-${number}-${count}`
            names.add(name)
            const response = await post(url, secret, name).catch(() => undefined)
            if (response?.status === 201) ids.set(name, idOf(await response.json()))
          }
        }
        await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
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
      let stored = 0
      for (let next: string | undefined = `${url}/pets?limit=100`; next !== undefined; ) {
        const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${secret}` } })
        stored += animalsOf(await page.json()).length
        const [, path] = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "") ?? []
        next = path === undefined ? undefined : new URL(path, url).href
      }
      expect(stored).toBe(ids.size)
    },
    90_000
  )
})
