import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Int64 from "../../core/domain/Int64.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { describeOn, kinds } from "./Databases.fixture.ts"
import { forAllTests, openClient, openNode, openNodes } from "./Nodes.fixture.ts"
import * as PostgresArray from "./PostgresArray.ts"
import * as PostgresPages from "./PostgresPages.ts"
import * as PostgresPets from "./PostgresPets.ts"
import * as SqlPetRow from "./SqlPetRow.ts"

const rex: NewPet = { name: "Rex", categoryId: 7n, status: "available" }

const repositories = (nodes: ReadonlyArray<Context.Context<PetRepository>>) =>
  nodes.map((node) => Context.get(node, PetRepository))

const isIncreasing = (ids: ReadonlyArray<bigint>): boolean =>
  ids.every((id, index) => id > (ids[index - 1] ?? 0n))

for (const kind of kinds) {
  describeOn(kind, "SqlPetRepository", () => {
    it.live("assigns unique ids to concurrent inserts on several nodes, increasing for each writer", () =>
      Effect.gen(function* () {
        const pets = repositories(yield* openNodes(yield* kind.create, 4))
        // Eight writers, two on each node; each inserts its animals in sequence.
        const ids = yield* Effect.forEach(
          [...pets, ...pets],
          ({ insert }, writer) =>
            Effect.forEach(
              Array.from({ length: 40 }, (_, index) => index),
              (index) =>
                Effect.map(insert({ ...rex, categoryId: BigInt(writer * 1_000 + index) }), (pet) => pet.id)
            ),
          { concurrency: "unbounded" }
        )
        expect(ids.map(isIncreasing)).toEqual(ids.map(() => true))
        expect(new Set(ids.flat()).size).toBe(8 * 40)
        for (const { page } of pets) {
          const all = yield* page({ limit: 321, status: undefined, after: undefined })
          expect(all.map((pet) => pet.id)).toEqual(ids.flat().sort((a, b) => (a < b ? -1 : 1)))
          for (const [writer, writerIds] of ids.entries()) {
            const stored = all.filter((pet) => writerIds.includes(pet.id)).map((pet) => pet.categoryId)
            expect(stored).toEqual(writerIds.map((_, index) => BigInt(writer * 1_000 + index)))
          }
        }
      })
    )

    it.live("finds an animal on every node as soon as one node has stored it", () =>
      Effect.gen(function* () {
        const pets = repositories(yield* openNodes(yield* kind.create, 3))
        for (let round = 0; round < 20; round++) {
          const pet = yield* pets[round % 3]?.insert({ ...rex, categoryId: BigInt(round) }) ??
            Effect.die("a node is missing")
          for (const { find, page } of pets) {
            expect(yield* find(pet.id)).toEqual(Option.some(pet))
            const after = { limit: 5, after: pet.id - 1n }
            for (const status of [undefined, "available"] as const) {
              expect(yield* page({ ...after, status })).toEqual([pet])
            }
          }
        }
      })
    )

    it.live("never reuses an id, even after its row is deleted and the database is reopened", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const insert = Effect.scoped(
          Effect.flatMap(openNode(database), (node) => Context.get(node, PetRepository).insert(rex))
        )
        const seen = [(yield* insert).id, (yield* insert).id]
        for (const condition of ["id = (SELECT max(id) FROM pets)", "true"]) {
          yield* Effect.scoped(
            Effect.flatMap(openClient(database), (sql) => sql.unsafe(`DELETE FROM pets WHERE ${condition}`))
          )
          seen.push((yield* insert).id)
        }
        expect(isIncreasing(seen)).toBe(true)
      })
    )
  })
}

const ROWS = 100_000

/** Number of pending animals, which have the first ids, and of sold animals, which have the last ids. */
const FEW = 7

const statusOf = `CASE WHEN n <= ${FEW} THEN 'pending' WHEN n > ${ROWS - FEW} THEN 'sold' ELSE 'available' END`

const seedStatements = (sql: SqlClient.SqlClient): ReadonlyArray<string> =>
  sql.onDialectOrElse({
    pg: () => [
      // Automatic statistics are disabled, so that only the test controls them.
      "ALTER TABLE pets SET (autovacuum_enabled = false)",
      `INSERT INTO pets (name, category_id, status)
       SELECT 'pet ' || n, n, ${statusOf} FROM generate_series(1, ${ROWS}) AS n`
    ],
    orElse: () => [
      `WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${ROWS})
       INSERT INTO pets (name, category_id, status) SELECT 'pet ' || n, n, ${statusOf} FROM counted`
    ]
  })

