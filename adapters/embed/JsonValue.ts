/** Converts between the exact JSON of the core and the plain values that programs and validators use. */
import * as Json from "../../core/codec/Json.ts"

/**
 * Returns the plain value of parsed JSON. A number is a `number`, but an integer literal that a double cannot hold is a
 * `bigint`, so that nothing is rounded without a validator's knowledge. `findOverflow` finds other numbers that it cannot.
 */
export const toPlain = (json: Json.Json): unknown => {
  if (json === null || typeof json !== "object") return json
  if (json instanceof Json.JsonNumber) return toNumber(json.text)
  if (Array.isArray(json)) return json.map(toPlain)
  // Not an assignment to a member, which `__proto__` would turn into the prototype.
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, toPlain(value)]))
}

const toNumber = (text: string): number | bigint => {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?[0-9]+$/.test(text) ? value : BigInt(text)
}

/** Returns the place of a number that is beyond the range of a double and no integer literal, such as `items.0.price`. */
export const findOverflow = (json: Json.Json, place: ReadonlyArray<string> = []): string | undefined => {
  if (json === null || typeof json !== "object") return undefined
  if (json instanceof Json.JsonNumber) {
    const number = toNumber(json.text)
    return number === Infinity || number === -Infinity ? place.join(".") : undefined
  }
  for (const [name, member] of Object.entries(json)) {
    const found = findOverflow(member, [...place, name])
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the number or boolean that a text is, if a schema names its type; otherwise the text. */
export const ofText = (text: string, types: ReadonlyArray<unknown>): unknown => {
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true"
  const isNumeric = types.includes("integer") || types.includes("number")
  const isNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)
  return isNumeric && isNumber && findOverflow(new Json.JsonNumber(text)) === undefined
    ? toNumber(text)
    : text
}

/** Returns the same text for every encoding of a JSON value: without white space, in the order of the names. */
export const canonical = (json: Json.Json | undefined): string => encode(sorted(toPlain(json ?? null)))

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Encodes a plain value as `JSON.stringify` does, except that a `bigint` becomes a number with all its digits. */
export const encode = (value: unknown): string => Json.stringify(toJson(value) ?? null)

/**
 * Returns the JSON value as which `encode` encodes a plain value; `undefined` if there is none. A number in it is a
 * `bigint` only if a double cannot hold it.
 */
export const toJson = (value: unknown): Json.Encodable | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : value
    case "number":
      return Number.isFinite(value) ? value : null
    case "object":
      return value === null ? null : ofObject(value)
    default:
      return undefined
  }
}

const ofObject = (value: object): Json.Encodable | undefined => {
  if ("toJSON" in value && typeof value.toJSON === "function") return toJson(value.toJSON())
  if (Array.isArray(value)) return value.map((item) => toJson(item) ?? null)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const json = toJson(member)
      return json === undefined ? [] : [[name, json]]
    })
  )
}
