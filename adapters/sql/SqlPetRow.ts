/** Encodes and decodes animals as rows in the table `pets`, with exact int64 values. */
import type * as SqlClient from "effect/sql/SqlClient"
import type { Complete, NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as PetFields from "../../core/domain/PetFields.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import * as SqlTable from "./SqlTable.ts"

/** The values of a row: the id, then the fields in the order of `columns`. */
export type Row = ReadonlyArray<unknown>

/** The column of a field. Its type is in PostgreSQL's words. */
interface Column<Field> {
  readonly name: string
  readonly type: "text" | "bigint"
  readonly encode: (pet: NewPet) => string | bigint | null
  readonly decode: (value: unknown) => Field
}

const toText = (value: unknown): string => {
  if (typeof value === "string") return value
  throw new Error("a row has a text that is not a string")
}

/** Decodes an int64 from a bigint, a string or a safe number; throws for other numbers, which may have been rounded. */
export const toInt64 = (value: unknown): bigint => {
  if (typeof value === "bigint") return value
  if (typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value)))
    return BigInt(value)
  throw new Error("the driver returned an int64 that is not exact")
}

const toStatus = (value: unknown): PetStatus.PetStatus => {
  if (typeof value === "string" && PetStatus.is(value)) return value
  throw new Error("a row has an unknown status")
}

/** The column of each field; a missing field is a compile error. */
const columnOf: { readonly [field in keyof Complete]: Column<Complete[field]> } = {
  name: { name: "name", type: "text", encode: ({ name }) => name, decode: toText },
  categoryId: {
    name: "category_id",
    type: "bigint",
    encode: ({ categoryId }) => categoryId,
    decode: toInt64
  },
  status: { name: "status", type: "text", encode: ({ status }) => status, decode: toStatus }
}

/** The columns of the fields, in the order of `PetFields.names`. */
export const all: ReadonlyArray<Column<unknown>> = PetFields.names.map((name) => columnOf[name])

/** The names of the columns of an animal without its id, separated by commas. */
export const columns = all.map(({ name }) => name).join(", ")

/** Returns the values of `columns`. */
export const valuesOf = (pet: NewPet): ReadonlyArray<unknown> => all.map(({ encode }) => encode(pet))

/** Decodes a row: the id, then the fields in the order of `columns`. Further values are ignored. */
export const petOf = ([id, name, categoryId, status]: Row): Pet => {
  // A loop over the columns would take five times as long.
  const pet: Complete = {
    name: columnOf.name.decode(name),
    categoryId: columnOf.categoryId.decode(categoryId),
    status: columnOf.status.decode(status)
  }
  return new Pet(toInt64(id), pet)
}

/**
 * Returns the statements for one animal or one page, in the dialect of `sql`. Ids are positive, so the first page starts
 * after id 0.
 */
export const statementsFor = (sql: SqlClient.SqlClient) => {
  const isPostgres = SqlTable.isPostgres(sql)
  const text = (statement: string): string => SqlTable.textFor(sql, statement)
  // SQLite plans a statement again (4 µs) whenever a different limit is bound, unless the limit is a sum.
  const limit = isPostgres ? "" : " + 0"
  // PostgreSQL: with `status = $1`, the planner may scan all ids and skip every row with another status.
  const byStatus = isPostgres
    ? "WHERE (status, id) > ($1, $2) AND status <= $1 ORDER BY status, id"
    : "WHERE status = $1 AND id > $2 ORDER BY id"
  return {
    insert: text(
      `INSERT INTO pets (${columns}) VALUES (${all.map((_, index) => `$${index + 1}`).join(", ")}) RETURNING id`
    ),
    find: text(`SELECT id, ${columns} FROM pets WHERE id = $1`),
    page: text(`SELECT id, ${columns} FROM pets WHERE id > $1 ORDER BY id LIMIT $2${limit}`),
    pageByStatus: text(`SELECT id, ${columns} FROM pets ${byStatus} LIMIT $3${limit}`)
  }
}
