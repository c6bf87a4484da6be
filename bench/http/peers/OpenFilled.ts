/** Opens an animal store with the animals of the catalogue and callers of all kinds. */
import { pathToFileURL } from "node:url"
import type { AnimalStore, openAnimalStore } from "../../../adapters/embed/index.ts"
import { animals, callerCounts, ENDLESS, type Tokens } from "../Catalogue.ts"

/** The checkout of this file. */
const thisCheckout = new URL("../../../", import.meta.url).href

/** The store in a checkout of this project, by default in this one. */
const openIn = async (checkout: string | undefined): Promise<typeof openAnimalStore> => {
  const root = checkout === undefined ? thisCheckout : pathToFileURL(`${checkout}/`).href
  // The same module of another version of this project; the parts used here have not changed.
  const module = (await import(new URL("adapters/embed/index.ts", root).href)) as {
    readonly openAnimalStore: typeof openAnimalStore
  }
  return module.openAnimalStore
}

/** Keys that are issued at the same time. */
const AT_ONCE = 50

export const openFilled = async (
  database: string,
  checkout?: string
): Promise<{ readonly store: AnimalStore; readonly tokens: Tokens }> => {
  const open = await openIn(checkout)
  const store = await open({
    database,
    // No lines about the issued keys.
    logLevel: "warn",
    // Requests without a valid key count for their address; this bucket must not run empty either.
    anonymousPlan: { perMinute: ENDLESS, perDay: ENDLESS },
    // A ban would be decided before the limits.
    ban: { strikes: ENDLESS }
  })
  const issue = async (of: AnimalStore, count: number, limit: number): Promise<ReadonlyArray<string>> => {
    const limits = { perMinute: limit, perDay: limit }
    const keys: Array<string> = []
    while (keys.length < count) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - keys.length) }, () =>
        of.keys.issue({ plan: "Enterprise", limits })
      )
      keys.push(...(await Promise.all(some)).map(({ key }) => key))
    }
    return keys
  }
  // Keys of another store: well-formed, so that they are looked up.
  const otherStore = await open({ database: "memory:", logLevel: "warn" })
  const tokens = {
    unlimited: await issue(store, callerCounts.unlimited, ENDLESS),
    exhausted: await issue(store, callerCounts.exhausted, 1),
    unknown: await issue(otherStore, callerCounts.unknown, 1)
  }
  await otherStore.close()
  // In sequence: every server must give the same animal the same id.
  for (const animal of animals) {
    const response = await store.fetch(
      new Request("http://127.0.0.1/v1/pets", {
        method: "POST",
        headers: { authorization: `Bearer ${tokens.unlimited[0]}`, "content-type": "application/json" },
        body: JSON.stringify(animal)
      })
    )
    if (response.status !== 201) throw new Error(await response.text())
  }
  return { store, tokens }
}