const seed = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  Effect.forEach(seedStatements(sql), (statement) => sql.unsafe(statement))

type Parameter = bigint | number | string

/** Returns the repository's queries, with positions from one end of the table to the other. */
const queriesOf = (sql: SqlClient.SqlClient) => {
  const text = SqlPetRow.statementsFor(sql)
  const positions = [
    0n,
    1n,
    BigInt(FEW),
    BigInt(ROWS / 2),
    BigInt(ROWS - FEW),
    BigInt(ROWS),
    Int64.min,
    Int64.max
  ]
  const query = (statement: string, maxRows: number, ...parameters: ReadonlyArray<Parameter>) => ({
    statement,
    maxRows,
    parameters
  })
  return positions.flatMap((position) => [
    query(text.find, 1, position),
    ...[1, 21, 101].flatMap((limit) => [
      query(text.page, limit, position, limit),
      ...["available", "pending", "sold"].map((status) =>
        query(text.pageByStatus, limit, status, position, limit)
      )
    ])
  ])
}

type Query = ReturnType<typeof queriesOf>[number]

interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
  readonly "Actual Rows": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Filter?: string
  readonly Plans?: ReadonlyArray<PlanNode>
}

const nodesOf = (plan: PlanNode): ReadonlyArray<PlanNode> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Expects a PostgreSQL plan that only scans an index and reads no more rows than it returns. */
const expectIndexOnly = (rows: ReadonlyArray<object>, { maxRows, parameters, statement }: Query): void => {
  const [row] = rows
  const report: unknown = row === undefined ? undefined : Object.values(row)[0]
  // The documented shape of EXPLAIN's JSON output.
  const [{ Plan: plan }] = (typeof report === "string" ? JSON.parse(report) : report) as [{ Plan: PlanNode }]
  const description = `${statement} with ${parameters.join(", ")}: ${JSON.stringify(plan)}`
  for (const node of nodesOf(plan)) {
    expect(["Limit", "Index Scan"], description).toContain(node["Node Type"])
    expect(node["Actual Rows"], description).toBeLessThanOrEqual(maxRows)
    expect(node.Filter, description).toBeUndefined()
    expect(node["Rows Removed by Filter"] ?? 0, description).toBe(0)
    expect(node["Rows Removed by Index Recheck"] ?? 0, description).toBe(0)
    if (node["Node Type"] === "Index Scan") expect(node["Index Cond"], description).toBeDefined()
  }
}

const literal = (parameter: Parameter): string =>
  typeof parameter === "string" ? `'${parameter}'` : `${parameter}`

/** Expects that statements for several calls read the table by index only, and no more rows than the calls return. */
const expectBatchesUseIndexes = (sql: SqlClient.SqlClient) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const positions = [0n, BigInt(FEW), BigInt(ROWS / 2), BigInt(ROWS - FEW), Int64.max]
      const pages = PostgresPages.of(
        positions.flatMap((after) =>
          [undefined, "available" as const, "pending" as const, "sold" as const].map((status) => ({
            limit: 21,
            status,
            after
          }))
        )
      )
      // The driver's representation of a parameter.
      const literals = (parameters: ReadonlyArray<unknown>) =>
        (parameters as ReadonlyArray<{ readonly value: ReadonlyArray<unknown> }>).map(
          ({ value }) => `'{${value.join(",")}}'`
        )
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        yield* sql.unsafe(`SET LOCAL plan_cache_mode = ${mode}`)
        for (const [statement, parameters] of [
          [PostgresPages.statement, pages.parameters],
          [PostgresPets.statements.find, [PostgresArray.bigint(positions)]]
        ] as const) {
          yield* sql.unsafe(`PREPARE query AS ${statement}`)
          const execute = `EXECUTE query (${literals(parameters).join(", ")})`
          const [row] = yield* sql.unsafe(`EXPLAIN (ANALYZE, FORMAT JSON) ${execute}`)
          yield* sql.unsafe("DEALLOCATE query")
          const report: unknown = row === undefined ? undefined : Object.values(row)[0]
          // The documented shape of EXPLAIN's JSON output.
          const [{ Plan: plan }] = (typeof report === "string" ? JSON.parse(report) : report) as [
            { Plan: PlanNode }
          ]
          const scans = nodesOf(plan).filter((node) => node["Relation Name"] === "pets")
          expect(scans.length).toBeGreaterThan(0)
          for (const node of scans) {
            expect(["Index Scan", "Bitmap Heap Scan"], JSON.stringify(plan)).toContain(node["Node Type"])
            // `Actual Rows` is the average over the pages.
            expect(node["Actual Rows"]).toBeLessThanOrEqual(21)
            expect(node["Rows Removed by Filter"] ?? 0).toBe(0)
          }
        }
      }
    })
  )

