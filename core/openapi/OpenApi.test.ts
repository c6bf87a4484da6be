import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it } from "vitest"
import * as HttpDate from "../codec/HttpDate.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as Page from "../domain/Page.ts"
import * as PetFields from "../domain/PetFields.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as ApiError from "../errors/ApiError.ts"
import { catalogue, codes } from "../errors/ErrorCatalogue.ts"
import * as Plan from "../limits/Plan.ts"
import * as ListPets from "../operations/ListPets.ts"
import * as Operations from "../operations/Operations.ts"
import * as Router from "../service/Router.ts"
import type { ServiceOptions } from "../service/ServiceOptions.ts"
import {
  at,
  follow,
  isNode,
  nodes,
  operation,
  operations,
  options,
  read,
  resolve,
  validator
} from "./OpenApi.fixture.ts"
import * as OpenApi from "./OpenApi.ts"

const document = read()

const announceOnly = { ...Deprecation.getPet, afterSunset: "announce-only" } as const
const notFound = { ...Deprecation.getPet, afterSunset: "not-found" } as const

const variants: ReadonlyArray<readonly [name: string, options: Partial<ServiceOptions>]> = [
  ["by default", {}],
  ["with the strict option", { strict: true }],
  ["without a base path", { basePath: "" }],
  ["with two base URLs", { publicBaseUrl: "https://a.example/v1", stagingBaseUrl: "https://b.example/v1" }],
  ["with the removal only announced", { getPetDeprecation: announceOnly }],
  ["with 404 after the sunset", { getPetDeprecation: notFound }],
  ["without standard headers", { standardHeaders: false }],
  ["without idempotency keys", { idempotencyKeys: false }],
  ["with a page about deprecations", { deprecationUrl: "https://docs.example/pets" }]
]

const schema = (name: string, from = document) => at(from, "components", "schemas", name)

const responses = (from = document) =>
  operations(from).flatMap(({ operation }) =>
    Object.entries(at(operation, "responses")).map(([status, response]) => ({
      id: `${operation.operationId} ${status}`,
      status: Number(status),
      response: isNode(response) ? follow(from, response) : {}
    }))
  )

const statuses = (id: string, from = document) => Object.keys(at(operation(from, id), "responses"))

