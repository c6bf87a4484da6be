/** Checks rate limits that are stored in a different database from animals and keys. */
import { expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type AnimalStoreOptions, openAnimalStore } from "./index.ts"

const open = async (options: AnimalStoreOptions) => {
  const store = await openAnimalStore({ log: () => {}, ...options })
  onTestFinished(() => store.close())
  const send = (key: string) =>
    store.fetch(new Request("http://store.test/v1/pets", { headers: { Authorization: `Bearer ${key}` } }))
  return { store, send }
}

const newFile = async () => (await Databases.createForTest(Databases.sqlite)).address

it("stores with the same limits database share counts, and only those with the same main database share keys", async () => {
  const [mainFile, otherFile, limits] = [await newFile(), await newFile(), await newFile()]
  const main = await open({ database: mainFile, limits, keyCacheMs: 0 })
  const { key } = await main.store.keys.issue({ plan: "Enterprise", limits: { perMinute: 2, perDay: 10 } })
  const otherMain = await open({ database: otherFile, limits })
  expect((await otherMain.send(key)).status).toBe(401)
  expect(await otherMain.store.keys.list()).toEqual([])

  const secondNode = await open({ database: mainFile, limits })
  const statuses = [await main.send(key), await secondNode.send(key), await main.send(key)].map(
    ({ status }) => status
  )
  expect(statuses).toEqual([200, 200, 429])
  // Nothing was counted in the main database.
  const withoutLimits = await open({ database: mainFile })
  expect((await withoutLimits.send(key)).headers.get("X-RateLimit-Remaining")).toBe("1")
})

it("stores on one file count requests separately if their limits are in memory", async () => {
  const database = await newFile()
  const { send, store } = await open({ database, limits: "memory:" })
  const { key } = await store.keys.issue({ plan: "Free" })
  expect((await send(key)).headers.get("X-RateLimit-Remaining")).toBe("59")
  expect(
    (await (await open({ database, limits: "memory:" })).send(key)).headers.get("X-RateLimit-Remaining")
  ).toBe("59")
})

it("openAnimalStore rejects an invalid limits address with the name of the option", async () => {
  await expect(openAnimalStore({ limits: "redis" })).rejects.toThrow(/^limits: must be 'memory:'/)
})
