/** Runs the conformance suite of the ports against the SQL stores; a database without tables simulates an outage. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Conformance from "../../conformance/Conformance.ts"
import type { CasesOptions } from "../../conformance/runners/Cases.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { AdminTokenStore } from "../../core/ports/AdminTokenStore.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { describeOn, type Kind } from "./Databases.fixture.ts"
import { emptyStores, forAllTests, longTimeout, openClient, openNode } from "./Nodes.fixture.ts"

const keyTables = ["key_events", "api_key_secrets", "api_keys"]

const tokenTables = ["admin_token_events", "admin_token_secrets", "admin_tokens"]

const tables = [...keyTables, "pets", "rate_limits"]

const withoutTables = (kind: Kind) => {
  const open = forAllTests(
    Effect.gen(function* () {
      const database = yield* kind.create
      const node = yield* openNode(database)
      const sql = yield* openClient(database)
      for (const table of tables)
        yield* sql.onDialectOrElse({
          pg: () => sql`DROP TABLE ${sql(table)} CASCADE`,
          orElse: () => sql`DROP TABLE ${sql(table)}`
        })
      return node
    })
  )
  return Layer.effectContext(Effect.sync(open))
}

type Nodes = typeof emptyStores

/** Like `emptyStores`, but with one node for all cases, because a new one takes a tenth of a second. It must not cache. */
export const sharedNode: Nodes = (kind, tables, options) => {
  const open = forAllTests(
    Effect.gen(function* () {
      const database = yield* kind.create
      return { node: yield* openNode(database, options), sql: yield* openClient(database) }
    })
  )
  return Layer.effectContext(
    Effect.suspend(() => {
      const { node, sql } = open()
      return Effect.as(
        Effect.forEach(tables, (table) => sql`DELETE FROM ${sql(table)}`, { discard: true }),
        node
      )
    })
  )
}

/** Time for the random cases of a check, even on a slow machine. */
const TIME_LIMIT_MS = 600_000

/** Runs the suite on a kind of database, by default with a new node for each case. */
export const testStores = (kind: Kind, options: CasesOptions, nodes: Nodes = emptyStores): void =>
  describeOn(kind, "SQL stores without a cache of keys", () => {
    const nodeOptions = { ...longTimeout, keyCacheMs: 0, clock: "service" as const }
    suite(
      Conformance.ports({
        name: `the SQL stores on ${kind.name}`,
        apiKeyStore: nodes(kind, keyTables, nodeOptions),
        petRepository: nodes(kind, ["pets"], nodeOptions),
        rateLimitStore: nodes(kind, ["rate_limits"], nodeOptions),
        outage: withoutTables(kind)
      }),
      { level: "design", timeLimitMs: TIME_LIMIT_MS, ...options }
    )
  })

/** Runs the checks of API keys on the store of admin tokens, which is not cached even if API keys are. */
export const testAdminTokens = (kind: Kind, options: CasesOptions): void =>
  describeOn(kind, "SQL store of admin tokens", () => {
    const nodeOptions = { ...longTimeout, keyCacheMs: 5_000, clock: "service" as const }
    const nodes = sharedNode(kind, tokenTables, nodeOptions)
    suite(
      Conformance.ports({
        name: `the admin tokens on ${kind.name}`,
        apiKeyStore: Layer.provide(adminTokens, nodes)
      }),
      { level: "design", timeLimitMs: TIME_LIMIT_MS, ...options }
    )
  })

const adminTokens = Layer.effect(
  ApiKeyStore,
  Effect.flatMap(AdminTokenStore, (store) =>
    store === undefined ? Effect.die(new Error("no store of admin tokens")) : Effect.succeed(store)
  )
)

/** Runs the checks of API keys on a store that caches keys; each case needs a new node, with an empty cache. */
export const testCachedKeys = (kind: Kind, options: CasesOptions): void =>
  describeOn(kind, "SQL stores with a cache of keys", () => {
    const nodeOptions = { ...longTimeout, keyCacheMs: 5_000, clock: "service" as const }
    suite(
      Conformance.ports({
        name: `the cached keys on ${kind.name}`,
        apiKeyStore: emptyStores(kind, keyTables, nodeOptions)
      }),
      { level: "design", timeLimitMs: TIME_LIMIT_MS, ...options }
    )
  })
