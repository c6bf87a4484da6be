/** Opens stores, and makes their fetch handler and their Node server subjects of the conformance suite. */
import { afterAll } from "vitest"
import * as Conformance from "../../conformance/Conformance.ts"
import { plans } from "../../conformance/selftest/ServiceTarget.ts"
import { type AnimalStoreOptions, openAnimalStore } from "./index.ts"

/** Runs after all tests of the file, the last one first. */
export const cleanups: Array<() => Promise<void>> = []

afterAll(async () => {
  for (const cleanUp of cleanups.toReversed()) await cleanUp()
})

/** Opens a store with a clock that only the suite moves, and issues the keys that the suite needs. */
export const open = async (database: string, limits?: string, options: AnimalStoreOptions = {}) => {
  // A time before getPet is removed. It stands still, so that the suite knows the time of each request exactly.
  let time = Date.UTC(2027, 0, 1, 9)
  const clock = {
    now: () => time,
    advance: (ms: number) => {
      time += ms
    }
  }
  const store = await openAnimalStore({ ...options, database, limits, now: clock.now, log: () => undefined })
  cleanups.push(store.close)
  const issue = async (limits: { readonly perMinute: number; readonly perDay: number }) => ({
    ...limits,
    ...(await store.keys.issue({ plan: "Enterprise", limits }))
  })
  const main = await issue(plans.main)
  const tiny = await issue(plans.tiny)
  const victim = await issue(plans.victim)
  const revoked = await issue(plans.tiny)
  await store.keys.revoke(revoked.id)
  const keys = {
    main: main.key,
    tiny: { ...plans.tiny, secret: tiny.key },
    victim: { ...plans.victim, secret: victim.key },
    revoked: revoked.key
  }
  return { clock, keys, store }
}

/** Opens a store on a database, serves it on a free port, and returns it as a subject of the suite. */
export const serve = async (name: string, database: string, limits?: string) => {
  const { clock, keys, store } = await open(database, limits)
  const { port } = await store.listen({ port: 0, host: "127.0.0.1" })
  return Conformance.server({ name, url: `http://127.0.0.1:${port}/v1`, keys, clock })
}

type Opened = Awaited<ReturnType<typeof open>>

/** Returns the fetch handler of a store as a subject of the suite. */
export const handlerOf = ({ clock, keys, store }: Opened) =>
  Conformance.handler({ name: "the fetch handler", fetch: store.fetch, basePath: "/v1", keys, clock })