describe.each(variants)("the document %s", (_, given) => {
  const variant = read(given)

  it("is a valid OpenAPI 3.1 document", async () => {
    const result = await new Validator().validate(read(given))
    expect(result).toEqual({ valid: true })
  })

  it("has no dangling references and no unused components", () => {
    const refs = [...nodes(variant)].flatMap(([, node]) => (typeof node.$ref === "string" ? [node.$ref] : []))
    expect(refs.filter((ref) => resolve(variant, ref) === undefined)).toEqual([])
    const components = ["schemas", "headers", "responses"].flatMap((kind) =>
      Object.keys(at(variant, "components", kind)).map((name) => `#/components/${kind}/${name}`)
    )
    expect([...new Set(refs)].sort()).toEqual(components.sort())
  })

  it("has only examples that match their schemas", () => {
    const compile = validator(variant)
    const checked = [...nodes(variant)].flatMap(([path, node]) => {
      const isInSchemas = path.includes("schemas")
      const where = path.join("/")
      if (isInSchemas) {
        return Array.isArray(node.examples) ? node.examples.map((value) => [where, node, value] as const) : []
      }
      if (!isNode(node.schema)) return []
      const { schema } = node
      if ("example" in node) return [[where, schema, node.example] as const]
      return Object.values(at(node, "examples")).map(
        (example) => [where, schema, at({ example }, "example").value] as const
      )
    })
    expect(checked.length).toBeGreaterThan(codes.length)
    for (const [where, schema, value] of checked) {
      const validate = compile(schema)
      expect(validate(value), `${where}: ${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`).toBe(
        true
      )
    }
  })

  it("has an example for every body, header and schema component", () => {
    for (const [path, node] of nodes(variant)) {
      if (path.at(-1) === "application/json") expect(at(node, "examples"), path.join("/")).not.toEqual({})
      if (path.at(-2) === "headers" && path.at(-3) === "components") expect(node).toHaveProperty("example")
      if (path.at(-2) === "schemas")
        expect(node.examples, path.join("/")).toSatisfy((list: Array<unknown>) => list.length > 0)
    }
  })

  it("has no example of Idempotency-Key, which reference pages would send with each request", () => {
    const all = [...nodes(variant)].map(([, node]) => node).filter(({ name }) => name === "Idempotency-Key")
    for (const parameter of all) {
      expect(Object.keys(parameter).sort()).toEqual(["description", "in", "name", "schema"])
      expect(Object.keys(at(parameter, "schema")).sort()).toEqual(["maxLength", "minLength", "type"])
    }
  })

  it("declares the three rate headers as required on every response", () => {
    const names = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
    const shared = Object.values(at(variant, "components", "responses")).filter(isNode)
    const all = [...responses(variant).map(({ response }) => response), ...shared]
    expect(all.length).toBeGreaterThan(20)
    for (const response of all) {
      for (const name of names) {
        expect(follow(variant, at(response, "headers", name))).toMatchObject({ required: true })
      }
    }
  })

  it("lists every error code of the catalogue with its meaning and an example", () => {
    const withContent = [...nodes(variant)].filter(
      ([, node]) => typeof node.description === "string" && isNode(node.content)
    )
    const absent: ReadonlyArray<string> = [
      ...(given.getPetDeprecation === undefined ? [] : ["operation_removed"]),
      ...(given.idempotencyKeys === false ? codes.filter((code) => code.includes("idempotency")) : [])
    ]
    for (const code of codes.filter((code) => !absent.includes(code))) {
      const listing = withContent.filter(
        ([, node]) => code in at(node, "content", "application/json", "examples")
      )
      expect(listing.length, code).toBeGreaterThan(0)
      for (const [, node] of listing) {
        expect(node.description).toContain(`\`${code}\`: ${catalogue[code].meaning}`)
        expect(at(node, "content", "application/json", "examples", code).value).toEqual(
          JSON.parse(ApiError.body(ApiError.make(code), catalogue[code].status))
        )
      }
    }
  })

  it("has no error response that lists a code with another status", () => {
    const errors = responses(variant).filter(({ status }) => status >= 400)
    for (const { id, response, status } of errors) {
      const media = at(response, "content", "application/json")
      expect(media.schema, id).toEqual({ $ref: "#/components/schemas/Error" })
      for (const example of Object.values(at(media, "examples"))) {
        expect(at({ example }, "example", "value").status, id).toBe(status)
      }
    }
  })
})

describe("the documented operations", () => {
  it("are the operations of the service, with their methods and paths", () => {
    const documented = operations(document).map(({ method, operation, path }) => [
      path,
      method,
      operation.operationId
    ])
    const all = Operations.all.map(({ id, method, path }) => [path, method.toLowerCase(), id])
    expect(documented).toEqual(all)
  })

  it("have the contract's tag, a summary and a description", () => {
    expect(document.tags).toEqual([{ name: "animals", description: expect.any(String) }])
    for (const { operation } of operations(document)) {
      expect(operation).toMatchObject({
        tags: ["animals"],
        summary: expect.stringMatching(/./),
        description: expect.stringMatching(/./)
      })
    }
  })

  it("all require an API key as a bearer token", () => {
    expect(document.security).toEqual([{ apiKey: [] }])
    expect(at(document, "components", "securitySchemes", "apiKey")).toMatchObject({
      type: "http",
      scheme: "bearer"
    })
    for (const { operation } of operations(document)) expect(operation).not.toHaveProperty("security")
  })

  it("document 405 and the methods that each path supports", () => {
    for (const { allow, path } of Router.resourcesOf(Operations.all)) {
      const item = at(document, "paths", path)
      expect(item.description).toContain(allow)
      const response = follow(document, at(item, "x-method-not-allowed"))
      expect(at(response, "headers", "Allow")).toMatchObject({ required: true, schema: { type: "string" } })
      expect(at(response, "content", "application/json", "examples")).toHaveProperty("method_not_allowed")
    }
  })
})

