/** Checks that one record adds an operation, without any other change. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Json from "../codec/Json.ts"
import * as ApiError from "../errors/ApiError.ts"
import { at, operation } from "../openapi/OpenApi.fixture.ts"
import * as OpenApi from "../openapi/OpenApi.ts"
import { open, outage, type Setup, start, sunset, unlimited } from "../service/Service.fixture.ts"
import * as ServiceOptions from "../service/ServiceOptions.ts"
import * as Operation from "./Operation.ts"
import * as Operations from "./Operations.ts"

const nameBody: Operation.RequestBody<string> = {
  description: "The name",
  schema: { type: "string" },
  examples: { rex: "Rex" },
  decode: (bytes) => {
    const json = Json.parse(String.fromCharCode(...bytes))
    return Result.isSuccess(json) && typeof json.success === "string"
      ? Result.succeed(json.success)
      : Result.fail(ApiError.make("invalid_body", "The body must be a JSON string."))
  }
}

const renamePet = Operation.make({
  id: "renamePet",
  method: "PUT",
  path: "/pets/{petId}/name",
  summary: "Rename an animal",
  description: "Returns the name, repeated.",
  pathParameters: { petId: { description: "Identifier of the animal.", schema: { type: "string" } } },
  query: {
    times: {
      description: "How often.",
      schema: { type: "integer", minimum: 1 },
      decode: (text: string | undefined) =>
        text === undefined || /^[1-9]$/.test(text)
          ? Result.succeed(Number(text ?? "1"))
          : Result.fail("must be a digit from 1 to 9")
    }
  },
  body: nameBody,
  success: {
    status: 200,
    description: "The name, repeated.",
    schema: { type: "string" },
    examples: { rex: "RexRex" },
    headers: { "X-Length": { description: "Length of the name.", example: () => "6" } }
  },
  run: ({ body, path, query }) => {
    const name = body.repeat(query.times)
    return Effect.succeed({
      body: JSON.stringify(`${path.petId} ${name}`),
      headers: [["X-Length", String(name.length)]]
    })
  }
})

const countPets = Operation.make({
  id: "countPets",
  method: "GET",
  path: "/pets/count",
  summary: "Count the animals",
  description: "Counts up to 100.",
  removal: { policy: ({ getPetDeprecation }) => getPetDeprecation, successor: "/pets" },
  success: {
    status: 200,
    description: "The number.",
    schema: { type: "integer" },
    examples: { two: 2 }
  },
  run: ({ pets }) =>
    Effect.map(pets.page({ status: undefined, after: undefined, limit: 100 }), (animals) => ({
      body: String(animals.length)
    }))
})

const addName = Operation.make({
  id: "addName",
  method: "POST",
  path: "/names",
  summary: "Add a name",
  description: "Returns how the request is identified.",
  body: nameBody,
  success: { status: 200, description: "The identity.", schema: { type: "string" }, examples: { none: "" } },
  // Names are the same in upper and lower case.
  fingerprint: (name) => name.toLowerCase(),
  run: ({ once }) => Effect.succeed({ body: JSON.stringify(once ?? null) })
})

const confirmPet = Operation.make({
  id: "confirmPet",
  method: "POST",
  path: "/pets/confirmation",
  summary: "Confirm the animals",
  description: "Reads one page of animals.",
  success: { status: 204, description: "The animals are confirmed." },
  run: ({ pets }) => Effect.as(pets.page({ status: undefined, after: undefined, limit: 50 }), {})
})

const operations = [...Operations.all, renamePet, countPets, addName, confirmPet]

const target = "/v1/pets/7/name"
const renameRequest = (body: string) => ({
  method: "PUT",
  target,
  body,
  headers: [["Content-Type", "application/json"] as const]
})

describe("an operation that is added as one record", () => {
  it.effect("is routed, validated and executed", () =>
    Effect.gen(function* () {
      const store = yield* open({ operations })
      const { secret: key } = yield* store.issue(unlimited)
      const renamed = yield* store.send({ ...renameRequest('"Rex"'), key, target: `${target}?times=2` })
      expect([renamed.status, renamed.body, renamed.header("X-Length")]).toEqual([200, '"7 RexRex"', "6"])
      expect(renamed.rate.every(Number.isInteger)).toBe(true)
      const codes = [
        yield* store.send({ ...renameRequest('"Rex"'), key, target: `${target}?times=0` }),
        yield* store.send({ ...renameRequest("7"), key }),
        yield* store.send({ method: "PUT", target, body: '"Rex"', key }),
        yield* store.send({ ...renameRequest(`"${"x".repeat(70_000)}"`), key }),
        yield* store.send({ ...renameRequest('"Rex"'), key, target: "/v1/pets//name" })
      ].map(({ code }) => code)
      expect(codes).toEqual([
        "invalid_parameter",
        "invalid_body",
        "unsupported_media_type",
        "payload_too_large",
        "not_found"
      ])
    })
  )

  it.effect("returns 401, 405 and 429, and supports OPTIONS and HEAD", () =>
    Effect.gen(function* () {
      const store = yield* open({ operations })
      const { secret: key } = yield* store.issue({ plan: "Free", limits: { perMinute: 5 } })
      expect((yield* store.send(renameRequest('"Rex"'))).code).toBe("missing_api_key")
      const unsupported = yield* store.send({ key, target })
      expect([unsupported.status, unsupported.header("Allow")]).toEqual([405, "PUT, OPTIONS"])
      const options = yield* store.send({ key, target: "/v1/pets/count", method: "OPTIONS" })
      expect([options.status, options.header("Allow")]).toEqual([204, "GET, HEAD, OPTIONS"])
      const head = yield* store.send({ key, target: "/v1/pets/count", method: "HEAD" })
      expect([head.status, head.body]).toEqual([200, "0"])
      for (let count = 0; count < 2; count++) yield* store.send({ ...renameRequest('"Rex"'), key })
      expect((yield* store.send({ ...renameRequest('"Rex"'), key })).code).toBe("rate_limit_exceeded")
    })
  )

  it.effect(
    "follows the removal policy in its record, and its literal path takes precedence over a path parameter",
    () =>
      Effect.gen(function* () {
        const store = yield* open({ operations })
        const { secret: key } = yield* store.issue(unlimited)
        const counted = yield* store.send({ key, target: "/v1/pets/count" })
        expect([counted.body, counted.all("Link")]).toEqual(["0", ['</v1/pets>; rel="successor-version"']])
        const storeAfterSunset = yield* open({ operations, at: sunset })
        const { secret } = yield* storeAfterSunset.issue(unlimited)
        expect((yield* storeAfterSunset.send({ key: secret, target: "/v1/pets/count" })).code).toBe(
          "operation_removed"
        )
      })
  )

  it.effect("may succeed without a body; its success ends a failure of the stores, like any other", () =>
    Effect.gen(function* () {
      let isFailing = true
      const store = yield* open({
        operations,
        pets: (real) => ({
          ...real,
          page: (query) => (isFailing && query.limit > 1 ? Effect.fail(outage) : real.page(query))
        })
      })
      const { secret: key } = yield* store.issue(unlimited)
      const confirm = store.send({ method: "POST", target: "/v1/pets/confirmation", key })
      const ready = Effect.map(store.send({ target: "/readyz" }), ({ status }) => status)
      for (let count = 0; count < 5; count++) expect((yield* confirm).status).toBe(503)
      expect(yield* ready).toBe(503)
      isFailing = false
      const confirmed = yield* confirm
      expect([confirmed.status, confirmed.body, confirmed.header("Content-Type")]).toEqual([
        204,
        "",
        undefined
      ])
      expect(confirmed.rate.every(Number.isInteger)).toBe(true)
      expect(yield* ready).toBe(200)
      const responses = at(
        operation(JSON.parse(OpenApi.json(ServiceOptions.defaults, operations)), "confirmPet"),
        "responses"
      )
      expect(Object.keys(responses)).toContain("204")
      expect(at(responses, "204")).not.toHaveProperty("content")
    })
  )

  it("does not compile if it declares a body and returns none", () => {
    const forgetful = Operation.make({
      id: "forgetful",
      method: "GET",
      path: "/nothing",
      summary: "Forget the body",
      description: "Returns nothing.",
      success: { status: 200, description: "A text.", schema: { type: "string" }, examples: { none: "" } },
      // @ts-expect-error The response would be empty.
      run: () => Effect.succeed({})
    })
    expect(forgetful.success.schema).toBeDefined()
  })

  it.effect("does not exist on a service whose store lacks the method that it needs", () =>
    Effect.gen(function* () {
      const needy = [...Operations.all, { ...countPets, needs: "insertOnce" as const }]
      const pets: Setup["pets"] = ({ insertOnce: _, ...others }) => others
      for (const [setup, status] of [
        [{ operations: needy }, 200],
        [{ operations: needy, pets }, 404]
      ] as const) {
        const store = yield* open(setup)
        const { secret: key } = yield* store.issue(unlimited)
        expect((yield* store.send({ key, target: "/v1/pets/count" })).status).toBe(status)
        const { body } = yield* store.send({ target: "/openapi.json" })
        expect(body.includes("countPets")).toBe(status === 200)
      }
    })
  )

  it("is in the OpenAPI document", () => {
    const document = JSON.parse(OpenApi.json(ServiceOptions.defaults, operations))
    const renaming = operation(document, "renamePet")
    expect(at(document, "paths", "/pets/{petId}/name")).toMatchObject({ put: renaming })
    expect(renaming.parameters).toMatchObject([
      { name: "petId", in: "path" },
      { name: "times", in: "query" }
    ])
    expect(Object.keys(at(renaming, "responses"))).toEqual([
      "200",
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
    expect(at(renaming, "responses", "200", "headers", "X-Length")).toEqual({
      $ref: "#/components/headers/X-Length"
    })
    const counting = operation(document, "countPets")
    expect(counting.deprecated).toBe(true)
    expect(at(counting, "responses")).toHaveProperty("410")
  })
})

describe("an operation whose record has a fingerprint", () => {
  const addNameRequest = (body: string, ...keys: ReadonlyArray<string>) => ({
    method: "POST",
    target: "/v1/names",
    body,
    headers: [
      ["Content-Type", "application/json"] as const,
      ...keys.map((key) => ["Idempotency-Key", key] as const)
    ]
  })
  const withoutInsertOnce: Setup["pets"] = ({ find, insert, page }) => ({ find, insert, page })

  it.effect("gets the caller, key, fingerprint and time of a request with an Idempotency-Key", () =>
    Effect.gen(function* () {
      const store = yield* open({ operations })
      const { id, secret: key } = yield* store.issue(unlimited)
      const identify = (body: string, ...keys: ReadonlyArray<string>) =>
        Effect.map(store.send({ ...addNameRequest(body, ...keys), key }), ({ json }) => json)
      const identified = yield* identify('"Rex"', '"first"')
      expect(identified).toEqual({
        caller: id,
        key: "first",
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        now: start
      })
      expect(yield* identify('"REX"', "first")).toEqual(identified)
      expect(yield* identify('"Tom"', "first")).not.toEqual(identified)
      expect(yield* identify('"Rex"')).toBe(null)
    })
  )

  it.effect("rejects an invalid Idempotency-Key; an operation without a fingerprint ignores it", () =>
    Effect.gen(function* () {
      const store = yield* open({ operations })
      const { secret: key } = yield* store.issue(unlimited)
      for (const invalid of ["", "a b", '"a', "x".repeat(256)]) {
        const rejected = yield* store.send({ ...addNameRequest('"Rex"', invalid), key })
        expect([rejected.status, rejected.code]).toEqual([400, "invalid_idempotency_key"])
        const sent = renameRequest('"Rex"')
        const headers = [...sent.headers, ["Idempotency-Key", invalid] as const]
        expect((yield* store.send({ ...sent, headers, key })).status).toBe(200)
      }
    })
  )

  it.effect.each([
    ["is off", { options: { idempotencyKeys: false } }],
    ["is on, but the store has no insertOnce", { pets: withoutInsertOnce }]
  ] as const)("ignores the header if the option %s, and is then documented without it", ([, setup]) =>
    Effect.gen(function* () {
      const store = yield* open({ operations, ...setup })
      const { secret: key } = yield* store.issue(unlimited)
      for (const value of ["first", '"'])
        expect((yield* store.send({ ...addNameRequest('"Rex"', value), key })).body).toBe("null")
      const create = { ...addNameRequest('{"name":"Rex","categoryId":1}', "a"), target: "/v1/pets", key }
      expect([yield* store.send(create), yield* store.send(create)].map(({ json }) => json)).toMatchObject([
        { id: 1 },
        { id: 2 }
      ])
      const { body } = yield* store.send({ target: "/openapi.json" })
      expect(body).not.toMatch(/Idempotency-/)
      for (const id of ["addName", "createPet"]) {
        expect(JSON.stringify(operation(JSON.parse(body), id))).not.toMatch(/idempotency/i)
      }
    })
  )

  it.effect("is documented with the header and its errors, unlike other operations", () =>
    Effect.gen(function* () {
      const store = yield* open({ operations })
      const document = JSON.parse((yield* store.send({ target: "/openapi.json" })).body)
      for (const id of ["addName", "createPet"]) {
        const { parameters, responses } = operation(document, id)
        expect(parameters).toMatchObject([{ name: "Idempotency-Key", in: "header" }])
        expect(Object.keys(at({ responses }, "responses"))).toEqual(expect.arrayContaining(["409", "422"]))
        expect(at({ responses }, "responses", id === "addName" ? "200" : "201", "headers")).toHaveProperty(
          "Idempotency-Replayed"
        )
      }
      for (const id of ["renamePet", "countPets", "listPets", "getPet"]) {
        const text = JSON.stringify(operation(document, id))
        expect(text).not.toMatch(/idempotency/i)
      }
    })
  )
})

describe("an operation that fails with a code of its own", () => {
  const failing = (code: string, errors: ReadonlyArray<string> = []) =>
    Operation.make({
      id: "fail",
      method: "GET",
      path: "/fail",
      summary: "Fail",
      description: "Fails.",
      success: { status: 204, description: "Never." },
      errors,
      run: () => Effect.fail(new ApiError.ApiError({ code, message: "It is gone." }))
    })
  const errors = { pet_lost: { status: 409, meaning: "The animal is lost." } }

  it.effect("has the status of the option `errors`", () =>
    Effect.gen(function* () {
      const store = yield* open({ operations: [failing("pet_lost", ["pet_lost"])], options: { errors } })
      const { secret: key } = yield* store.issue(unlimited)
      const { json, status } = yield* store.send({ target: "/v1/fail", key })
      expect([status, json]).toEqual([409, { code: "pet_lost", message: "It is gone.", status: 409 }])
    })
  )

  it.effect.each(["pet_lost", "constructor", "toString"])("is a logged 500 if %s is not declared", (code) =>
    Effect.gen(function* () {
      const store = yield* open({ operations: [failing(code)] })
      const { secret: key } = yield* store.issue(unlimited)
      expect((yield* store.send({ target: "/v1/fail", key })).code).toBe("internal_error")
      expect(store.logs.join("\n")).toContain(`undeclared error code`)
      expect(store.logs.join("\n")).toContain(code)
    })
  )
})
