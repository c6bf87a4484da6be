import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { describe, expect } from "vitest"
import * as CopiedTables from "./CopiedTables.ts"
import { type Database, describeOn, type Kind, kinds } from "./Databases.fixture.ts"
import { openClient, openNode } from "./Nodes.fixture.ts"
import * as SqlCopy from "./SqlCopy.ts"
import * as SqlTable from "./SqlTable.ts"

const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url))

/** Returns the tables that the migrations create. */
const tablesOf = (sql: SqlClient.SqlClient): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.map(
    SqlTable.query(
      sql,
      SqlTable.isPostgres(sql)
        ? "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"
        : "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ),
    (rows) => rows.map(([name]) => String(name)).sort()
  )

/** Creates all tables in a new database, and opens a client for it; the only setting is the cursor key. */
const openEmpty = (database: Database) =>
  Effect.gen(function* () {
    yield* Effect.scoped(openNode(database))
    return yield* openClient(database)
  })

const tableOf = (sql: SqlClient.SqlClient, name: string) =>
  Effect.flatMap(SqlTable.find(sql, name), (table) =>
    table === undefined ? Effect.die(new Error(`the table ${name} is missing`)) : Effect.succeed(table)
  )

/** Fills all copied tables with mostly different values, so that a lost or exchanged column is detected. */
const fill = (sql: SqlClient.SqlClient, rows: number) =>
  Effect.gen(function* () {
    for (const name of CopiedTables.copied) {
      const table = yield* SqlTable.find(sql, name)
      if (table === undefined) continue
      yield* sql.unsafe(`DELETE FROM ${name}`)
      const columns = [...table.columns]
      const filled = Array.from({ length: rows }, (_, row) =>
        columns.map(([column, type], index): unknown => {
          if (column === "label" || (column === "revoked_at" && row % 2 === 0)) return null
          // References the key with the same row number.
          if (column === "key_id")
            return `${name.startsWith("admin") ? "admin_tokens" : "api_keys"}-id-${row}`
          if (column === "status") return ["available", "pending", "sold"][row % 3] ?? ""
          if (column === "keep_ids") return BigInt(row % 2)
          if (type === "boolean") return row % 2 === 0
          if (type === "text") return `${name}-${column}-${row}`
          return 9_007_199_254_740_993n + BigInt(row * 1_000 + index)
        })
      )
      const names = columns.map(([column]) => column)
      yield* SqlTable.run(sql, SqlTable.insertion(sql, table, names, filled))
    }
  })

/** Returns the rows in all copied tables, with only the columns that `like` also has. */
const contents = (sql: SqlClient.SqlClient, like: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const all: Array<readonly [table: string, rows: ReadonlyArray<SqlTable.Row>]> = []
    for (const name of CopiedTables.copied) {
      const table = yield* SqlTable.find(sql, name)
      const other = yield* SqlTable.find(like, name)
      if (table === undefined || other === undefined) continue
      const columns = [...table.columns.keys()].filter((column) => other.columns.has(column)).sort()
      const rows: Array<SqlTable.Row> = []
      yield* SqlTable.forEachPage(sql, table, columns, (page) => Effect.sync(() => void rows.push(...page)))
      all.push([name, rows])
    }
    return all
  })

const copy = (from: SqlClient.SqlClient, to: SqlClient.SqlClient, source = "test", report?: () => void) =>
  SqlCopy.run({ from, to, source, report: () => report?.() })

const describeBetween = (from: Kind, to: Kind, title: string, tests: () => void): void => {
  const missing = [from, to].find(({ missing }) => missing !== undefined)
  if (missing === undefined) describe(`${title} from ${from.name} to ${to.name}`, tests)
  else describeOn(missing, `${title} from ${from.name} to ${to.name}`, tests)
}

