/**
 * Finds mistakes in JSON Schemas (draft 2020-12) that their import ignores, such as `type: "intger"`: values would not be
 * validated.
 */
import { nearestNames } from "../../core/options/NearestNames.ts"

interface Problem {
  /** The keywords and names that lead to the mistake. */
  readonly path: ReadonlyArray<string>
  readonly reason: string
}

/** Checks the value of a keyword. */
type Check = (value: unknown) => Problem | undefined

/** Returns the first mistake, such as `properties.petId.minimum: must be a number`; `undefined` if there is none. */
export const problemOf = (schema: object): string | undefined => {
  const problem = firstIn(Object.entries(schema), keywordProblem)
  return problem && `${problem.path.join(".")}: ${problem.reason}`
}

const firstIn = (
  entries: ReadonlyArray<readonly [name: string, value: unknown]>,
  check: (value: unknown, name: string) => Problem | undefined
): Problem | undefined => {
  for (const [name, value] of entries) {
    const problem = check(value, name)
    if (problem !== undefined) return { ...problem, path: [name, ...problem.path] }
  }
  return undefined
}

const keywordProblem = (value: unknown, keyword: string): Problem | undefined => {
  // JSON has no such member.
  if (value === undefined) return undefined
  const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined
  if (check !== undefined) return check(value)
  // Any other keyword is a note, as the specification demands.
  const nearest = isNote(keyword) ? [] : nearestNames(keyword, nearNames)
  return nearest.length === 0
    ? undefined
    : { path: [], reason: `is no keyword; did you mean ${nearest.join(" or ")}?` }
}

/** A short name resembles a keyword by chance, as `note` and `unit` do. */
const isNote = (name: string): boolean => name.startsWith("x-") || name.length < 5

const must =
  (isValid: (value: unknown) => boolean, reason: string): Check =>
  (value) =>
    isValid(value) ? undefined : { path: [], reason }

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isListOf = (
  value: unknown,
  isElement: (element: unknown) => boolean
): value is ReadonlyArray<unknown> => Array.isArray(value) && value.every(isElement)

const isText = (value: unknown): boolean => typeof value === "string"

const typeNames: ReadonlyArray<unknown> = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null"
]
const isType = (value: unknown): boolean => typeNames.includes(value)

const anything: Check = () => undefined
const text = must(isText, "must be a text")
const texts = must((value) => isListOf(value, isText), "must be an array of texts")
const boolean = must((value) => typeof value === "boolean", "must be true or false")
const number = must(Number.isFinite, "must be a number")
const size = must((value) => Number.isInteger(value) && Number(value) >= 0, "must be a whole number from 0")
const list = must(Array.isArray, "must be an array")
const type = must(
  (value) => isType(value) || (isListOf(value, isType) && value.length > 0),
  `must be one of ${typeNames.join(", ")}, or an array of them`
)
const outdated = must(() => false, "is a keyword of an older draft")

const schema: Check = (value) => {
  if (typeof value === "boolean") return undefined
  return isObject(value)
    ? firstIn(Object.entries(value), keywordProblem)
    : { path: [], reason: "must be a JSON Schema: an object, true or false" }
}

const schemas: Check = (value) =>
  Array.isArray(value) && value.length > 0
    ? firstIn(Object.entries(value), schema)
    : { path: [], reason: "must be an array of JSON Schemas" }

const namedSchemas: Check = (value) =>
  isObject(value)
    ? firstIn(Object.entries(value), schema)
    : { path: [], reason: "must be an object of JSON Schemas" }

/** What the value of each keyword must be. The import rejects those that it cannot check. */
const keywords: { readonly [keyword: string]: Check } = {
  $schema: text,
  $id: text,
  $anchor: text,
  $ref: text,
  $dynamicAnchor: text,
  $dynamicRef: text,
  $comment: text,
  $defs: namedSchemas,
  title: text,
  description: text,
  default: anything,
  example: anything,
  examples: list,
  deprecated: boolean,
  readOnly: boolean,
  writeOnly: boolean,
  type,
  enum: list,
  const: anything,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
  else: schema,
  properties: namedSchemas,
  patternProperties: namedSchemas,
  additionalProperties: schema,
  unevaluatedProperties: schema,
  propertyNames: schema,
  required: texts,
  dependentRequired: anything,
  dependentSchemas: namedSchemas,
  dependencies: outdated,
  minProperties: size,
  maxProperties: size,
  items: schema,
  prefixItems: schemas,
  additionalItems: outdated,
  unevaluatedItems: schema,
  contains: schema,
  minContains: size,
  maxContains: size,
  minItems: size,
  maxItems: size,
  uniqueItems: boolean,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: number,
  minLength: size,
  maxLength: size,
  pattern: text,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: schema
}

/** The keywords that a misspelled name may have meant. */
const nearNames = Object.keys(keywords).filter((name) => !name.startsWith("$"))
