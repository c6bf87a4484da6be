/** Tests the statement that reads the pages of several queries. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { PageQuery } from "../../core/domain/Page.ts"
import * as Databases from "./Databases.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as PostgresPages from "./PostgresPages.ts"

const query = (limit: number, status?: PageQuery["status"], after?: bigint): PageQuery => ({
  limit,
  status,
  after
})

describe("PostgresPages.of", () => {
  it("gives equal queries the same position", () => {
    const queries = [
      query(1),
      query(1, "sold"),
      query(1),
      query(2),
      query(1, "sold", 3n),
      query(1, "sold"),
      query(1, undefined, 3n)
    ]
    expect(PostgresPages.of(queries).positions).toEqual([0, 1, 0, 2, 3, 1, 4])
  })

  it("splits rows by the position in the last column, and sorts the rows of each page by id", () => {
    const { split } = PostgresPages.of([query(9), query(9, "sold"), query(9, "pending")])
    const row = (id: string, position: number) => [id, "Rex", "7", "sold", position]
    expect(split([row("5", 2), row("10", 0), row("9", 0), row("6", 2)])).toEqual([
      [row("9", 0), row("10", 0)],
      [],
      [row("5", 2), row("6", 2)]
    ])
  })
})

Databases.describeOn(Databases.postgres, "PostgresPages.statement", () => {
  const setUp = Effect.gen(function* () {
    const database = yield* Databases.postgres.create
    yield* Nodes.openNode(database)
    const sql = yield* Nodes.openClient(database)
    yield* sql`
      INSERT INTO pets (name, category_id, status)
      SELECT 'Rex', n, (ARRAY['available', 'pending', 'sold'])[n % 3 + 1] FROM generate_series(1, 9000) n`
    yield* sql`ANALYZE pets`
    return sql
  })

  /** Queries for both halves of the statement, with a duplicate in each. */
  const queries = [
    query(2, undefined, 7n),
    query(3, "sold", 8_000n),
    query(2, undefined, 7n),
    query(5),
    query(3, "sold", 8_000n),
    query(4, "available")
  ]

  it.effect("reads pages of any status and of one status, and reads equal pages once", () =>
    Effect.gen(function* () {
      const sql = yield* setUp
      const pages = PostgresPages.of(queries)
      const rows = yield* sql.unsafe(PostgresPages.statement, pages.parameters).values
      expect(rows).toHaveLength(2 + 3 + 5 + 4)
      const found = pages.split(rows)
      expect(pages.positions.map((position) => found[position]?.map(([id]) => Number(id)))).toEqual([
        [8, 9],
        [8_003, 8_006, 8_009],
        [8, 9],
        [1, 2, 3, 4, 5],
        [8_003, 8_006, 8_009],
        [3, 6, 9, 12]
      ])
    })
  )

  it.effect("reads each page from an index, never the whole table", () =>
    Effect.gen(function* () {
      const sql = yield* setUp
      const plan = yield* sql.unsafe(
        `EXPLAIN ${PostgresPages.statement}`,
        PostgresPages.of(queries).parameters
      ).values
      const text = plan.flat().join("\n")
      expect(text.match(/Index (Only )?Scan using \w+ on pets/g)).toHaveLength(2)
      expect(text).not.toMatch(/Seq Scan on pets|Sort/)
    })
  )
})
