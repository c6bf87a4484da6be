/** Runs the conformance suite of the ports against the SQL stores; a database without tables simulates an outage. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Conformance from "../../conformance/Conformance.ts"
import type { CasesOptions } from "../../conformance/runners/Cases.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { describeOn, type Kind } from "./Databases.fixture.ts"
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

/** Time for the random cases of a check, even on a slow machine. */
const TIME_LIMIT_MS = 600_000

export const testStores = (kind: Kind, options: CasesOptions): void => {
  for (const keyCacheMs of [0, 5_000]) {
    describeOn(kind, `SQL stores with keys cached for ${keyCacheMs} ms`, () => {
      const nodeOptions = { ...longTimeout, keyCacheMs, clock: "service" as const }
      suite(
        Conformance.ports({
          name: `the SQL stores on ${kind.name}`,
          apiKeyStore: emptyStores(kind, ["key_events", "api_key_secrets", "api_keys"], nodeOptions),
          // Checks that do not depend on the cache run once.
          ...(keyCacheMs === 0
            ? {
                petRepository: emptyStores(kind, ["pets"], nodeOptions),
                rateLimitStore: emptyStores(kind, ["rate_limits"], nodeOptions),
                outage: withoutTables(kind)
              }
            : {})
        }),
        { level: "design", timeLimitMs: TIME_LIMIT_MS, ...options }
      )
    })
  }
}
