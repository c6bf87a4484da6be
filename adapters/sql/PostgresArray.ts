/**
 * Arrays as parameters of PostgreSQL. Their types do not depend on their values, as those that the driver infers do: so a
 * statement is prepared once, arrays may be empty or have nulls only, and small and large integers can be mixed.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Result from "effect/Result"

/** A `text[]`. */
export const text = (values: ReadonlyArray<string>): unknown => array(values, PgTypes.OID.text)

/** A `bigint[]`. */
export const bigint = (values: ReadonlyArray<bigint | number | null>): unknown =>
  array(
    values.map((value) => (typeof value === "number" ? BigInt(value) : value)),
    PgTypes.OID.int8
  )

/** A `float8[]`. */
export const float = (values: ReadonlyArray<number>): unknown => array(values, PgTypes.OID.float8)

const array = (values: ReadonlyArray<unknown>, element: number): unknown =>
  Result.getOrThrow(PgTypes.array(values, element))
