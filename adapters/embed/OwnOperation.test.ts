/** Checks operations of a host: the same keys, limits, validation and description as the operations of the contract. */
import { EventEmitter, once } from "node:events"
import * as Schema from "effect/Schema"
import { afterEach, describe, expect, expectTypeOf, it } from "vitest"
import * as z from "zod"
import { at, type Node, operation, resolve } from "../../core/openapi/OpenApi.fixture.ts"
import {
  type AnimalStore,
  type AnimalStoreOptions,
  defineOperation,
  openAnimalStore,
  StoreUnavailable
} from "./index.ts"

const Order = z.object({ id: z.string(), petId: z.number(), note: z.string().optional() })

const orders = new Map([["o1", { id: "o1", petId: 1, secret: "hidden" }]])

const listOrders = defineOperation({
  id: "listOrders",
  method: "GET",
  path: "/orders",
  query: z.object({
    limit: z.int().max(50).default(20).describe("Maximum number of orders."),
    isPaid: z.boolean().optional()
  }),
  success: { body: z.object({ limit: z.number(), isPaid: z.boolean().optional() }) },
  run: ({ query }) => {
    expectTypeOf(query).toEqualTypeOf<{ limit: number; isPaid?: boolean | undefined }>()
    return { body: query }
  }
})

const createOrder = defineOperation({
  id: "createOrder",
  method: "POST",
  path: "/orders",
  summary: "Add an order",
  body: {
    type: "object",
    properties: {
      petId: { type: "integer", minimum: 1 },
      note: { type: "string", maxLength: 20 },
      tags: { type: "array", items: { $ref: "#/$defs/Tag" } }
    },
    required: ["petId"],
    additionalProperties: false,
    $defs: { Tag: { enum: ["gift", "urgent"] } }
  },
  success: { status: 201, body: Order },
  run: async ({ body, caller, header }) => {
    expectTypeOf(body.petId).toEqualTypeOf<number>()
    expectTypeOf(body.note).toEqualTypeOf<string | undefined>()
    const note = `${caller.label} ${caller.account} ${caller.metadata?.crm} ${header("X-Note")}`
    return { body: { id: "o2", petId: body.petId, note }, headers: { Location: "/v1/orders/o2" } }
  }
})

const getOrder = defineOperation({
  id: "getOrder",
  method: "GET",
  path: "/orders/{orderId}",
  success: { body: Order },
  errors: ["order_unknown", "not_found"],
  run: ({ error, params }) => {
    expectTypeOf(params).toEqualTypeOf<{ readonly orderId: string }>()
    const order = orders.get(params.orderId)
    // @ts-expect-error only declared codes
    if (params.orderId === "nowhere") throw error("order_missing")
    if (order === undefined) throw error("order_unknown", `There is no order ${params.orderId}.`)
    return { body: order }
  }
})

const cancelOrder = defineOperation({
  id: "cancelOrder",
  method: "DELETE",
  path: "/orders/{orderId}",
  success: {},
  run: async ({ params }) => {
    if (params.orderId === "broken") throw new Error("the disk is gone")
  }
})

const errors = { order_unknown: { status: 404, meaning: "There is no such order." } }
const operations = [listOrders, createOrder, getOrder, cancelOrder]

const opened: Array<AnimalStore> = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

const open = async (options: AnimalStoreOptions = { operations, errors }) => {
  const log: Array<string> = []
  const store = await openAnimalStore({ log: (line) => log.push(line), ...options })
  opened.push(store)
  const { key } = await store.keys.issue({
    ...{ plan: "Pro", label: "shop", account: "acme", metadata: { crm: 7 } }
  })
  const send = async (method: string, path: string, body?: unknown, headers = {}) => {
    const init = {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    }
    const response = await store.fetch(new Request(`http://localhost${path}`, init))
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text || "null") }
  }
  return { key, log, send, store }
}

const readDocument = async (store: AnimalStore): Promise<Node> =>
  JSON.parse(await (await store.fetch(new Request("http://localhost/openapi.json"))).text())

/** Opens a store with one operation whose `run` returns or throws anything. */
const openWith = (run: () => unknown, body?: z.ZodType) =>
  open({
    operations: [
      defineOperation({
        id: "anything",
        method: "GET",
        path: "/anything",
        success: { body },
        run: run as () => { body: unknown }
      })
    ],
    errors
  })