for (const from of kinds) {
  for (const to of kinds) {
    describeBetween(from, to, "SqlCopy", () => {
      it.live("copies every row and column of every table, and the sequences", () =>
        Effect.gen(function* () {
          const source = yield* openEmpty(yield* from.create)
          const target = yield* openEmpty(yield* to.create)
          yield* fill(source, 7)
          yield* SqlTable.run(source, SqlTable.advancing(source, "pets", "id", 9_007_199_254_999_999n))
          const copied = yield* copy(source, target)
          expect(yield* contents(target, source)).toEqual(yield* contents(source, target))
          expect(copied.isResumed).toBe(false)
          expect(copied.tables.map(({ name, rows }) => [name, rows])).toEqual(
            (yield* contents(source, target)).map(([name]) => [name, 7])
          )
          for (const name of ["pets", "api_keys"]) {
            const lastNumbers = [yield* tableOf(source, name), yield* tableOf(target, name)].map(
              (table) => table.sequence?.last
            )
            expect(lastNumbers[1] ?? 0n).toBeGreaterThanOrEqual(lastNumbers[0] ?? 0n)
          }
          expect((yield* tableOf(target, "pets")).sequence?.last).toBe(9_007_199_254_999_999n)
        })
      )

      it.live(
        "resumes an unfinished copy, even if animals with smaller ids were committed after it stopped",
        () =>
          Effect.gen(function* () {
            const source = yield* openEmpty(yield* from.create)
            const target = yield* openEmpty(yield* to.create)
            yield* insertAnimals(source, 1, 12_000, 2)
            let reports = 0
            const stoppedCopy = copy(source, target, "test", () => {
              if (++reports === 2) throw new Error("stopped")
            })
            yield* Effect.exit(stoppedCopy)
            const copiedRows = Number((yield* SqlTable.query(target, "SELECT count(*) FROM pets"))[0]?.[0])
            expect(copiedRows).toBe(5_000)
            yield* insertAnimals(source, 2, 100, 2)
            const copied = yield* copy(source, target)
            expect(copied.isResumed).toBe(true)
            expect(yield* contents(target, source)).toEqual(yield* contents(source, target))
          })
      )
    })
  }
}

/** Inserts animals with the ids `first`, `first + step`, and so on. */
const insertAnimals = (sql: SqlClient.SqlClient, first: number, count: number, step: number) =>
  Effect.gen(function* () {
    const table = yield* tableOf(sql, "pets")
    const rows = Array.from(
      { length: count },
      (_, index): SqlTable.Row => [BigInt(first + index * step), `pet ${index}`, 1n, "sold"]
    )
    const columns = ["id", "name", "category_id", "status"]
    yield* SqlTable.run(sql, [
      ...SqlTable.insertion(sql, table, columns, rows),
      ...SqlTable.advancing(sql, "pets", "id", 0n)
    ])
  })

