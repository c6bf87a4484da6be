/** Encodes and decodes animals as rows in the table `pets`, with exact int64 values. */
import type { NewPet } from "../../core/domain/NewPet.ts"
import { Pet } from "../../core/domain/Pet.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"

/** The values of a row: the id, then the fields in the order of `columns`. */
export type Row = ReadonlyArray<unknown>

/** The column of each field; a missing field is a compile error. */
const columnOf: { readonly [field in keyof NewPet]: string } = {
  name: "name",
  categoryId: "category_id",
  status: "status"
}

/** The fields of an animal, in the order of `columns`. */
export const fields = Object.keys(columnOf) as ReadonlyArray<keyof NewPet>
/** The columns of an animal without its id, separated by commas. */
export const columns = fields.map((field) => columnOf[field]).join(", ")

/** Returns the values of `columns`. */
export const valuesOf = (pet: NewPet): ReadonlyArray<unknown> => fields.map((field) => pet[field])

/** Decodes a row: the id, then the fields in the order of `columns`. */
export const petOf = ([id, name, categoryId, status]: Row): Pet =>
  new Pet(toInt64(id), { name: toName(name), categoryId: toInt64(categoryId), status: toStatus(status) })

const toName = (value: unknown): string => {
  if (typeof value === "string") return value
  throw new Error("a row has a name that is not a string")
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
