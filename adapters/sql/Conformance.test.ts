/** Runs the conformance suite of the ports against the SQL stores; a database without tables simulates an outage. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Conformance from "../../conformance/Conformance.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { describeOn, type Kind, kinds } from "./Databases.fixture.ts"
import { emptyStores, forAllTests, longTimeout, openClient, openNode } from "./Nodes.fixture.ts"

const tables = ["key_events", "api_key_secrets", "api_keys", "pets", "rate_limits"]

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

for (const kind of kinds) {
  for (const keyCacheMs of [0, 5_000]) {
    describeOn(kind, `SQL stores with keys cached for ${keyCacheMs} ms`, () => {
      const options = { ...longTimeout, keyCacheMs, clock: "service" as const }
      suite(
        Conformance.ports({
          name: `the SQL stores on ${kind.name}`,
          apiKeyStore: emptyStores(kind, ["key_events", "api_key_secrets", "api_keys"], options),
          // Checks that do not depend on the cache run once.
          ...(keyCacheMs === 0
            ? {
                petRepository: emptyStores(kind, ["pets"], options),
                rateLimitStore: emptyStores(kind, ["rate_limits"], options),
                outage: withoutTables(kind)
              }
            : {})
        }),
        { level: "design", timeLimitMs: 60_000, effort: kind.name === "PostgreSQL" ? 0.5 : 1 }
      )
    })
  }
}
