/**
 * Encodes arrays as PostgreSQL parameters. Unlike the types that the driver infers, these types do not depend on the
 * values. A statement is therefore prepared only once, arrays may be empty or contain only nulls, and small and large
 * integers can be mixed.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Result from "effect/Result"

/** Encodes a `text[]`. */
export const text = (values: ReadonlyArray<string | null>): unknown => array(values, PgTypes.OID.text)

/** Encodes a `bigint[]`. */
export const bigint = (values: ReadonlyArray<bigint | number | null>): unknown =>
  array(
    values.map((value) => (typeof value === "number" ? BigInt(value) : value)),
    PgTypes.OID.int8
  )

/** Encodes a `float8[]`. */
export const float = (values: ReadonlyArray<number>): unknown => array(values, PgTypes.OID.float8)

const array = (values: ReadonlyArray<unknown>, element: number): unknown =>
  Result.getOrThrow(PgTypes.array(values, element))
