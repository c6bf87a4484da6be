/** Sorts the errors of PostgreSQL and SQLite by cause. */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Predicate from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"
import type { Cause } from "../storage/StoreFailure.ts"

/** Returns the cause of an error of either database. */
export const causeOf = (error: SqlError): Cause => {
  const { reason } = error
  const { cause } = reason
  // The `errno` of a socket error is negative.
  if (Predicate.hasProperty(cause, "errno") && Number(cause.errno) > 0)
    return ofSqliteCode(Number(cause.errno))
  if (reason._tag === "ConnectionError") return "connection"
  if (cause instanceof PgTypes.CodecError && reason.message === ENCODING_FAILED) return "data"
  return ofSqlState(sqlStateOf(error))
}

/** Returns the cause that a SQLSTATE code of PostgreSQL denotes. Its class, the first two characters, decides. */
export const ofSqlState = (code: string): Cause =>
  code === QUERY_CANCELED ? "capacity" : (classes.get(code.slice(0, 2)) ?? "configuration")

/** Returns the cause that a result code of SQLite denotes; an extended code has the cause of its primary code. */
export const ofSqliteCode = (code: number): Cause => resultCodes.get(code & PRIMARY_CODE) ?? "configuration"

/** Whether a server that accepts no writes rejected a statement or a transaction, which then had no effect. */
export const isReadOnlyServer = (error: SqlError): boolean => sqlStateOf(error) === READ_ONLY

/** Whether PostgreSQL refused to open another connection because its limit is reached. */
export const isConnectionLimit = (error: SqlError): boolean =>
  error.reason.operation === "connect" && causeOf(error) === "capacity"

/** Whether an open connection was lost, so that its statement may have taken effect. */
export const isLostConnection = (error: SqlError): boolean =>
  error.reason.operation !== "connect" && causeOf(error) === "connection"

/** Mask of the primary result code in SQLite's extended result codes. */
export const PRIMARY_CODE = 0xff

/** Returns the SQLSTATE code of an error of PostgreSQL; "" if it has no code. */
export const sqlStateOf = ({ reason: { cause } }: SqlError): string =>
  Predicate.hasProperty(cause, "code") ? String(cause.code) : ""

const ENCODING_FAILED = "PgConnection: Failed to encode query"
const QUERY_CANCELED = "57014"
const READ_ONLY = "25006"

const classes = new Map<string, Cause>([
  ["08", "connection"], // connection exception
  ["25", "connection"], // invalid transaction state: a read-only server, or a session that a timeout ended
  ["57", "connection"], // operator intervention: the server stops or starts
  ["40", "capacity"], // transaction rollback: a deadlock or a conflict
  ["53", "capacity"], // insufficient resources
  ["55", "capacity"], // object not in the required state: a locked row
  ["22", "data"], // data exception
  ["23", "data"], // violated constraint
  ["54", "data"] // program limit exceeded, for example by the size of an index row
])

const resultCodes = new Map<number, Cause>([
  [10, "connection"], // IOERR
  [14, "connection"], // CANTOPEN
  [4, "capacity"], // ABORT
  [5, "capacity"], // BUSY
  [6, "capacity"], // LOCKED
  [7, "capacity"], // NOMEM
  [9, "capacity"], // INTERRUPT
  [13, "capacity"], // FULL
  [15, "capacity"], // PROTOCOL: too much contention for the write-ahead log
  [17, "capacity"], // SCHEMA: it changed while a statement was prepared
  [18, "data"], // TOOBIG
  [19, "data"], // CONSTRAINT
  [20, "data"] // MISMATCH
])