for (const kind of kinds) {
  describeOn(kind, `SqlPetRepository with ${ROWS} animals`, () => {
    const open = forAllTests(
      Effect.gen(function* () {
        const database = yield* kind.create
        const { find, page } = Context.get(yield* openNode(database), PetRepository)
        const sql = yield* openClient(database)
        yield* seed(sql)
        return { find, page, sql }
      })
    )

    const expectSqliteUsesIndexes = (sql: SqlClient.SqlClient) =>
      Effect.forEach(queriesOf(sql), ({ parameters, statement }) =>
        Effect.map(
          sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${statement}`, [...parameters]),
          (steps) => {
            const expected = statement.includes("status = ")
              ? "SEARCH pets USING INDEX pets_by_status (status=? AND id>?)"
              : `SEARCH pets USING INTEGER PRIMARY KEY (rowid${statement.includes("LIMIT") ? ">" : "="}?)`
            expect(steps.map((step) => step.detail)).toEqual([expected])
          }
        )
      )

    const expectPostgresUsesIndexes = (sql: SqlClient.SqlClient) =>
      sql.withTransaction(
        Effect.gen(function* () {
          for (const query of queriesOf(sql)) {
            const { parameters, statement } = query
            const EXPLAIN = "EXPLAIN (ANALYZE, FORMAT JSON)"
            expectIndexOnly(yield* sql.unsafe(`${EXPLAIN} ${statement}`, [...parameters]), query)
            yield* sql.unsafe(`PREPARE query AS ${statement}`)
            for (const mode of ["force_custom_plan", "force_generic_plan"]) {
              yield* sql.unsafe(`SET LOCAL plan_cache_mode = ${mode}`)
              const execute = `EXECUTE query (${parameters.map(literal).join(", ")})`
              expectIndexOnly(yield* sql.unsafe(`${EXPLAIN} ${execute}`), query)
            }
            yield* sql.unsafe("DEALLOCATE query")
          }
        })
      )

    const expectIndexUse = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
      sql.onDialectOrElse({
        pg: () => Effect.andThen(expectPostgresUsesIndexes(sql), expectBatchesUseIndexes(sql)),
        orElse: () => expectSqliteUsesIndexes(sql)
      })

    it.live("reads by index, and only the rows that a query returns, without table statistics", () =>
      Effect.suspend(() => expectIndexUse(open().sql))
    )

    it.live("reads by index, and only the rows that a query returns, with table statistics", () =>
      Effect.suspend(() => {
        const { sql } = open()
        return Effect.andThen(sql.unsafe("ANALYZE pets"), expectIndexUse(sql))
      })
    )

    it.live("returns the correct rows at both ends of the table", () =>
      Effect.gen(function* () {
        const { find, page } = open()
        const ids = (query: { status?: NewPet["status"]; after?: bigint; limit: number }) =>
          Effect.map(page({ status: undefined, after: undefined, ...query }), (pets) =>
            pets.map((pet) => pet.id)
          )
        const from = (first: number, count: number) =>
          Array.from({ length: count }, (_, index) => BigInt(first + index))
        expect(yield* ids({ limit: 101 })).toEqual(from(1, 101))
        expect(yield* ids({ limit: 101, after: BigInt(ROWS - 3) })).toEqual(from(ROWS - 2, 3))
        expect(yield* ids({ limit: 101, status: "pending" })).toEqual(from(1, FEW))
        expect(yield* ids({ limit: 101, status: "sold" })).toEqual(from(ROWS - FEW + 1, FEW))
        expect(yield* ids({ limit: 21, status: "available" })).toEqual(from(FEW + 1, 21))
        expect(yield* ids({ limit: 21, status: "pending", after: BigInt(FEW) })).toEqual([])
        expect(Option.getOrUndefined(yield* find(BigInt(ROWS)))?.name).toBe(`pet ${ROWS}`)
        expect(yield* find(BigInt(ROWS + 1))).toEqual(Option.none())
      })
    )
  })
}
