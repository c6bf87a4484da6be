/** Decodes single fields of JSON objects. */
import * as Int64 from "../domain/Int64.ts"
import * as Json from "./Json.ts"

/** The value of a field; `undefined` if the object has no such field. */
export type FieldValue = Json.Json | undefined

/** The result for an invalid value: why it is invalid. */
export class Invalid {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** The result for an absent field that is required. */
export const missing = new Invalid("is required")

/** Decodes a required int64. */
export const int64 = (value: FieldValue): Int64.Int64 | Invalid => {
  if (value === undefined) return missing
  return (value instanceof Json.JsonNumber ? Int64.fromJsonNumber(value.text) : undefined) ?? notInt64
}

const notInt64 = new Invalid(Int64.message)
