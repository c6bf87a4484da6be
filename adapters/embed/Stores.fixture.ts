/** Opens stores on every kind of database; they close at the end of the test. */
import { onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type AnimalStore, type AnimalStoreOptions, openAnimalStore } from "./index.ts"

/** A kind of database; `missing` is the reason why it cannot be tested here, if any. */
export interface Kind {
  readonly name: string
  readonly system: "memory" | "sqlite" | "postgresql"
  readonly missing: string | undefined
  readonly address: () => Promise<string>
}

const onDatabase = (kind: Databases.Kind, system: Kind["system"]): Kind => ({
  name: kind.name,
  system,
  missing: kind.missing,
  address: async () => (await Databases.createForTest(kind)).address
})

export const kinds: ReadonlyArray<Kind> = [
  { name: "memory", system: "memory", missing: undefined, address: async () => "memory:" },
  onDatabase(Databases.sqlite, "sqlite"),
  onDatabase(Databases.postgres, "postgresql")
]

/** Returns the end of a test title: the kind of database, and the reason if the test is skipped. */
export const titleEnd = ({ missing, name }: Pick<Kind, "missing" | "name">): string =>
  missing === undefined ? `on ${name}` : `on ${name} (skipped, ${missing})`

/** Opens a store that closes at the end of the test. */
export const open = async (options: AnimalStoreOptions): Promise<AnimalStore> => {
  const store = await openAnimalStore({ log: () => undefined, ...options })
  onTestFinished(() => store.close())
  return store
}

/** Starts a server on the store and returns a function that sends requests to it. */
export const client = async (store: AnimalStore) => {
  const { port } = await store.listen({ port: 0 })
  return async (path: string, key?: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (key !== undefined) headers.set("Authorization", `Bearer ${key}`)
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers })
    return { response, body: await response.text() }
  }
}

export const creation: RequestInit = {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: '{"name":"Rex","categoryId":1}'
}
