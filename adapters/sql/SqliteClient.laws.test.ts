import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as fc from "fast-check"
import * as SqliteClient from "./SqliteClient.ts"

const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom("'", '"', "`", ";", "--", "%", "_", "?", "\\", "\n", "$a", ":a", "DROP TABLE t")
  }),
  fc.string({ unit: "binary", maxLength: 300 }).filter((value) => !value.includes("\0")),
  fc.string({
    unit: fc.constantFrom("🐈", "👩‍👩‍👧", "\u202e", "שלום", "é", "\ufeff", "\ufffd", "\u0001", " ")
  })
)

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, -1n, 0n, 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n)
)

const value = fc.oneof(
  text,
  int64,
  fc.double({ noNaN: true }),
  fc.uint8Array({ maxLength: 300 }),
  fc.constant(null)
)

const withClient = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>): Promise<A> => {
  const directory = mkdtempSync(join(tmpdir(), "sqlite-client-"))
  const layer = SqliteClient.layer({ filename: join(directory, "test.db"), synchronous: "NORMAL" })
  return Effect.runPromise(Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), layer)).finally(() =>
    rmSync(directory, { recursive: true, force: true })
  )
}

describe("SqliteClient", () => {
  it("returns every stored value unchanged through every read method", () =>
    withClient((sql) =>
      Effect.gen(function* () {
        yield* sql`CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)`
        const services = yield* Effect.context<never>()
        const law = fc.asyncProperty(value, value, value, (a, b, c) =>
          Effect.gen(function* () {
            yield* sql`INSERT OR REPLACE INTO t VALUES (1, ${a}, ${b}, ${c})`
            const select = sql`SELECT a, b, c FROM t`
            expect(yield* select).toEqual([{ a, b, c }])
            expect(yield* select.values).toEqual([[a, b, c]])
            expect(yield* select.raw).toEqual([{ a, b, c }])
            expect(yield* Stream.runCollect(select.stream)).toEqual([{ a, b, c }])
            const equalRows = sql`SELECT 1 FROM t WHERE a IS ${a} AND b IS ${b} AND c IS ${c}`
            expect(yield* equalRows.unprepared).toHaveLength(1)
          }).pipe(Effect.provideService(SqlClient.SafeIntegers, true), Effect.runPromiseWith(services))
        )
        yield* Effect.promise(() => fc.assert(law, { numRuns: 1_000 }))
      })
    ))

  it("returns an integer as an exact number, or fails if it is not a safe integer", () =>
    withClient((sql) =>
      Effect.gen(function* () {
        const law = fc.asyncProperty(int64, (integer) =>
          Effect.gen(function* () {
            const read = yield* Effect.result(sql`SELECT ${integer}`.values)
            if (Result.isSuccess(read)) expect(BigInt(Number(read.success[0]?.[0]))).toBe(integer)
            else {
              expect(read.failure._tag).toBe("SqlError")
              expect(Number.isSafeInteger(Number(integer))).toBe(false)
            }
          }).pipe(Effect.runPromise)
        )
        yield* Effect.promise(() => fc.assert(law, { numRuns: 500 }))
      })
    ))
})
