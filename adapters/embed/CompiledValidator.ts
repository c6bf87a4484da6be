/** Prepares validators for use. Loaded on demand, because the import of JSON Schemas is large. */
import * as Effect from "effect/Effect"
import * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import * as JsonValue from "./JsonValue.ts"
import * as SchemaKeywords from "./SchemaKeywords.ts"
import { isStandard, type Validator } from "./Validator.ts"

/** A validator, ready for use. */
export interface CompiledValidator {
  /** Returns the validated value, or fails with reasons such as `petId: is required`. */
  readonly validate: (value: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
  /** The JSON Schema of the values that it accepts (`input`) or returns; `undefined` if it does not know it. */
  readonly describe: (side: "input" | "output") => JsonSchema.JsonSchema | undefined
}

/** Prepares a validator; throws if a JSON Schema has a mistake, or a keyword that cannot be checked. */
export const compile = (validator: Validator): CompiledValidator =>
  isStandard(validator)
    ? { validate: validateWith(validator), describe: (side) => describe(validator, side) }
    : { validate: validateJson(requireValid(validator)), describe: () => validator }

/** Returns the schema; throws if it has a mistake, or cannot be written as JSON, for example because of a bigint. */
const requireValid = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  try {
    JSON.stringify(schema)
  } catch (cause) {
    throw new Error("the JSON Schema cannot be written as JSON", { cause })
  }
  const problem = SchemaKeywords.problemOf(schema)
  if (problem !== undefined) throw new Error(problem)
  return schema
}

/** Returns a function that validates JSON: of another value, it validates what would be sent. */
const validateJson = (schema: JsonSchema.JsonSchema): CompiledValidator["validate"] => {
  const validate = validateWith(fromJsonSchema(schema))
  return (value) => validate(JsonValue.toJson(value))
}

const fromJsonSchema = (schema: JsonSchema.JsonSchema): StandardSchemaV1 => {
  const document = JsonSchema.fromSchemaDraft2020_12(schema)
  // The schema is part of the program, so its patterns are trusted.
  const imported = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "apply" })
  // The cast is safe: an imported schema needs no services.
  return Schema.toStandardSchemaV1(imported as Schema.Codec<unknown>, {
    parseOptions: { errors: "all", onExcessProperty: "error" },
    leafHook: (issue) => messages[issue._tag] ?? SchemaIssue.defaultLeafHook(issue)
  })
}

/** Messages in the words of the service. */
const messages: { readonly [tag in SchemaIssue.Leaf["_tag"]]?: string } = {
  MissingKey: "is required",
  UnexpectedKey: "is not a known field"
}

const validateWith =
  (validator: StandardSchemaV1): CompiledValidator["validate"] =>
  (value) =>
    Effect.flatMap(
      Effect.promise(async () => validator["~standard"].validate(value)),
      (result) =>
        result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(toReasons(result.issues))
    )

/** Maximum number of reasons, and of characters in each: both grow with what the client has sent. */
const MAX_REASONS = 20
const MAX_REASON_LENGTH = 200

const toReasons = (issues: ReadonlyArray<StandardSchemaV1.Issue>): ReadonlyArray<string> => {
  const reasons = issues.slice(0, MAX_REASONS).map(toReason)
  return issues.length > MAX_REASONS ? [...reasons, `and ${issues.length - MAX_REASONS} more`] : reasons
}

const toReason = ({ message, path = [] }: StandardSchemaV1.Issue): string => {
  const names = path.map((segment) => String(typeof segment === "object" ? segment.key : segment))
  const reason = names.length === 0 ? message : `${names.join(".")}: ${message}`
  if (reason.length <= MAX_REASON_LENGTH) return reason
  // Without the half of a character that was cut in two.
  return `${reason.slice(0, MAX_REASON_LENGTH).replace(/[\uD800-\uDBFF]$/, "")}…`
}

const describe = (
  validator: StandardSchemaV1 | (StandardSchemaV1 & StandardJSONSchemaV1),
  side: "input" | "output"
): JsonSchema.JsonSchema | undefined => {
  const standard = validator["~standard"]
  if (!("jsonSchema" in standard)) return undefined
  try {
    return standard.jsonSchema[side]({
      target: "draft-2020-12",
      // Makes zod describe the rest of a schema with a `bigint` or a `Date`.
      libraryOptions: { unrepresentable: "any" }
    })
  } catch {
    // The library cannot describe this validator.
    return undefined
  }
}
