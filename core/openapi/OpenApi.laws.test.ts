/** Checks that the OpenAPI document matches the service: it documents exactly the responses that occur. */
import { it as effect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as NewPetBody from "../codec/NewPetBody.ts"
import * as PetJson from "../codec/PetJson.ts"
import * as QueryParameters from "../codec/QueryParameters.ts"
import * as Page from "../domain/Page.ts"
import { Pet } from "../domain/Pet.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as ListPets from "../operations/ListPets.ts"
import {
  dying,
  failing,
  newPet,
  open,
  run,
  type Sent,
  stocked,
  sunset,
  TestResponse
} from "../service/Service.fixture.ts"
import { at, follow, isNode, operation, operations, read, validator } from "./OpenApi.fixture.ts"

const documentOf = (strict: boolean) => {
  const document = read({ strict })
  const compile = validator(document)
  const validatorFor = (schema: unknown) => {
    const validate = compile(schema)
    return (value: unknown) => validate(value)
  }
  return { strict, document, validatorFor, isNewPet: validatorFor({ $ref: "#/components/schemas/NewPet" }) }
}

type Documented = ReturnType<typeof documentOf>

const lenient = documentOf(false)
const strictness = fc.constantFrom(lenient, documentOf(true))

/** Returns the differences between `response` and its description in the document. */
const differencesFrom = (
  { document, validatorFor }: Documented,
  operationId: string,
  response: TestResponse
): ReadonlyArray<string> => {
  const documented = at(operation(document, operationId), "responses")[response.status]
  if (!isNode(documented)) return [`${response.status} is not documented`]
  const definition = follow(document, documented)
  const headers = at(definition, "headers")
  const differences: Array<string> = []
  for (const [name, value] of response.headers) {
    // OpenAPI documents Content-Type by the media type, not as a header.
    if (name === "Content-Type") continue
    const { schema } = follow(document, at(headers, name))
    if (schema === undefined) differences.push(`${name} is not documented`)
    else if (!validatorFor(schema)(at({ schema }, "schema").type === "integer" ? Number(value) : value)) {
      differences.push(`${name}: ${value} is not valid`)
    }
  }
  for (const [name, header] of Object.entries(headers)) {
    if (isNode(header) && follow(document, header).required === true && response.header(name) === undefined) {
      differences.push(`${name} is missing`)
    }
  }
  const { schema } = at(definition, "content", "application/json")
  if (!validatorFor(schema)(response.json)) differences.push(`the body is not valid: ${response.body}`)
  return differences
}

const names = fc.string({ unit: "binary", maxLength: 300 })

/** Bodies with valid, invalid and missing members. */
const bodies = fc.oneof(
  fc.record(
    {
      name: fc.oneof(
        names,
        fc.constantFrom("", " ", "\u3000", "a\0", "😀".repeat(255), "😀".repeat(256)),
        fc.integer()
      ),
      categoryId: fc.oneof(fc.maxSafeInteger(), fc.double(), fc.constantFrom(1e19, "1", null, true)),
      status: fc.oneof(fc.constantFrom(...PetStatus.all), fc.constantFrom("Sold", "", null, 1)),
      id: fc.integer(),
      color: fc.jsonValue()
    },
    { requiredKeys: [] }
  ),
  fc.jsonValue()
)

const queries = fc
  .dictionary(
    fc.constantFrom("limit", "status", "cursor", "other"),
    fc.oneof(
      fc.integer({ min: -1, max: 102 }).map(String),
      fc.constantFrom(...PetStatus.all),
      fc.constant("%zz")
    )
  )
  .map(
    (pairs) =>
      `?${Object.entries(pairs)
        .map(([name, value]) => `${name}=${value}`)
        .join("&")}`
  )

type OperationRequest = readonly [operationId: string, sent: Sent]

const targets = fc.tuple(queries, fc.oneof(fc.integer({ min: -1, max: 5 }).map(String), fc.constant("x")))

const operationRequests: fc.Arbitrary<OperationRequest> = fc.oneof(
  queries.map((query): OperationRequest => ["listPets", { target: `/v1/pets${query}` }]),
  targets.map(([query, id]): OperationRequest => ["getPet", { target: `/v1/pets/${id}${query}` }]),
  fc
    .tuple(queries, bodies)
    .map(
      ([query, json]): OperationRequest => ["createPet", { method: "POST", target: `/v1/pets${query}`, json }]
    ),
  fc
    .constantFrom<Sent>(
      { body: "{" },
      { body: "{}", headers: [["Content-Type", "text/plain"]] },
      { bodyConsumed: true, json: {} }
    )
    .map((sent): OperationRequest => ["createPet", { ...sent, method: "POST" }])
)

describe("the service", () => {
  it("returns only documented responses", () =>
    fc.assert(
      fc.asyncProperty(
        strictness,
        fc.array(fc.tuple(operationRequests, fc.constantFrom("valid", "valid", "valid", "invalid", "none"))),
        fc.boolean(),
        fc.integer({ min: 1, max: 20 }),
        async (documented, sequence, isAfterSunset, perMinute) => {
          const exchanges = await run(
            Effect.gen(function* () {
              const store = yield* open({ options: { strict: documented.strict }, pets: stocked(3) })
              if (isAfterSunset) yield* TestClock.setTime(sunset)
              const { secret } = yield* store.issue({ plan: "Free", limits: { perMinute } })
              const keys = { valid: secret, invalid: "invalid", none: undefined }
              return yield* Effect.forEach(sequence, ([[id, sent], key]) =>
                Effect.map(store.send({ ...sent, key: keys[key] }), (response) => ({ id, sent, response }))
              )
            })
          )
          for (const { id, response, sent } of exchanges) {
            expect(differencesFrom(documented, id, response), JSON.stringify(sent)).toEqual([])
          }
        }
      ),
      { numRuns: 100 }
    ))

  effect.effect("returns every status that the document lists", () =>
    Effect.gen(function* () {
      const requests: ReadonlyArray<
        readonly [operationId: string, valid: Sent, invalid: ReadonlyArray<Sent>]
      > = [
        ["listPets", {}, [{ target: "/v1/pets?limit=0" }]],
        [
          "createPet",
          { method: "POST", json: newPet },
          [
            { method: "POST", json: {} },
            { method: "POST", body: "{}" },
            { method: "POST", json: { ...newPet, name: "x".repeat(65_536) } }
          ]
        ],
        ["getPet", { target: "/v1/pets/1" }, [{ target: "/v1/pets/0" }, { target: "/v1/pets/1?%zz" }]]
      ]
      const seenStatuses = new Set<string>()
      const observe = (id: string, response: TestResponse) => {
        expect(differencesFrom(lenient, id, response), `${id} ${response.status}`).toEqual([])
        seenStatuses.add(`${id} ${response.status}`)
      }
      for (const [id, valid, invalid] of requests) {
        const store = yield* open({ pets: stocked(30) })
        const { secret } = yield* store.issue("Free")
        for (const sent of [valid, ...invalid]) observe(id, yield* store.send({ ...sent, key: secret }))
        observe(id, yield* store.send(valid))

        const limited = yield* store.issue({ plan: "Free", limits: { perMinute: 1 } })
        yield* store.send({ key: limited.secret })
        observe(id, yield* store.send({ ...valid, key: limited.secret }))

        for (const error of ["malformed_request", "request_timeout", "headers_too_large"] as const) {
          observe(id, new TestResponse(yield* store.service.transportError(error, "192.0.2.2"), undefined))
        }
        const failingStore = yield* open({ pets: failing })
        observe(id, yield* failingStore.send({ ...valid, key: (yield* failingStore.issue("Free")).secret }))
        const dyingStore = yield* open({ pets: dying })
        observe(id, yield* dyingStore.send({ ...valid, key: (yield* dyingStore.issue("Free")).secret }))
        const storeAfterSunset = yield* open()
        const { secret: secretAfterSunset } = yield* storeAfterSunset.issue("Free")
        yield* TestClock.setTime(sunset)
        observe(id, yield* storeAfterSunset.send({ ...valid, key: secretAfterSunset }))
      }
      for (const outcome of ["Mismatch", "InProgress"] as const) {
        const store = yield* open({
          pets: (real) => ({ ...real, insertOnce: () => Effect.succeed({ _tag: outcome }) })
        })
        const { secret } = yield* store.issue("Free")
        const headers: Sent["headers"] = [
          ["Content-Type", "application/json"],
          ["Idempotency-Key", "a"]
        ]
        const body = JSON.stringify(newPet)
        observe("createPet", yield* store.send({ method: "POST", headers, body, key: secret }))
      }
      const documentedStatuses = operations(lenient.document).flatMap(({ operation }) =>
        Object.keys(at(operation, "responses")).map((status) => `${operation.operationId} ${status}`)
      )
      expect([...seenStatuses].sort()).toEqual(documentedStatuses.sort())
    })
  )

  effect.effect("serves the OpenAPI document for its own options", () =>
    Effect.gen(function* () {
      const options = { strict: true, publicBaseUrl: "https://animals.example/v1" }
      const store = yield* open({ options })
      const responses = yield* Effect.replicateEffect(store.send({ target: "/openapi.json" }), 2)
      for (const response of responses) {
        expect(response.status).toBe(200)
        expect(response.json).toEqual(read(options))
      }
    })
  )
})

describe("the schemas", () => {
  const encoder = new TextEncoder()

  it("accept a new animal if and only if the service accepts it", () =>
    fc.assert(
      fc.property(strictness, bodies, ({ isNewPet, strict }, body) => {
        const isAccepted = Result.isSuccess(NewPetBody.decode(encoder.encode(JSON.stringify(body)), strict))
        expect(isNewPet(JSON.parse(JSON.stringify(body)))).toBe(isAccepted)
      }),
      { numRuns: 1_000 }
    ))

  it("accept a limit if and only if the service accepts it", () =>
    fc.assert(
      fc.property(
        strictness,
        fc.integer({ min: -5, max: Page.limit.max * 2 }),
        ({ document, strict, validatorFor }, limit) => {
          const parameters = Object.values(at(operation(document, "listPets"), "parameters"))
          const parameter = parameters.filter(isNode).find(({ name }) => name === "limit")
          const isAccepted = Result.isSuccess(
            QueryParameters.decode(ListPets.parameters, `limit=${limit}`, strict)
          )
          expect(validatorFor(parameter?.schema)(limit)).toBe(isAccepted)
        }
      )
    ))

  it("accept every animal that the service can store", () =>
    fc.assert(
      fc.property(
        strictness,
        fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.constantFrom(...PetStatus.all),
        ({ validatorFor }, id, categoryId, status) => {
          const json = PetJson.encode(new Pet(id, { name: "Rex", categoryId, status }))
          expect(validatorFor({ $ref: "#/components/schemas/Pet" })(JSON.parse(json))).toBe(true)
        }
      )
    ))
})
