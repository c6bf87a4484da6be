import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as LatestReads from "./LatestReads.ts"

const allValues = (database: DatabaseSync, sql: string, params: ReadonlyArray<unknown>) => {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement.all(...params.map(Number)) as ReadonlyArray<unknown> as ReadonlyArray<
    ReadonlyArray<unknown>
  >
}

const statement = fc.constantFrom(
  "SELECT a FROM t WHERE a > ? ORDER BY a LIMIT 3",
  "SELECT count(*) FROM t WHERE a <> ?"
)

const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant("read" as const), statement, param: fc.nat({ max: 1 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom("own write", "write", "roll back", "checkpoint") })
  }
)

it("reads are those of the database as it is, whoever has written to it", () => {
  const folder = mkdtempSync(join(tmpdir(), "latest-reads-"))
  const open = () => new DatabaseSync(join(folder, "test.db"))
  const [own, other] = [open(), open()]
  own.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (a INTEGER PRIMARY KEY)")
  let asked = 0
  let read = 0
  try {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60, size: "max" }), (acts) => {
        const reads = LatestReads.make((sql, params) => {
          if (sql.startsWith("SELECT")) read++
          return allValues(own, sql, params)
        })
        for (const one of acts) {
          switch (one.does) {
            case "read": {
              asked++
              const params = [BigInt("param" in one ? one.param : 0)]
              const sql = "statement" in one ? one.statement : ""
              expect(reads.read(sql, params)).toEqual(allValues(other, sql, params))
              // The parameters are the caller's.
              params[0] = 9n
              break
            }
            case "own write":
              reads.clear()
              own.exec("INSERT INTO t DEFAULT VALUES")
              break
            case "write":
              other.exec("INSERT INTO t DEFAULT VALUES")
              break
            case "roll back":
              other.exec("BEGIN; INSERT INTO t DEFAULT VALUES; ROLLBACK")
              break
            case "checkpoint":
              other.exec("PRAGMA wal_checkpoint(TRUNCATE)")
          }
        }
      }),
      { numRuns: 300 }
    )
  } finally {
    own.close()
    other.close()
    rmSync(folder, { recursive: true, force: true })
  }
  expect(read).toBeLessThan(asked * 0.9)
})
