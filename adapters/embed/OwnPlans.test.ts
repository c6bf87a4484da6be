/** Checks plans that an operator adds: their keys have the limits of the configuration. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { type AnimalStoreOptions, openAnimalStore, PlanInvalid } from "./index.ts"

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-plans-"))
afterAll(() => fs.rmSync(directory, { recursive: true }))

const Starter = { perMinute: 120, perDay: 5_000 }
const larger = { perMinute: 150, perDay: 6_000 }

const open = async (file: string, plans: AnimalStoreOptions["plans"]) => {
  const database = `sqlite:${path.join(directory, file)}`
  const store = await openAnimalStore({ database, plans, logLevel: "none" })
  const send = async (key: string) =>
    (await store.fetch(new Request("http://x/v1/pets", { headers: { Authorization: `Bearer ${key}` } })))
      .headers
  return { ...store, send }
}

describe("a key of an own plan", () => {
  it("has the limits of the plan, also after they change", async () => {
    const before = await open("change.db", { Starter })
    const { id, key, limits } = await before.keys.issue({ plan: "Starter", label: "shop" })
    expect(limits).toEqual(Starter)
    expect((await before.send(key)).get("X-RateLimit-Remaining")).toBe("119")
    await before.close()

    const after = await open("change.db", { Starter: larger })
    const headers = await after.send(key)
    expect(headers.get("X-RateLimit-Limit")).toBe("150")
    const shown = [
      await after.keys.show(id),
      (await after.keys.list())[0],
      await after.keys.verify(key),
      await after.keys.set(id, { label: "front" }),
      await after.keys.rotate(id, { overlapMs: 0 }),
      await after.keys.revoke(id)
    ]
    expect(shown.map((given) => given?.limits)).toEqual(shown.map(() => larger))
    await after.close()
  })

  it("keeps its limits where the plan is not configured", async () => {
    const before = await open("removed.db", { Starter })
    const { id, key } = await before.keys.issue({ plan: "Starter" })
    await before.close()
    const after = await open("removed.db", {})
    expect((await after.send(key)).get("X-RateLimit-Limit")).toBe("120")
    expect(await after.keys.set(id, { label: "front" })).toMatchObject({ plan: "Starter", limits: Starter })
    await expect(after.keys.set(id, { limits: { perDay: 7 } })).rejects.toThrow(PlanInvalid)
    await expect(after.keys.issue({ plan: "Starter" })).rejects.toThrow(
      "plan: must be one of Free, Pro, Business, Enterprise"
    )
    await after.close()
  })

  it("cannot have limits of its own", async () => {
    const { close, keys } = await open("overrides.db", { Starter })
    const reason = "all keys of the plan Starter have its limits"
    await expect(keys.issue({ plan: "Starter", limits: { perDay: 7 } })).rejects.toThrow(reason)
    const { id } = await keys.issue({ plan: "Pro" })
    expect(await keys.set(id, { plan: "Starter" })).toMatchObject({ plan: "Starter", limits: Starter })
    await expect(keys.set(id, { limits: { perDay: 7 } })).rejects.toThrow(reason)
    await close()
  })

  it("is described in the OpenAPI document", async () => {
    const { close, fetch } = await open("document.db", { Starter })
    const text = await (await fetch(new Request("http://x/openapi.json"))).text()
    expect(text).toContain("Enterprise: agreed for each key; Starter: 120 a minute and 5000 a day.")
    await close()
  })
})
