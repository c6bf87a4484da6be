/** Opens an animal store with the animals of the catalogue and callers of all kinds. */
import { pathToFileURL } from "node:url"
import type { AnimalStore, openAnimalStore } from "../../../adapters/embed/index.ts"
import { animals, callerCounts, ENDLESS, type Tokens } from "../Catalogue.ts"

/** The checkout of this file. */
const thisCheckout = new URL("../../../", import.meta.url).href

/** The store in a checkout of this project, by default in this one. */
const openIn = async (checkout: string | undefined): Promise<typeof openAnimalStore> => {
  const root = checkout === undefined || checkout === "" ? thisCheckout : pathToFileURL(`${checkout}/`).href
  // The same module of another version of this project; the parts used here have not changed.
  const module = (await import(new URL("adapters/embed/index.ts", root).href)) as {
    readonly openAnimalStore: typeof openAnimalStore
  }
  return module.openAnimalStore
}

/** Keys that are issued at the same time. */
const AT_ONCE = 50

/** What differs between servers. */
export interface Given {
  /** A checkout of this project other than this one. */
  readonly checkout?: string | undefined
  /** The address of the limits, if they are not in the database. */
  readonly limits?: string | undefined
  /** Whether metrics are counted, which costs CPU time. */
  readonly isMetered?: boolean
  /** The number of keys with endless limits. */
  readonly keys?: number
}

/** Opens a store without filling it. */
export const open = async (
  database: string,
  { checkout, isMetered, limits }: Given
): Promise<AnimalStore> => {
  const openAnimalStore = await openIn(checkout)
  return openAnimalStore({
    database,
    ...(limits === undefined ? {} : { limits }),
    ...(isMetered ? { metrics: true } : {}),
    // No lines about the issued keys.
    logLevel: "warn",
    // Requests without a valid key count for their address; this bucket must not run empty either.
    anonymousPlan: { perMinute: ENDLESS, perDay: ENDLESS },
    // A ban would be decided before the limits.
    ban: { strikes: ENDLESS }
  })
}

export const openFilled = async (
  database: string,
  given: Given = {}
): Promise<{ readonly store: AnimalStore; readonly tokens: Tokens }> => {
  const store = await open(database, given)
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
  const otherStore = await open("memory:", { checkout: given.checkout })
  const tokens = {
    unlimited: await issue(store, given.keys ?? callerCounts.unlimited, ENDLESS),
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