for (const kind of kinds) {
  describeOn(kind, "SqlCopy", () => {
    it.live("lists every table that the migrations create, and every table has a primary key", () =>
      Effect.gen(function* () {
        const sql = yield* openEmpty(yield* kind.create)
        const listed = new Set([...CopiedTables.copied, ...CopiedTables.uncopied])
        const tables = yield* tablesOf(sql)
        expect(tables.filter((name) => !listed.has(name))).toEqual([])
        for (const name of tables) expect((yield* tableOf(sql, name)).key, name).not.toEqual([])
      })
    )

    it.live("copies a snapshot: rows written to the source during the copy are not in the target", () =>
      Effect.gen(function* () {
        const database = yield* kind.create
        const source = yield* openEmpty(database)
        const target = yield* openEmpty(yield* kind.create)
        yield* insertAnimals(source, 1, 11_000, 1)
        let reports = 0
        const copied = yield* copy(source, target, "test", () => {
          // The snapshot exists when the first report is sent. Another process writes while this one waits.
          if (++reports > 1) return
          const input = '{"name":"late","categoryId":1}\n'
          const { status, stderr } = spawnSync(
            process.execPath,
            [main, "import", "-", "--database", database.address],
            { input, encoding: "utf8" }
          )
          expect({ status, stderr }).toMatchObject({ status: 0 })
        })
        expect(copied.tables.find(({ name }) => name === "pets")?.rows).toBe(11_000)
        const count = (sql: SqlClient.SqlClient) => SqlTable.query(sql, "SELECT count(*) FROM pets")
        expect([yield* count(source), yield* count(target)]).toEqual([[[11_001n]], [[11_000n]]])
      })
    )

    it.live("rejects a target with rows, a completed copy, or an unfinished copy of another database", () =>
      Effect.gen(function* () {
        const source = yield* openEmpty(yield* kind.create)
        const target = yield* openEmpty(yield* kind.create)
        const rejection = Effect.map(Effect.flip(copy(source, target)), ({ message }) => message)
        yield* insertAnimals(target, 1, 1, 1)
        expect(yield* rejection).toBe("the target is not empty: it has animals")
        yield* target`DELETE FROM pets`
        const insertions = [
          ["imports", "(source, keep_ids, bytes, lines, animals, prefix) VALUES ('a', 0, 0, 0, 0, '')"],
          ["key_events", "(at, actor, key_id, action, changes) VALUES (0, 'ana', 'key_a', 'revoked', '{}')"],
          ["admin_tokens", "(id, plan, per_minute, per_day, created_at) VALUES ('adm_a', 'Admin', 1, 1, 0)"],
          [
            "admin_token_events",
            "(at, actor, key_id, action, changes) VALUES (0, 'ana', 'adm_a', 'revoked', '{}')"
          ],
          [
            "idempotent_responses",
            "(caller, key, fingerprint, claimed_at, expires_at) VALUES ('a', 'b', 'c', 0, 0)"
          ]
        ]
        for (const [table, row] of insertions) {
          yield* target.unsafe(`INSERT INTO ${table} ${row}`)
          expect(yield* rejection).toMatch(/^the target is not empty: it has /)
          yield* target.unsafe(`DELETE FROM ${table}`)
        }
        yield* copy(source, target)
        expect(yield* rejection).toBe("the target is not empty: an earlier copy to it has already completed")
        yield* target`UPDATE copies SET completed_at = NULL`
        const error = yield* Effect.flip(copy(source, target, "another"))
        expect(error.message).toBe("the target contains an unfinished copy of another database")
      })
    )

    it.live("fails if the target differs from the source after the copy, and the error names the table", () =>
      Effect.gen(function* () {
        const source = yield* openEmpty(yield* kind.create)
        const target = yield* openEmpty(yield* kind.create)
        yield* insertAnimals(source, 1, 3, 1)
        yield* copy(source, target)
        yield* target`UPDATE copies SET completed_at = NULL`
        yield* target`UPDATE pets SET name = 'other' WHERE id = 2`
        const failure = yield* Effect.flip(copy(source, target))
        expect(failure.message).toMatch(
          /^the target differs from the source in pets: 3 rows with SHA-256 \w{16} instead of 3 rows with SHA-256 \w{16}$/
        )
        const [row] = yield* SqlTable.query(target, "SELECT completed_at FROM copies")
        expect(row).toEqual([null])
      })
    )
  })
}

const [onSqlite, onPostgres] = kinds
if (onSqlite !== undefined && onPostgres !== undefined) {
  describeBetween(onSqlite, onPostgres, "The schema", () => {
    it.live("has the same columns and primary keys, except for the result of the last count", () =>
      Effect.gen(function* () {
        const [sqlite, postgres] = yield* Effect.all([
          Effect.flatMap(onSqlite.create, openEmpty),
          Effect.flatMap(onPostgres.create, openEmpty)
        ])
        const onlyOnPostgres = ["admitted", "decided_at"]
        for (const name of CopiedTables.copied) {
          const [ours, theirs] = [yield* tableOf(sqlite, name), yield* tableOf(postgres, name)]
          const shared = [...theirs.columns.keys()].filter((column) => !onlyOnPostgres.includes(column))
          expect([...ours.columns.keys()], name).toEqual(shared)
          expect(ours.key, name).toEqual(theirs.key)
        }
      })
    )
  })
}
