/** Reads and validates the OpenAPI document in tests. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import * as Operations from "../operations/Operations.ts"
import * as ServiceOptions from "../service/ServiceOptions.ts"
import * as OpenApi from "./OpenApi.ts"

export interface Node {
  readonly [name: string]: unknown
}

export const options = (
  given: Partial<ServiceOptions.ServiceOptions> = {}
): ServiceOptions.ServiceOptions => ({
  ...ServiceOptions.defaults,
  ...given
})

/** Returns a new copy of the document for the given options. */
export const read = (given: Partial<ServiceOptions.ServiceOptions> = {}): Node =>
  JSON.parse(OpenApi.json(options(given), Operations.all))

export const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

/** Yields every object and array of the document with its path, the root first. */
export function* nodes(
  value: unknown,
  path: ReadonlyArray<string> = []
): Generator<readonly [ReadonlyArray<string>, Node]> {
  if (!isNode(value)) return
  yield [path, value]
  for (const [name, member] of Object.entries(value)) yield* nodes(member, [...path, name])
}

/** Returns the node at a path of names, or an empty object. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): Node => {
  const found = path.reduce<unknown>((node, name) => (isNode(node) ? node[name] : undefined), value)
  return isNode(found) ? found : {}
}

/** Resolves a local reference such as `#/components/schemas/Pet`, or returns `undefined`. */
export const resolve = (document: Node, ref: string): unknown =>
  ref
    .replace(/^#\//, "")
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((node, name) => (isNode(node) ? node[name] : undefined), document)

/** Returns the node, or the node that it references. */
export const follow = (document: Node, node: Node): Node => {
  const target = typeof node.$ref === "string" ? resolve(document, node.$ref) : node
  return isNode(target) ? target : {}
}

export interface Operation {
  readonly path: string
  readonly method: string
  readonly operation: Node
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

export const operations = (document: Node): ReadonlyArray<Operation> =>
  Object.entries(at(document, "paths")).flatMap(([path, item]) =>
    methods
      .filter((method) => isNode(item) && method in item)
      .map((method) => ({ path, method, operation: at(item, method) }))
  )

export const operation = (document: Node, id: string): Node =>
  operations(document).find(({ operation }) => operation.operationId === id)?.operation ?? {}

const address = "https://document.example/openapi.json"

/** Returns a function that compiles schemas of a document to validators of values (JSON Schema 2020-12). */
export const validator = (document: Node): ((schema: unknown) => ValidateFunction) => {
  // The document states the range of int64 only by its format. As a double, the largest int64 is 2^63.
  const int64 = { type: "number", validate: (value: number) => Math.abs(value) <= 2 ** 63 } as const
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int64 } })
  ajv.addSchema({ $id: address, components: document.components })
  // Compiling a schema takes much longer than validating a value.
  const compiled = new Map<string, ValidateFunction>()
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/', `"${address}#/`)
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text))
    compiled.set(text, validate)
    return validate
  }
}