describe("listPets", () => {
  const parameters = Object.values(at(operation(document, "listPets"), "parameters")).filter(isNode)
  const parameter = (name: string) => parameters.find((candidate) => candidate.name === name)

  it("has the query parameters of the service, all optional", () => {
    expect(parameters.map(({ name }) => name)).toEqual(Object.keys(ListPets.parameters))
    for (const { in: location, required } of parameters)
      expect([location, required]).toEqual(["query", undefined])
  })

  it("has a limit parameter with the bounds and the default of the service", () => {
    const { default: byDefault, max, min } = Page.limit
    expect(parameter("limit")?.schema).toEqual({
      type: "integer",
      minimum: min,
      maximum: max,
      default: byDefault
    })
  })

  it("has a status parameter that allows exactly the statuses of an animal", () => {
    expect(parameter("status")?.schema).toEqual({ $ref: "#/components/schemas/PetStatus" })
    expect(schema("PetStatus").enum).toEqual(PetStatus.all)
  })
})

describe("getPet", () => {
  const getPet = operation(document, "getPet")

  it("is the only deprecated operation and states its sunset", () => {
    expect(operations(document).filter(({ operation }) => operation.deprecated !== undefined)).toHaveLength(1)
    expect(getPet.deprecated).toBe(true)
    expect(getPet.description).toContain(HttpDate.format(Deprecation.getPet.sunsetAt))
    expect(getPet.description).toContain("GET /pets")
  })

  it("has one int64 path parameter", () => {
    expect(getPet.parameters).toEqual([
      expect.objectContaining({
        name: "petId",
        in: "path",
        required: true,
        schema: { $ref: "#/components/schemas/Int64" }
      })
    ])
  })

  it('documents 410 only if afterSunset is "gone"', () => {
    expect(statuses("getPet", read({ getPetDeprecation: announceOnly }))).not.toContain("410")
    expect(statuses("getPet", read({ getPetDeprecation: notFound }))).not.toContain("410")
  })
})

describe("the documented schemas", () => {
  it("define Int64 with the format int64, and contain no number that JavaScript would round", () => {
    expect(schema("Int64")).toMatchObject({ type: "integer", format: "int64" })
    expect(schema("Int64")).not.toHaveProperty("minimum")
    expect(schema("Int64")).not.toHaveProperty("maximum")
    expect(schema("Int64").description).toContain("-2^63 to 2^63-1")
    const text = OpenApi.json(options(), Operations.all)
    const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, "").match(/-?[0-9][0-9.e+-]*/g) ?? []
    expect(numbers.length).toBeGreaterThan(20)
    for (const number of numbers) expect(String(Number(number))).toBe(number)
  })

  it("use Int64 for every id and categoryId", () => {
    const ref = { $ref: "#/components/schemas/Int64" }
    expect(at(schema("NewPet"), "properties").categoryId).toEqual(ref)
    expect(at(schema("Pet"), "properties")).toMatchObject({ id: ref, categoryId: ref })
  })

  it("make the status of a new animal optional, and describe its default", () => {
    expect(schema("NewPet").required).toEqual(["name", "categoryId"])
    expect(at(schema("NewPet"), "properties", "status")).toEqual({
      $ref: "#/components/schemas/PetStatus",
      description: expect.stringContaining(`\`${PetStatus.initial}\` if it is absent`)
    })
    // With a `default` keyword, generated types would require the field.
    const inSchemas = [...nodes(at(document, "components", "schemas"))]
    expect(inSchemas.filter(([, node]) => "default" in node)).toEqual([])
  })

  it("require an id in Pet and every field that each animal has", () => {
    const fields = Object.keys(at(schema("NewPet"), "properties"))
    expect(Object.keys(at(schema("Pet"), "properties"))).toEqual(["id", ...fields])
    expect(schema("Pet").required).toEqual(["id", ...PetFields.everPresent])
  })

  it("define Pets as a bare array of Pet", () => {
    expect(schema("Pets")).toMatchObject({ type: "array", items: { $ref: "#/components/schemas/Pet" } })
  })

  it("define Error with exactly the fields code, message and status, and list all codes", () => {
    expect(schema("Error")).toMatchObject({
      required: ["code", "message", "status"],
      additionalProperties: false
    })
    expect(Object.keys(at(schema("Error"), "properties"))).toEqual(["code", "message", "status"])
    expect(at(schema("Error"), "properties", "code").enum).toEqual(codes)
  })

  it("forbid unknown fields of NewPet only in strict mode", () => {
    const strict = read({ strict: true })
    expect([...nodes(document)].filter(([, node]) => node.additionalProperties === true)).toEqual([])
    expect(schema("NewPet")).not.toHaveProperty("additionalProperties")
    expect(schema("NewPet", strict).additionalProperties).toBe(false)
    expect(schema("Pet", strict)).toEqual(schema("Pet"))
  })
})