describe("an operation of a host", () => {
  it("is behind the keys and the limits of the service", async () => {
    const { send, store } = await open()
    const anonymous = await store.fetch(new Request("http://localhost/v1/orders/o1"))
    expect(anonymous.status).toBe(401)
    const response = await send("GET", "/v1/orders/o1")
    expect(response.headers.get("X-RateLimit-Limit")).toBe("300")
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("299")
    expect((await send("GET", "/v1/pets")).headers.get("X-RateLimit-Remaining")).toBe("298")
  })

  it("counts as several requests if it costs more", async () => {
    const { send, store } = await open({ operations: [{ ...cancelOrder, cost: 250 }] })
    const remaining = async (method: string) =>
      (await send(method, "/v1/orders/o1")).headers.get("X-RateLimit-Remaining")
    expect([await remaining("DELETE"), await remaining("PUT")]).toEqual(["50", "49"])
    expect((await send("DELETE", "/v1/orders/o1")).json.code).toBe("rate_limit_exceeded")
    const document = await readDocument(store)
    expect(operation(document, "cancelOrder").description).toBe("A request counts as 250 requests.")
    const free = await store.keys.issue({ plan: "Free" })
    const headers = { Authorization: `Bearer ${free.key}` }
    const whole = await store.fetch(new Request("http://x/v1/orders/o1", { method: "DELETE", headers }))
    expect([whole.status, whole.headers.get("X-RateLimit-Remaining")]).toEqual([204, "0"])
  })

  it("returns what the validator of the response returns", async () => {
    const { send } = await open()
    expect((await send("GET", "/v1/orders/o1")).json).toEqual({ id: "o1", petId: 1 })
  })

  it("gets the validated body, the caller and the headers", async () => {
    const { send } = await open()
    const created = await send("POST", "/v1/orders", { petId: 7 }, { "X-Note": "now" })
    expect([created.status, created.json]).toEqual([201, { id: "o2", petId: 7, note: "shop acme 7 now" }])
    expect(created.headers.get("Location")).toBe("/v1/orders/o2")
  })

  it("rejects an invalid body with all fields and reasons", async () => {
    const { send } = await open()
    const { json } = await send("POST", "/v1/orders", {
      petId: 0,
      note: "x".repeat(21),
      tags: ["late"],
      extra: 1
    })
    expect((await send("POST", "/v1/orders", {})).json.message).toBe(
      "The body is invalid: petId: is required."
    )
    expect(json).toMatchObject({ code: "invalid_body", status: 400 })
    for (const name of ["petId: ", "note: ", "tags.0: ", "extra: is not a known field"])
      expect(json.message).toContain(name)
    expect((await send("POST", "/v1/orders", "{")).json.code).toBe("invalid_json")
    expect((await send("POST", "/v1/orders", {}, { "Content-Type": "text/plain" })).status).toBe(415)
  })

  it("rejects a number beyond a double, also where null and texts are allowed", async () => {
    const number = { type: ["number", "string", "null"] }
    const { send } = await open({
      operations: [
        defineOperation({
          id: "weigh",
          method: "POST",
          path: "/weights",
          body: { type: "object", properties: { grams: number }, required: ["grams"] },
          success: { body: { type: "object" } },
          run: ({ body }) => ({ body: body as object })
        })
      ]
    })
    expect((await send("POST", "/v1/weights", '{"grams":1e308}')).text).toBe('{"grams":1e+308}')
    for (const grams of ["1e400", "-1e309"]) {
      const { json } = await send("POST", "/v1/weights", `{"grams":${grams}}`)
      expect(json.message).toBe("The body is invalid: grams: is beyond the range of a double.")
    }
  })

  it("converts query parameters to the types of their schemas", async () => {
    const { send } = await open()
    expect((await send("GET", "/v1/orders?limit=3&isPaid=true")).json).toEqual({ limit: 3, isPaid: true })
    expect((await send("GET", "/v1/orders")).json).toEqual({ limit: 20 })
    const { json } = await send("GET", "/v1/orders?limit=51&isPaid=maybe")
    expect(json.code).toBe("invalid_parameter")
    expect(json.message).toMatch(/limit: .*; isPaid: /)
    expect((await send("GET", "/v1/orders?limit=1&limit=2")).json.message).toBe(
      "limit: must not be repeated."
    )
  })

  it("has 405, HEAD and OPTIONS", async () => {
    const { send } = await open()
    const rejected = await send("PUT", "/v1/orders/o1", {})
    expect([rejected.status, rejected.headers.get("Allow")]).toEqual([405, "GET, HEAD, DELETE, OPTIONS"])
    expect(await send("HEAD", "/v1/orders/o1")).toMatchObject({ status: 200, text: "" })
    expect((await send("OPTIONS", "/v1/orders")).headers.get("Allow")).toBe("GET, HEAD, POST, OPTIONS")
    expect(await send("DELETE", "/v1/orders/o1")).toMatchObject({ status: 204, text: "" })
  })

  it("throws an error with a declared code for a response with its status", async () => {
    const { send } = await open()
    expect((await send("GET", "/v1/orders/o9")).json).toEqual({
      code: "order_unknown",
      message: "There is no order o9.",
      status: 404
    })
  })

  it.each([
    ["throws", () => Promise.reject(new Error("the disk is gone")), "the disk is gone"],
    ["throws no error", () => Promise.reject(undefined), "anything threw undefined"],
    ["returns an invalid body", () => ({ body: { id: 7 } }), "anything returned an invalid body: id: "],
    ["returns no body", () => undefined, "anything returned an invalid body"],
    ["returns an error status", () => ({ status: 404, body: {} }), "the status 404"],
    ["returns 204 with a body", () => ({ status: 204, body: {} }), "the status 204"],
    ["returns a header of the service", () => ({ headers: { Date: "x" }, body: {} }), 'the header \\"Date'],
    ["returns a header of the connection", () => ({ headers: { Trailer: "x" }, body: {} }), "Trailer"],
    ["returns headers that are no object", () => ({ headers: new Headers(), body: {} }), "headers that are"],
    ["returns `null` for the headers", () => ({ headers: null, body: {} }), "headers that are"],
    ["returns a coding", () => ({ headers: { "Content-Encoding": "gzip" }, body: {} }), "Content-Encoding"],
    ["returns a broken header", () => ({ headers: { "X-A": "a\r\nb" }, body: {} }), 'the header \\"X-A']
  ])("that %s is a logged 500", async (_, run, reason) => {
    const { log, send } = await openWith(run, Order)
    expect((await send("GET", "/v1/anything")).json).toMatchObject({ code: "internal_error", status: 500 })
    expect(log.join("\n")).toContain(reason)
  })

  it("that returns a body without a validator for it is a logged 500", async () => {
    const { log, send } = await openWith(() => ({ body: {} }))
    expect((await send("GET", "/v1/anything")).json.code).toBe("internal_error")
    expect(log.join("\n")).toContain("anything returned a body, which `success` does not declare")
  })

  it("that fails because its store is unavailable is a logged 503", async () => {
    const failure = new StoreUnavailable({ retryable: true, cause: new Error("connection lost") })
    const { log, send } = await openWith(() => Promise.reject(failure), Order)
    const { headers, json } = await send("GET", "/v1/anything")
    expect([json.code, headers.get("Retry-After")]).toEqual(["service_unavailable", "5"])
    expect(log.join("\n")).toContain("connection lost")
  })

  it("runs to its end if the client disconnects: its failure is logged, and close waits for it", async () => {
    const payment = new EventEmitter()
    const events: Array<unknown> = []
    const pay = defineOperation({
      id: "pay",
      method: "POST",
      path: "/payments",
      success: {},
      run: async ({ pets }) => {
        payment.emit("started")
        await once(payment, "completed")
        await pets.create({ name: "Rex", categoryId: 1n })
        events.push("stored")
        throw new Error("paid, but not noted")
      }
    })
    const onResponse: AnimalStoreOptions["onResponse"] = ({ status }) => void events.push({ status })
    const { key, log, store } = await open({ operations: [pay], onResponse })
    const controller = new AbortController()
    const init = {
      method: "POST",
      headers: { Authorization: `Bearer ${key}` },
      signal: controller.signal
    }
    const started = once(payment, "started")
    const response = store.fetch(new Request("http://localhost/v1/payments", init))
    await started
    controller.abort("gone")
    const closed = store.close().then(() => void events.push("closed"))
    payment.emit("completed")
    await expect(response).rejects.toBe("gone")
    await closed
    expect(events).toEqual(["stored", { status: undefined }, "closed"])
    expect(log.join("\n")).toContain("paid, but not noted")
  })

  it("does not run if the client disconnects before its body is complete", async () => {
    const bodies: Array<unknown> = []
    const note = defineOperation({
      id: "note",
      method: "POST",
      path: "/notes",
      body: { type: "object" },
      success: {},
      run: ({ body }) => void bodies.push(body)
    })
    const { key, store } = await open({ operations: [note] })
    const source = new EventEmitter()
    const body = new ReadableStream({ pull: () => void source.emit("read") }, { highWaterMark: 0 })
    const controller = new AbortController()
    const init = {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      signal: controller.signal,
      body,
      duplex: "half" as const
    }
    const reading = once(source, "read")
    const response = store.fetch(new Request("http://localhost/v1/notes", init))
    await reading
    controller.abort("gone")
    await expect(response).rejects.toBe("gone")
    expect(bodies).toEqual([])
  })

  it("that chooses a 503 causes no outage of the store", async () => {
    const { log, send, store } = await openWith(() => {
      throw store.error("service_unavailable", "The warehouse is closed.")
    })
    const { headers, json } = await send("GET", "/v1/anything")
    expect([json.message, headers.get("Retry-After")]).toEqual(["The warehouse is closed.", "5"])
    expect(log.join("\n")).not.toContain("database unavailable")
  })

  it("cannot choose a response whose headers only the service can send", async () => {
    const { log, send, store } = await openWith(() => {
      throw store.error("rate_limit_exceeded")
    })
    expect((await send("GET", "/v1/anything")).json.code).toBe("internal_error")
    expect(log.join("\n")).toContain("only the service sends the error code rate_limit_exceeded")
  })

  it("rejects any number of wrong values with a short message", async () => {
    const { send } = await open()
    const many = await send("POST", "/v1/orders", { petId: 1, tags: Array.from({ length: 5_000 }, () => 1) })
    expect(many.json.message).toMatch(/tags\.19: [^;]*; and 4980 more\.$/)
    const long = await send("POST", "/v1/orders", { petId: 1, ["😀".repeat(9_000)]: 1 })
    expect(long.json.message).toBe(`The body is invalid: ${"😀".repeat(100)}….`)
    const shifted = await send("POST", "/v1/orders", { petId: 1, [`a${"😀".repeat(9_000)}`]: 1 })
    expect(shifted.json.message).toBe(`The body is invalid: a${"😀".repeat(99)}….`)
  })

  it("may return 503 with a code of its own, which is no outage of the stores", async () => {
    const { log, send, store } = await open({
      operations: [
        defineOperation({
          id: "pay",
          method: "POST",
          path: "/payments",
          success: {},
          errors: ["provider_down"],
          run: ({ error }) => {
            throw error("provider_down")
          }
        })
      ],
      errors: { provider_down: { status: 503, meaning: "The provider is down.", retryable: true } }
    })
    for (let attempt = 0; attempt < 6; attempt++) {
      const { headers, json } = await send("POST", "/v1/payments")
      expect([json.code, json.status, headers.get("Retry-After")]).toEqual(["provider_down", 503, "5"])
    }
    expect((await store.fetch(new Request("http://localhost/readyz"))).status).toBe(200)
    expect(log.join("\n")).not.toContain("unavailable")
  })

  it("reads and creates animals without a count", async () => {
    const adopt = defineOperation({
      id: "adopt",
      method: "POST",
      path: "/adoptions",
      success: { status: 201, body: z.object({ id: z.bigint(), status: z.string() }) },
      run: async ({ pets }) => ({ body: await pets.create({ name: "Rex", categoryId: 2n ** 60n }) })
    })
    const { send } = await open({ operations: [adopt] })
    const { headers, text } = await send("POST", "/v1/adoptions")
    expect([text, headers.get("X-RateLimit-Remaining")]).toEqual(['{"id":1,"status":"available"}', "299"])
  })

  it("that throws an undeclared code is a logged 500", async () => {
    const lateStore: { error?: AnimalStore["error"] } = {}
    const { log, send, store } = await openWith(() => {
      throw lateStore.error?.("order_lost")
    })
    lateStore.error = store.error
    expect((await send("GET", "/v1/anything")).json.code).toBe("internal_error")
    expect(log.join("\n")).toContain("the error code order_lost is not declared")
    lateStore.error = () => store.error("order_unknown")
    expect((await send("GET", "/v1/anything")).json.code).toBe("order_unknown")
  })

  it("may return the ids of animals where a JSON Schema has integers", async () => {
    const getFirst = defineOperation({
      id: "getFirst",
      method: "GET",
      path: "/first",
      success: { body: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } },
      run: async ({ pets }) => ({ body: { id: (await pets.create({ name: "Rex", categoryId: 1n })).id } })
    })
    const { send } = await open({ operations: [getFirst] })
    expect((await send("GET", "/v1/first")).text).toBe('{"id":1}')
  })

  it("gets integers that a double cannot hold as bigints, and may return bigints", async () => {
    const int64 = z.union([z.int(), z.bigint()])
    const echo = defineOperation({
      id: "echo",
      method: "POST",
      path: "/echo",
      body: z.object({ value: int64 }),
      success: { status: 200, body: z.object({ value: int64, at: z.any(), none: z.null().optional() }) },
      run: ({ body }) => ({ body: { ...body, at: new Date(0), none: undefined } })
    })
    const { send } = await open({ operations: [echo] })
    const text = '{"value":9223372036854775807,"at":"1970-01-01T00:00:00.000Z"}'
    expect((await send("POST", "/v1/echo", '{"value":9223372036854775807}')).text).toBe(text)
    const { json } = await send("POST", "/v1/echo", '{"value":1.5}')
    expect(json.code).toBe("invalid_body")
  })

  it("may return what JSON.stringify converts, and animals, for a JSON Schema", async () => {
    const properties = { id: { type: "integer" }, at: { type: "string" }, note: { type: "string" } }
    const schema: { readonly [keyword: string]: unknown } = {
      type: "object",
      properties,
      additionalProperties: false
    }
    const { send, store } = await open({
      operations: [
        defineOperation({
          id: "first",
          method: "GET",
          path: "/first",
          success: { body: schema },
          run: async ({ pets }) => ({
            body: { id: (await pets.get(1n))?.id, at: new Date(0), note: undefined }
          })
        })
      ]
    })
    await store.pets.create({ name: "Rex", categoryId: 1n })
    expect((await send("GET", "/v1/first")).text).toBe('{"id":1,"at":"1970-01-01T00:00:00.000Z"}')
  })

  it("takes schemas of Effect", async () => {
    const schema = Schema.toStandardJSONSchemaV1(
      Schema.toStandardSchemaV1(Schema.Struct({ since: Schema.DateFromString }))
    )
    const { send, store } = await open({
      operations: [
        defineOperation({
          id: "since",
          method: "GET",
          path: "/since",
          query: schema,
          success: { body: schema },
          run: ({ query }) => {
            expectTypeOf(query.since).toEqualTypeOf<Date>()
            return { body: { since: query.since.toISOString() } }
          }
        })
      ]
    })
    const { json } = await send("GET", "/v1/since?since=2026-01-01")
    expect(json).toEqual({ since: "2026-01-01T00:00:00.000Z" })
    const document = await readDocument(store)
    expect(operation(document, "since").parameters).toMatchObject([{ name: "since", required: true }])
  })

  it("takes a validator that cannot describe itself", async () => {
    const plain = (validate: (value: unknown) => unknown) => ({
      "~standard": {
        version: 1 as const,
        vendor: "own",
        validate: async (value: unknown) => ({ value: validate(value) })
      }
    })
    const first = defineOperation({
      id: "first",
      method: "POST",
      path: "/first",
      query: plain((query) => query),
      body: plain((body) => body),
      success: { status: 200, body: plain((body) => body) },
      run: ({ body, query }) => ({ body: [query, body] })
    })
    const { send } = await open({ operations: [first] })
    expect((await send("POST", "/v1/first?a=1", { b: [2] })).json).toEqual([{ a: "1" }, { b: [2] }])
    expect((await send("POST", "/v1/first?a=1&a=2", {})).json.message).toBe(
      "The query string contains a repeated parameter."
    )
    await expect(open({ operations: [first], strict: true })).rejects.toThrow("first: query: with strict")
  })

  it("is in the OpenAPI document", async () => {
    const { store } = await open()
    const document = await readDocument(store)
    const create = operation(document, "createOrder")
    expect(create).toMatchObject({ summary: "Add an order", tags: ["orders"] })
    expect(at(create, "requestBody", "content", "application/json").schema).toEqual({
      $ref: "#/components/schemas/CreateOrderBody"
    })
    const body = resolve(document, "#/components/schemas/CreateOrderBody")
    expect(at(body, "properties", "tags").items).toEqual({ $ref: "#/components/schemas/CreateOrderBody_Tag" })
    expect(resolve(document, "#/components/schemas/CreateOrderBody_Tag")).toEqual({
      enum: ["gift", "urgent"]
    })
    expect(operation(document, "listOrders").parameters).toMatchObject([
      { name: "limit", in: "query", description: "Maximum number of orders." },
      { name: "isPaid", schema: { type: "boolean" } }
    ])
    const get = operation(document, "getOrder")
    expect(get.parameters).toMatchObject([{ name: "orderId", in: "path", required: true }])
    const notFound = at(get, "responses", "404")
    expect(Object.keys(at(notFound, "content", "application/json", "examples"))).toEqual([
      "not_found",
      "order_unknown"
    ])
    expect(at(document, "components", "schemas", "Error", "properties", "code").enum).toContain(
      "order_unknown"
    )
    expect(at(operation(document, "cancelOrder"), "responses", "204").content).toBeUndefined()
  })

  const define = (id: string, path: string, given: object = {}) =>
    defineOperation({ id, method: "GET", path, success: {}, run: () => undefined, ...given })

  it.each([
    ["its id is taken", [define("listPets", "/a")], "listPets: another operation has the id listPets"],
    [
      "its id differs from another one only in case",
      [define("listpets", "/a")],
      "listpets: another operation has the id listPets"
    ],
    ["its path is taken", [define("a", "/pets")], "a: listPets has the same method and path, GET /pets"],
    ["another name of a parameter", [define("a", "/pets/{id}")], "the parameter names of /pets/{petId}"],
    [
      "its path is that of a probe",
      [define("a", "/livez")],
      "a: the path /livez needs no key",
      { basePath: "" }
    ],
    ["its path is malformed", [define("a", "/a/:id")], "a: the path /a/:id must be like /orders/{orderId}"],
    ["clients remove a segment", [define("a", "/a/../b")], "the path /a/../b must be like"],
    ["its path repeats a parameter", [define("a", "/{x}/{x}")], "a: the path /{x}/{x} repeats a parameter"],
    [
      "an error code is not declared",
      [define("a", "/a", { errors: ["lost"] })],
      "error code lost is not declared"
    ],
    [
      "an error code has a status of the service",
      [define("a", "/a", { errors: ["invalid_api_key"] })],
      "a: only the service sends the error code invalid_api_key"
    ],
    ["a field is missing", [define("a", "/a", { run: undefined })], "a: must have the field run"],
    ["a field is unknown", [define("a", "/a", { sucess: {} })], "a: unknown field sucess"],
    [
      "a schema contains a bigint",
      [define("a", "/a", { query: { type: "integer", maximum: 5n } })],
      "a: query: the JSON Schema cannot be written as JSON"
    ],
    [
      "a schema has a mistake",
      [define("a", "/a", { query: { properties: { petId: { type: "intger" } } } })],
      "a: query: properties.petId.type: must be one of string, number, integer"
    ],
    ["a schema is an array", [define("a", "/a", { query: [] })], "a: query must be a Standard Schema"],
    [
      "a schema is a function",
      [define("a", "/a", { query: () => true })],
      "a: query must be a Standard Schema"
    ],
    ["a schema is a Map", [define("a", "/a", { query: new Map() })], "a: query must be a Standard Schema"],
    ["a GET has a body", [define("a", "/a", { body: {} })], "a: body is not for GET"],
    ["own errors are a Map", [], "errors: must be an object", { errors: new Map() }],
    ["own plans are a Map", [], "plans: must be an object", { plans: new Map() }],
    ["a keyword is unknown", [define("a", "/a", { query: { contains: {} } })], "a: query: "],
    ["204 has a body", [define("a", "/a", { success: { status: 204, body: {} } })], "status 204 has no body"],
    [
      "an own code is one of the service",
      [],
      "not_found is a code of the service",
      { errors: { not_found: {} } }
    ],
    [
      "an own code lacks a status",
      [],
      "lost: must have the field status",
      { errors: { lost: { meaning: "x" } } }
    ],
    ["an own status is reserved", [], "lost: status must be", { errors: { lost: { status: 429 } } }]
  ])("fails to open if %s", async (_, own, reason, options: object = {}) => {
    await expect(open({ operations: own, ...options })).rejects.toThrow(reason)
  })
})
