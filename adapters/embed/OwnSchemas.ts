/** Places the JSON Schemas of validators in the OpenAPI document, as components to which operations refer. */
import type * as JsonSchema from "effect/JsonSchema"
import type * as Json from "../../core/codec/Json.ts"

/** A schema that refers to a component, and the components that it needs. */
export interface Placed {
  readonly schema: Json.EncodableObject
  readonly components: { readonly [name: string]: Json.EncodableObject }
}

/** Places a schema as the component `name`; a value without a schema can be anything. */
export const place = (name: string, schema: JsonSchema.JsonSchema | undefined): Placed => {
  if (schema === undefined) return { schema: {}, components: {} }
  const { components, own } = split(name, schema)
  return { schema: { $ref: refTo(name) }, components: { [name]: own, ...components } }
}

/** The parameters of a query: the schema of each one. */
export interface PlacedQuery {
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly schema: Json.EncodableObject
    /** The JSON types that the schema names, such as `integer`. */
    readonly types: ReadonlyArray<unknown>
    readonly isRequired: boolean
  }>
  readonly components: Placed["components"]
}

/** Places the properties of the schema of a query; `undefined` if the schema does not list them. */
export const placeQuery = (
  name: string,
  schema: JsonSchema.JsonSchema | undefined
): PlacedQuery | undefined => {
  if (schema === undefined) return undefined
  const { components, own } = split(name, schema)
  const { properties, required } = own
  if (!isObject(properties)) return undefined
  const isRequired = (parameter: string) => Array.isArray(required) && required.includes(parameter)
  return {
    parameters: Object.entries(properties).map(([parameter, property]) => {
      const schema = isObject(property) ? property : {}
      const types = typesOf(schema, Object.entries(components))
      return { name: parameter, schema, types, isRequired: isRequired(parameter) }
    }),
    components
  }
}

/** Returns the types in `type` and of the values of `const` and `enum`, also of alternatives and of definitions. */
const typesOf = (
  { $ref, anyOf, const: constant, enum: constants, oneOf, type }: Json.EncodableObject,
  definitions: ReadonlyArray<readonly [name: string, definition: Json.EncodableObject]>
): ReadonlyArray<unknown> => {
  const definition = definitions.find(([name]) => $ref === refTo(name))
  // Without this definition, because it may refer to itself.
  const others = definitions.filter((other) => other !== definition)
  return [
    ...[type].flat(),
    ...[constant, constants].flat().map((value) => typeof value),
    ...[anyOf, oneOf, definition?.[1]]
      .flat()
      .flatMap((schema) => (isObject(schema) ? typesOf(schema, others) : []))
  ]
}

/** Separates a schema from its definitions, and makes references independent of its place. */
const split = (name: string, schema: JsonSchema.JsonSchema) => {
  const {
    $defs = {},
    $schema: _,
    ...own
  } = toJson(schema, (ref) => (ref === "#" ? refTo(name) : ref.replace(/^#\/\$defs\//, `${refTo(name)}_`)))
  const definitions = isObject($defs) ? Object.entries($defs) : []
  const components = Object.fromEntries(
    definitions.map(([key, definition]) => [`${name}_${key}`, isObject(definition) ? definition : {}])
  )
  return { own, components }
}

const refTo = (name: string): string => `#/components/schemas/${name}`

/** Copies a schema, which is a JSON object, with other references. */
const toJson = (schema: JsonSchema.JsonSchema, rewrite: (ref: string) => string): Json.EncodableObject =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === "$ref" && typeof value === "string" ? rewrite(value) : value
    )
  )

const isObject = (value: Json.Encodable | undefined): value is Json.EncodableObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
