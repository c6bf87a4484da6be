import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it } from "vitest"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as HttpDate from "../deprecation/HttpDate.ts"
import * as Int64 from "../domain/Int64.ts"
import * as Page from "../domain/Page.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as ApiError from "../errors/ApiError.ts"
import { catalogue, codes } from "../errors/ErrorCatalogue.ts"
import * as Plan from "../limits/Plan.ts"
import * as ListPetsParameters from "../validation/ListPetsParameters.ts"
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
import * as Route from "./Route.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

const document = read()

const announceOnly = { ...Deprecation.getPet, afterSunset: "announce-only" } as const
const notFound = { ...Deprecation.getPet, afterSunset: "not-found" } as const

const variants: ReadonlyArray<readonly [name: string, options: Partial<ServiceOptions>]> = [
  ["by default", {}],
  ["with strict", { strict: true }],
  ["without a base path", { basePath: "" }],
  ["with both addresses", { publicBaseUrl: "https://a.example/v1", stagingBaseUrl: "https://b.example/v1" }],
  ["with the removal only announced", { getPetDeprecation: announceOnly }],
  ["with 404 after the sunset", { getPetDeprecation: notFound }]
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

  it("obeys the rules of OpenAPI 3.1", async () => {
    const result = await new Validator().validate(read(given))
    expect(result).toEqual({ valid: true })
  })

  it("has a target for every reference and a reference for every component", () => {
    const refs = [...nodes(variant)].flatMap(([, node]) => (typeof node.$ref === "string" ? [node.$ref] : []))
    expect(refs.filter((ref) => resolve(variant, ref) === undefined)).toEqual([])
    const components = ["schemas", "headers", "responses"].flatMap((kind) =>
      Object.keys(at(variant, "components", kind)).map((name) => `#/components/${kind}/${name}`)
    )
    expect([...new Set(refs)].sort()).toEqual(components.sort())
  })

  it("has only examples that are valid by their own schema", () => {
    const compile = validator(variant)
    const checked = [...nodes(variant)].flatMap(([path, node]) => {
      const inSchemas = path.includes("schemas")
      const where = path.join("/")
      if (inSchemas) {
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

  it("gives an example of every body, header and schema component", () => {
    for (const [path, node] of nodes(variant)) {
      if (path.at(-1) === "application/json") expect(at(node, "examples"), path.join("/")).not.toEqual({})
      if (path.at(-2) === "headers" && path.at(-3) === "components") expect(node).toHaveProperty("example")
      if (path.at(-2) === "schemas")
        expect(node.examples, path.join("/")).toSatisfy((list: Array<unknown>) => list.length > 0)
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

  it("shows every code of the catalogue, with its meaning, where its status is answered", () => {
    const shown = [...nodes(variant)].filter(
      ([, node]) => typeof node.description === "string" && isNode(node.content)
    )
    const removed = given.getPetDeprecation !== undefined
    for (const code of codes.filter((code) => !(removed && code === "operation_removed"))) {
      const here = shown.filter(([, node]) => code in at(node, "content", "application/json", "examples"))
      expect(here.length, code).toBeGreaterThan(0)
      for (const [, node] of here) {
        expect(node.description).toContain(`\`${code}\`: ${catalogue[code].meaning}`)
        expect(at(node, "content", "application/json", "examples", code).value).toEqual(
          JSON.parse(ApiError.body(ApiError.make(code)))
        )
      }
    }
  })

  it("shows in each error response only codes of its status", () => {
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

describe("the operations", () => {
  it("are those of the route table, each under its method and path", () => {
    const documented = operations(document).map(({ method, operation, path }) => [
      path,
      method,
      operation.operationId
    ])
    const routed = Object.values(Route.resources).flatMap(({ operations, path }) =>
      Object.entries(operations)
        .filter(([method]) => method !== "HEAD")
        .map(([method, id]) => [path, method.toLowerCase(), id])
    )
    expect(documented).toEqual(routed)
  })

  it("carry the tag of the contract and say what they do", () => {
    expect(document.tags).toEqual([{ name: "animals", description: expect.any(String) }])
    for (const { operation } of operations(document)) {
      expect(operation).toMatchObject({
        tags: ["animals"],
        summary: expect.stringMatching(/./),
        description: expect.stringMatching(/./)
      })
    }
  })

  it("all need the bearer key", () => {
    expect(document.security).toEqual([{ apiKey: [] }])
    expect(at(document, "components", "securitySchemes", "apiKey")).toMatchObject({
      type: "http",
      scheme: "bearer"
    })
    for (const { operation } of operations(document)) expect(operation).not.toHaveProperty("security")
  })

  it("answer with the statuses that they can really give", () => {
    expect(statuses("listPets")).toEqual(["200", "400", "401", "408", "429", "431", "500", "503"])
    expect(statuses("createPet")).toEqual([
      "201",
      "400",
      "401",
      "408",
      "413",
      "415",
      "429",
      "431",
      "500",
      "503"
    ])
    expect(statuses("getPet")).toEqual(["200", "400", "401", "404", "408", "410", "429", "431", "500", "503"])
  })

  it("document 405 and the methods that each path supports", () => {
    for (const { allow, path } of Object.values(Route.resources)) {
      const item = at(document, "paths", path)
      expect(item.description).toContain(allow)
      const response = follow(document, at(item, "x-method-not-allowed"))
      expect(at(response, "headers", "Allow")).toEqual({ $ref: "#/components/headers/Allow" })
      expect(at(response, "content", "application/json", "examples")).toHaveProperty("method_not_allowed")
    }
  })

  it("declare the headers that belong to one status", () => {
    const declares = (status: number, name: string) =>
      responses().filter((response) => response.status === status && name in at(response.response, "headers"))
        .length === responses().filter((response) => response.status === status).length
    expect(declares(401, "WWW-Authenticate")).toBe(true)
    expect(declares(429, "Retry-After")).toBe(true)
    expect(declares(503, "Retry-After")).toBe(true)
    expect(declares(201, "Location")).toBe(true)
    expect(declares(200, "Link")).toBe(true)
    expect(declares(400, "Retry-After")).toBe(false)
  })
})

describe("listPets", () => {
  const parameters = Object.values(at(operation(document, "listPets"), "parameters")).filter(isNode)
  const parameter = (name: string) => parameters.find((candidate) => candidate.name === name)

  it("takes the query parameters that the service reads, all optional", () => {
    expect(parameters.map(({ name }) => name)).toEqual(ListPetsParameters.names)
    for (const { in: location, required } of parameters)
      expect([location, required]).toEqual(["query", undefined])
  })

  it("bounds limit as the service does", () => {
    const { default: byDefault, max, min } = Page.limit
    expect(parameter("limit")?.schema).toEqual({
      type: "integer",
      minimum: min,
      maximum: max,
      default: byDefault
    })
  })

  it("filters by the states that exist", () => {
    expect(parameter("status")?.schema).toEqual({ $ref: "#/components/schemas/PetStatus" })
    expect(schema("PetStatus").enum).toEqual(PetStatus.all)
  })
})

describe("getPet", () => {
  const getPet = operation(document, "getPet")

  it("is the only deprecated operation and says when it ends", () => {
    expect(operations(document).filter(({ operation }) => operation.deprecated !== undefined)).toHaveLength(1)
    expect(getPet.deprecated).toBe(true)
    expect(getPet.description).toContain(HttpDate.format(Deprecation.getPet.sunsetAt))
    expect(getPet.description).toContain("GET /pets")
  })

  it("declares the deprecation headers with the values that the service sends", () => {
    const sent = Deprecation.headers(Deprecation.getPet, "/v1/pets")
    for (const status of ["200", "400", "401", "404", "410", "429", "500", "503"]) {
      const headers = at(follow(document, at(getPet, "responses", status)), "headers")
      for (const [name, value] of sent) {
        expect(at(follow(document, at(headers, name)), "schema").const, `${name} on ${status}`).toBe(value)
      }
    }
  })

  it("takes one int64 in its path", () => {
    expect(getPet.parameters).toEqual([
      expect.objectContaining({
        name: "petId",
        in: "path",
        required: true,
        schema: { $ref: "#/components/schemas/Int64" }
      })
    ])
  })

  it("has a 410 only if it is gone after its sunset", () => {
    expect(statuses("getPet", read({ getPetDeprecation: announceOnly }))).not.toContain("410")
    expect(statuses("getPet", read({ getPetDeprecation: notFound }))).not.toContain("410")
  })
})

describe("the schemas", () => {
  it("write the bounds of int64 with all their digits", () => {
    const text = OpenApi.json(options())
    expect(text).toContain(`"minimum":${Int64.min},"maximum":${Int64.max}`)
    expect(at(OpenApi.document(options()), "components", "schemas", "Int64")).toMatchObject({
      type: "integer",
      format: "int64",
      minimum: Int64.min,
      maximum: Int64.max
    })
  })

  it("use the one Int64 wherever the contract says int64", () => {
    const ref = { $ref: "#/components/schemas/Int64" }
    expect(at(schema("NewPet"), "properties").categoryId).toEqual(ref)
    expect(at(schema("Pet"), "properties")).toMatchObject({ id: ref, categoryId: ref })
  })

  it("let a new animal come without a status and say which one it gets", () => {
    expect(schema("NewPet").required).toEqual(["name", "categoryId"])
    expect(at(schema("NewPet"), "properties", "status")).toEqual({
      $ref: "#/components/schemas/PetStatus",
      default: PetStatus.initial
    })
  })

  it("give a Pet every field of NewPet and an id, all required", () => {
    const fields = Object.keys(at(schema("NewPet"), "properties"))
    expect(Object.keys(at(schema("Pet"), "properties"))).toEqual(["id", ...fields])
    expect(schema("Pet").required).toEqual(["id", ...fields])
  })

  it("make Pets a bare array of Pet", () => {
    expect(schema("Pets")).toMatchObject({ type: "array", items: { $ref: "#/components/schemas/Pet" } })
  })

  it("make Error exactly code, message and status, with the closed set of codes", () => {
    expect(schema("Error")).toMatchObject({
      required: ["code", "message", "status"],
      additionalProperties: false
    })
    expect(Object.keys(at(schema("Error"), "properties"))).toEqual(["code", "message", "status"])
    expect(at(schema("Error"), "properties", "code").enum).toEqual(codes)
  })

  it("close NewPet to unknown fields only when the service is strict", () => {
    const strict = read({ strict: true })
    expect(schema("NewPet").additionalProperties).toBe(true)
    expect(schema("NewPet", strict).additionalProperties).toBe(false)
    expect(schema("Pet", strict)).toEqual(schema("Pet"))
  })
})

describe("the options", () => {
  const urls = (given: Partial<ServiceOptions>) =>
    Object.values(at(read(given), "servers")).map((server) => at({ server }, "server").url)

  it("decide on the servers", () => {
    expect(urls({})).toEqual(["/v1"])
    expect(urls({ basePath: "" })).toEqual(["/"])
    expect(urls({ publicBaseUrl: "https://a.example/v1/" })).toEqual(["https://a.example/v1"])
    expect(urls({ publicBaseUrl: "https://a.example/v1", stagingBaseUrl: "https://b.example/v1" })).toEqual([
      "https://a.example/v1",
      "https://b.example/v1"
    ])
    expect(urls({ stagingBaseUrl: "https://b.example/v1" })).toEqual(["/v1", "https://b.example/v1"])
  })

  it("set the largest body that createPet tells", () => {
    const body = at(operation(read({ maxBodyBytes: 1234 }), "createPet"), "requestBody")
    expect(body).toMatchObject({ required: true, description: expect.stringContaining("1234 bytes") })
  })
})

it("names the numbers of every plan", () => {
  const { description } = at(document, "components", "headers", "X-RateLimit-Limit")
  for (const name of Plan.names) expect(description).toContain(name)
  for (const { perDay, perMinute } of Object.values(Plan.standard)) {
    expect(description).toContain(`${perMinute} a minute and ${perDay} a day`)
  }
})

it("says which interface it describes, in which version and under which licence", () => {
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: "Animal Store Service", version: "1.0.0", license: { name: "MIT" } }
  })
})
