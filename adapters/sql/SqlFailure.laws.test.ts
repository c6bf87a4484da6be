import * as PgTypes from "@effect/sql-pg/PgTypes"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as SqlFailure from "./SqlFailure.ts"
import { errorOf } from "./SqliteClient.ts"

const causes = ["connection", "capacity", "data", "configuration"]

const character = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
const sqlState = fc.array(character, { minLength: 5, maxLength: 5 }).map((characters) => characters.join(""))

/** An error of the driver for PostgreSQL. */
const postgresError = (code: string, operation = "query") =>
  new SqlError({
    reason: new UnknownError({ cause: Object.assign(new Error("from the server"), { code }), operation })
  })

const sqliteError = (errcode: number) => errorOf(Object.assign(new Error("failed"), { errcode }), "execute")

describe("SqlFailure.ofSqlState", () => {
  it("returns one cause for every code, and the class decides", () => {
    fc.assert(
      fc.property(sqlState, sqlState, (code, other) => {
        const cause = SqlFailure.ofSqlState(code)
        expect(causes).toContain(cause)
        const sameClass = code.slice(0, 2) + other.slice(2)
        // Only the cancellation of one statement differs from its class, the end of a server.
        if (code !== "57014" && sameClass !== "57014") expect(SqlFailure.ofSqlState(sameClass)).toBe(cause)
        expect(SqlFailure.causeOf(postgresError(code))).toBe(cause)
      })
    )
  })

  it.each([
    ["08006", "connection"],
    ["57P01", "connection"],
    ["57P02", "connection"],
    ["57P03", "connection"],
    ["25006", "connection"],
    ["53300", "capacity"],
    ["53400", "capacity"],
    ["40P01", "capacity"],
    ["55P03", "capacity"],
    ["57014", "capacity"],
    ["22P05", "data"],
    ["22021", "data"],
    ["23505", "data"],
    ["54000", "data"],
    ["42501", "configuration"],
    ["42P01", "configuration"],
    ["3F000", "configuration"],
    ["28P01", "configuration"],
    ["XX001", "configuration"],
    ["", "configuration"]
  ])("of %s returns %s", (code, cause) => {
    expect(SqlFailure.ofSqlState(code)).toBe(cause)
  })
})

describe("SqlFailure.ofSqliteCode", () => {
  it("returns one cause for every code, and the primary code decides", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 0xff }),
        fc.integer({ min: 0, max: 0xff }),
        (primary, extension) => {
          const code = primary | (extension << 8)
          expect(causes).toContain(SqlFailure.ofSqliteCode(code))
          expect(SqlFailure.ofSqliteCode(code)).toBe(SqlFailure.ofSqliteCode(primary))
          expect(SqlFailure.causeOf(sqliteError(code))).toBe(SqlFailure.ofSqliteCode(primary))
        }
      )
    )
  })

  it.each([
    ["BUSY", 5, "capacity"],
    ["FULL", 13, "capacity"],
    ["READONLY", 8, "configuration"],
    ["IOERR", 10, "connection"],
    ["CORRUPT", 11, "configuration"],
    ["CANTOPEN", 14, "connection"],
    ["CONSTRAINT", 19, "data"],
    ["NOTADB", 26, "configuration"]
  ])("of %s returns its cause", (_, code, cause) => {
    expect(SqlFailure.ofSqliteCode(code)).toBe(cause)
  })
})

describe("SqlFailure.causeOf", () => {
  it("returns the cause of an error of the driver itself", () => {
    const reset = Object.assign(new Error("read ECONNRESET"), { errno: -104, code: "ECONNRESET" })
    expect(SqlFailure.causeOf(new SqlError({ reason: new ConnectionError({ cause: reset }) }))).toBe(
      "connection"
    )
    const invalid = new PgTypes.CodecError({ message: "invalid" })
    const rejected = new UnknownError({ cause: invalid, message: "PgConnection: Failed to encode query" })
    expect(SqlFailure.causeOf(new SqlError({ reason: rejected }))).toBe("data")
  })

  it("distinguishes a refused connection from a statement without resources, and a lost one from one never opened", () => {
    expect(SqlFailure.isConnectionLimit(postgresError("53300", "connect"))).toBe(true)
    expect(SqlFailure.isConnectionLimit(postgresError("53300"))).toBe(false)
    expect(SqlFailure.isLostConnection(postgresError("57P01"))).toBe(true)
    expect(SqlFailure.isLostConnection(postgresError("57P03", "connect"))).toBe(false)
    expect(SqlFailure.isReadOnlyServer(postgresError("25006"))).toBe(true)
    expect(SqlFailure.isReadOnlyServer(postgresError("25P02"))).toBe(false)
  })
})
