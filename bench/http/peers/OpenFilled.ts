/** Opens an animal store that contains the animals of the catalogue and callers of all kinds. */
import type { AnimalStore } from "../../../adapters/embed/index.ts"
import * as Checkout from "../../Checkout.ts"
import { animals, callerCounts, type Tokens, UNREACHABLE_LIMIT } from "../Catalogue.ts"

/** Number of keys that are issued concurrently. */
const CONCURRENCY = 50

/** The options that differ between servers. */
export interface OpenOptions {
  /** A checkout of this project other than this one. */
  readonly checkout?: string | undefined
  /** The address of the limits database, if it is a separate one. */
  readonly limits?: string | undefined
  /** Whether metrics are collected, which takes CPU time. */
  readonly isMetered?: boolean
}

const open = async (
  database: string,
  { checkout, isMetered, limits = "" }: OpenOptions
): Promise<AnimalStore> => {
  const { openAnimalStore } = await Checkout.load<typeof import("../../../adapters/embed/index.ts")>(
    "adapters/embed/index.ts",
    checkout
  )
  return openAnimalStore({
    database,
    ...(limits === "" ? {} : { limits }),
    ...(isMetered ? { metrics: true } : {}),
    // A busy machine must not make requests fail.
    databaseTimeoutMs: 60_000,
    // Suppresses the log lines about issued keys.
    logLevel: "warn",
    // Requests without a valid key count for their address, whose limits must not be reached either.
    anonymousPlan: { perMinute: UNREACHABLE_LIMIT, perDay: UNREACHABLE_LIMIT },
    // No bans, because a ban is checked before the limits.
    ban: { strikes: UNREACHABLE_LIMIT }
  })
}

const issue = async (store: AnimalStore, count: number, limit: number): Promise<ReadonlyArray<string>> => {
  const limits = { perMinute: limit, perDay: limit }
  const keys: Array<string> = []
  while (keys.length < count) {
    const batch = Array.from({ length: Math.min(CONCURRENCY, count - keys.length) }, () =>
      store.keys.issue({ plan: "Enterprise", limits })
    )
    keys.push(...(await Promise.all(batch)).map(({ key }) => key))
  }
  return keys
}

/** Opens a store, and fills it. */
export const openFilled = async (
  database: string,
  given: OpenOptions = {}
): Promise<{ readonly store: AnimalStore; readonly tokens: Tokens }> => {
  const store = await open(database, given)
  // Another store issues the unknown keys, so they are well-formed and are looked up.
  const otherStore = await open("memory:", { checkout: given.checkout })
  const tokens = {
    unlimited: await issue(store, callerCounts.unlimited, UNREACHABLE_LIMIT),
    exhausted: await issue(store, callerCounts.exhausted, 1),
    unknown: await issue(otherStore, callerCounts.unknown, 1)
  }
  await otherStore.close()
  // In sequence, because every server must assign the same id to the same animal.
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