describe("the service options", () => {
  const urls = (given: Partial<ServiceOptions>) =>
    Object.values(at(read(given), "servers")).map((server) => at({ server }, "server").url)

  it("determine the documented servers", () => {
    expect(urls({})).toEqual(["/v1"])
    expect(urls({ basePath: "" })).toEqual(["/"])
    expect(urls({ publicBaseUrl: "https://a.example/v1/" })).toEqual(["https://a.example/v1"])
    expect(urls({ publicBaseUrl: "https://a.example/v1", stagingBaseUrl: "https://b.example/v1" })).toEqual([
      "https://a.example/v1",
      "https://b.example/v1"
    ])
    expect(urls({ stagingBaseUrl: "https://b.example/v1" })).toEqual(["/v1", "https://b.example/v1"])
  })

  it("determine the documented maximum body size of createPet", () => {
    const body = at(operation(read({ maxBodyBytes: 1234 }), "createPet"), "requestBody")
    expect(body).toMatchObject({ required: true, description: expect.stringContaining("1234 bytes") })
  })
})

it("the description of X-RateLimit-Limit states the limits of every plan", () => {
  const { description } = at(document, "components", "headers", "X-RateLimit-Limit")
  for (const name of Plan.names) {
    const limits = Plan.standard[name]
    expect(description).toContain(
      limits === undefined
        ? `${name}: agreed for each key`
        : `${name}: ${limits.perMinute} a minute and ${limits.perDay} a day`
    )
  }
})

it("the document describes the standard rate headers if and only if the service sends them", () => {
  const names = ["RateLimit", "RateLimit-Policy"]
  const withoutStandardHeaders = read({ standardHeaders: false })
  for (const name of names)
    expect(at(withoutStandardHeaders, "components", "headers")).not.toHaveProperty(name)
  for (const { id, response } of responses()) {
    for (const name of names) {
      expect(follow(document, at(response, "headers", name)), id).toMatchObject({ required: true })
    }
  }
})

it("the Link header of getPet links to the deprecation page if one is configured", () => {
  const { schema } = at(
    read({ deprecationUrl: "https://d.example" }),
    "components",
    "headers",
    "Link-Successor.getPet"
  )
  expect(schema).toMatchObject({
    const: '</v1/pets>; rel="successor-version", <https://d.example>; rel="deprecation"'
  })
})

it("the document states the title, the version and the license of the interface", () => {
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: {
      title: "Animal Store Service",
      version: "1.0.0",
      contact: { name: expect.any(String) },
      license: { name: "MIT" }
    }
  })
})
