/** Generates `components.schemas` of the OpenAPI document from the schemas of the service. */
import * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import type * as Json from "../codec/Json.ts"
import * as Int64 from "../domain/Int64.ts"
import { NewPet } from "../domain/NewPet.ts"
import * as PetFields from "../domain/PetFields.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import { catalogue, codes } from "../errors/ErrorCatalogue.ts"
import type { ServiceOptions } from "../service/ServiceOptions.ts"

export type SchemaName = "Pet" | "NewPet" | "Pets" | "PetStatus" | "Int64" | "Error"

export const ref = (name: SchemaName): Json.EncodableObject => ({ $ref: `#/components/schemas/${name}` })

/** Returns the `content` object of a request or response: JSON with named examples. */
export const content = (
  schema: Json.EncodableObject,
  examples: Json.EncodableObject
): Json.EncodableObject => ({
  "application/json": {
    schema,
    examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))
  }
})

/** Returns the error body for `code` with its default message. */
export const errorBody = (
  code: string,
  { meaning, status }: { readonly meaning: string; readonly status: number }
): Json.EncodableObject => ({ code, message: meaning, status })

/** Returns these fields of one of the two example animals, without those that it lacks. */
const exampleOf = (index: 0 | 1, names: ReadonlyArray<PetFields.FieldName>): Json.EncodableObject =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = PetFields.fields[name].examples[index]
      return value === undefined ? [] : [[name, value]]
    })
  )

const minimalNewPet = exampleOf(0, PetFields.required)
const fullNewPet = exampleOf(1, PetFields.names)
const rex = { id: 1n, ...exampleOf(0, PetFields.names) }
const mia = { id: 2n, ...fullNewPet }

export const examples = { minimalNewPet, fullNewPet, pet: rex, pets: [rex, mia] }

const PetSchema = Schema.toType(Schema.Struct({ id: Int64.Int64, ...NewPet.fields })).annotate({
  identifier: "Pet",
  description: "An animal of the catalogue: the fields of NewPet and the id that the service assigned."
})

const PetsSchema = Schema.Array(PetSchema).annotate({
  identifier: "Pets",
  description: "Animals by ascending id."
})

const NewPetSchema = NewPet.annotate({
  identifier: "NewPet",
  description: "An animal as a caller describes it, before the service assigns an id."
})

const errorSchema = (own: ReadonlyArray<string>) =>
  Schema.Struct({
    code: Schema.Literals([...codes, ...own]).annotate({
      description: "The code of the error, from a closed set."
    }),
    message: Schema.String.annotate({ description: "What happened, in words for people." }),
    status: Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 })).annotate({
      description: "The HTTP status code of the response."
    })
  }).annotate({ identifier: "Error", description: "Why a request failed." })

/** Returns the schemas by name; `NewPet` allows unknown fields unless `strict`. */
export const make = ({ errors, strict }: ServiceOptions): Json.EncodableObject => {
  const { Pet, PetStatus: Status, Pets } = definitions(PetsSchema, "ignore")
  const { Error: ErrorBody } = definitions(errorSchema(Object.keys(errors)), "error")
  const { NewPet: Body } = definitions(NewPetSchema, strict ? "error" : "ignore")
  return {
    Pet: { ...Pet, examples: [rex, mia] },
    NewPet: { ...withStatusNote(Body), examples: [minimalNewPet, fullNewPet] },
    Pets: { ...Pets, examples: [examples.pets] },
    PetStatus: { ...Status, examples: PetStatus.all },
    Int64: int64,
    Error: { ...ErrorBody, examples: [errorBody("not_found", catalogue.not_found)] }
  }
}

// Effect describes a bigint as a string, as its JSON codec encodes it, but the service sends a number.
const int64: Json.EncodableObject = {
  type: "integer",
  format: "int64",
  // Has no bounds and no large examples: most tools read them as doubles, and then show and check other numbers.
  description:
    "A signed 64-bit integer, from -2^63 to 2^63-1, as a JSON number. Do not parse it as a double, which rounds " +
    "integers above 2^53.",
  examples: [1n]
}

// Adds a note instead of a `default`, because type generators require a field with a `default`.
const withStatusNote = (schema: Json.EncodableObject | undefined): Json.EncodableObject => {
  const properties = isObject(schema?.properties) ? schema.properties : {}
  const status = isObject(properties.status) ? properties.status : {}
  const description = `Availability status; \`${PetStatus.initial}\` if it is absent.`
  return { ...schema, properties: { ...properties, status: { ...status, description } } }
}

const isObject = (value: Json.Encodable | undefined): value is Json.EncodableObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// JSON Schema allows unknown fields by default. If a schema states it, generated types accept misspelled names.
const omitUnlessClosed = ({ additionalProperties, ...schema }: Json.EncodableObject): Json.EncodableObject =>
  additionalProperties === false ? { ...schema, additionalProperties } : schema

const decodeDefinitions = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.JsonObject))

const definitions = (schema: Schema.Constraint, onExcessProperty: "ignore" | "error") => {
  const {
    definitions,
    dialect,
    schema: root
  } = Schema.toJsonSchemaDocument(schema, {
    onExcessProperty,
    // Effect appends "Encoded" to the name of the encoded side of a codec; here both sides share one component.
    referencePolicy: ({ identifier }) => identifier?.replace(/Encoded$/, "")
  })
  const decoded = decodeDefinitions(
    JsonSchema.toMultiDocumentOpenApi3_1({ dialect, schemas: [root], definitions }).definitions
  )
  return Object.fromEntries(Object.entries(decoded).map(([name, schema]) => [name, omitUnlessClosed(schema)]))
}
