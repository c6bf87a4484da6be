/**
 * Encodes arrays as PostgreSQL parameters. Unlike the types that the driver infers, these types do not depend on the
 * values. A statement is therefore prepared only once, arrays may be empty or contain only nulls, and small and large
 * integers can be mixed.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Result from "effect/Result"

/** Encodes a `text[]`. */
export const text = (values: ReadonlyArray<string | null>): unknown => ofType("text", values)

/** Encodes a `bigint[]`. */
export const bigint = (values: ReadonlyArray<bigint | number | null>): unknown =>
  ofType(
    "bigint",
    values.map((value) => (typeof value === "number" ? BigInt(value) : value))
  )

/** Encodes a `float8[]`. */
export const float = (values: ReadonlyArray<number>): unknown => ofType("float8", values)

const elements = new Map<string, number>([
  ["text", PgTypes.OID.text],
  ["bigint", PgTypes.OID.int8],
  ["float8", PgTypes.OID.float8],
  ["boolean", PgTypes.OID.bool]
])

/** Encodes an array of values of this type; throws if this module does not know the type. */
export const ofType = (type: string, values: ReadonlyArray<unknown>): unknown => {
  const element = elements.get(type)
  if (element === undefined) throw new Error(`no array of the type ${type} can be encoded`)
  return Result.getOrThrow(PgTypes.array(values, element))
}
