import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { misspelled } from "../../core/options/Misspelling.arbitrary.ts"
import * as SchemaKeywords from "./SchemaKeywords.ts"

/** Schemas that differ in one keyword, and their mistakes. */
const mistakes: ReadonlyArray<readonly [schema: object, problem: string | RegExp]> = [
  [{ type: "intger" }, /^type: must be one of string, number, integer, /],
  [{ type: [] }, /^type: must be one of /],
  [{ type: ["string", "nil"] }, /^type: must be one of /],
  [{ properties: { a: { minimum: "5" } } }, "properties.a.minimum: must be a number"],
  [{ $defs: { A: { exclusiveMinimum: true } } }, "$defs.A.exclusiveMinimum: must be a number"],
  [{ items: [{ type: "string" }] }, "items: must be a JSON Schema: an object, true or false"],
  [{ anyOf: [true, { maxLength: 1.5 }] }, "anyOf.1.maxLength: must be a whole number from 0"],
  [{ items: { minItems: -1 } }, "items.minItems: must be a whole number from 0"],
  [{ oneOf: {} }, "oneOf: must be an array of JSON Schemas"],
  [{ allOf: [] }, "allOf: must be an array of JSON Schemas"],
  [{ properties: [] }, "properties: must be an object of JSON Schemas"],
  [{ enum: "ab" }, "enum: must be an array"],
  [{ required: "a" }, "required: must be an array of texts"],
  [{ required: [1] }, "required: must be an array of texts"],
  [{ uniqueItems: "yes" }, "uniqueItems: must be true or false"],
  [{ pattern: /a/ }, "pattern: must be a text"],
  [{ dependencies: { a: ["b"] } }, "dependencies: is a keyword of an older draft"],
  [{ not: { maxLenght: 3 } }, "not.maxLenght: is no keyword; did you mean maxLength?"]
]

describe("the mistakes in a JSON Schema", () => {
  it.each(mistakes)("are found: %j", (schema, problem) => {
    expect(SchemaKeywords.problemOf(schema)).toMatch(problem)
  })

  it("are found in any misspelled keyword", () => {
    const keywords = ["properties", "required", "additionalProperties", "pattern", "maxItems"]
    // A name that begins with `x-` is never a keyword; `maxItems` may become `minItems`.
    const given = misspelled(keywords).filter(([, name]) => !name.startsWith("x-"))
    fc.assert(
      fc.property(given, ([, name]) => {
        expect(SchemaKeywords.problemOf({ [name]: true })).toMatch(/did you mean|must be/)
      })
    )
  })

  it("are not in values, names of properties, notes, and keywords that are absent", () => {
    const schema = {
      type: ["object", "null"],
      properties: { typ: { const: { typ: 1 } }, maxLenght: { default: { enums: 1 } } },
      maxProperties: undefined,
      "x-typ": "note",
      unit: "kg",
      note: "short",
      comment: "no keyword",
      discriminator: "kind",
      example: {}
    }
    expect(SchemaKeywords.problemOf(schema)).toBeUndefined()
  })

  it("are not in the schemas of zod and of Effect", () => {
    const ofZod = z.toJSONSchema(
      z.object({
        id: z.uuid(),
        count: z.int().positive().multipleOf(5),
        tags: z.array(z.enum(["a", "b"])).max(3),
        pair: z.tuple([z.string(), z.number()]),
        rest: z.record(z.string().regex(/^x/), z.union([z.null(), z.literal(1)])).optional()
      })
    )
    const { definitions, schema } = Schema.toJsonSchemaDocument(
      Schema.Struct({ name: Schema.NonEmptyString, size: Schema.optional(Schema.Int), any: Schema.Unknown })
    )
    expect(SchemaKeywords.problemOf(ofZod)).toBeUndefined()
    expect(SchemaKeywords.problemOf({ ...schema, $defs: definitions })).toBeUndefined()
  })
})
