import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Deprecation from "../deprecation/Deprecation.ts"
import {
  dying,
  enterprise,
  failing,
  newPet,
  open,
  type Sent,
  type Setup,
  stocked,
  sunset,
  type TestResponse,
  unlimited
} from "../service/Service.fixture.ts"

/** Opens a store with an unlimited key, and returns a function that sends requests with this key. */
const client = Effect.fnUntraced(function* (setup: Setup = {}) {
  const store = yield* open(setup)
  const { secret } = yield* store.issue(unlimited)
  return (sent: Sent = {}) => store.send({ ...sent, key: secret })
})

const post = (body: string | Uint8Array, type: string | undefined = "application/json"): Sent => ({
  method: "POST",
  body,
  headers: type === undefined ? [] : [["Content-Type", type]]
})

const valid = '{"name":"Rex","categoryId":7}'

describe("createPet", () => {
  it.effect("returns 201 with the animal and its Location; listPets and getPet return it immediately", () =>
    Effect.gen(function* () {
      const send = yield* client()
      const created = yield* send(post(valid))
      const pet = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}'
      expect([created.status, created.body, created.header("Location")]).toEqual([201, pet, "/v1/pets/1"])
      expect((yield* send()).body).toBe(`[${pet}]`)
      expect((yield* send({ target: created.header("Location") ?? "" })).body).toBe(pet)
    })
  )

  const accepted = [
    ...[
      "application/json",
      "Application/JSON",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8"
    ],
    ...['application/json; charset="utf-8"', "application/json ;\tcharset=Utf-8"],
    ...["application/json;", "application/json; ", "application/json ; ;;\t; charset=utf-8 ; ;"],
    ...["application/json;;charset=utf-8", "application/json; ;charset=utf-8"]
  ]
  const unsupported = [
    ...["", "text/plain", "application/jsonx", "application/ld+json", "application/json; charset=latin1"],
    ...["application/json; charset=utf-16", "application/json, text/plain", "application/json; profile=x"],
    ...[
      "application/json charset=utf-8",
      "application/json; charset=utf-8 charset=utf-8",
      ";",
      "application/json; x"
    ],
    ...["application/x-www-form-urlencoded", "multipart/form-data", "text/json", "application", "*/*"]
  ]

  it.effect("accepts only bodies of type application/json in UTF-8", () =>
    Effect.gen(function* () {
      const send = yield* client()
      for (const type of accepted)
        expect([type, (yield* send(post(valid, type))).status]).toEqual([type, 201])
      for (const type of unsupported) {
        const response = yield* send(post(valid, type))
        expect([type, response.status, response.code]).toEqual([type, 415, "unsupported_media_type"])
        expect(response.header("Accept")).toBe("application/json")
      }
      expect((yield* send({ method: "POST", body: valid })).status).toBe(415)
      const twice: Sent = {
        ...post(valid),
        headers: [
          ["Content-Type", "application/json"],
          ["Content-Type", "application/json"]
        ]
      }
      expect((yield* send(twice)).status).toBe(415)
    })
  )

  it.effect("returns 415 with Accept-Encoding: identity for every content coding", () =>
    Effect.gen(function* () {
      const send = yield* client()
      for (const coding of ["gzip", "deflate", "br", "zstd", "gzip, identity"]) {
        const sent = post(valid)
        const response = yield* send({
          ...sent,
          headers: [...(sent.headers ?? []), ["Content-Encoding", coding]]
        })
        expect([response.status, response.header("Accept-Encoding")]).toEqual([415, "identity"])
      }
    })
  )

  it.effect("accepts a body of exactly the maximum size, and rejects a body that is one byte larger", () =>
    Effect.gen(function* () {
      for (const [options, limit] of [
        [{}, 65_536],
        [{ maxBodyBytes: 100 }, 100]
      ] as const) {
        const send = yield* client({ options })
        expect((yield* send(post(valid.padEnd(limit)))).status).toBe(201)
        const response = yield* send(post(valid.padEnd(limit + 1)))
        expect([response.status, response.code]).toEqual([413, "payload_too_large"])
        expect(response.json).toMatchObject({ message: expect.stringContaining(`${limit} bytes`) })
        // This name has two bytes per character; the limit counts bytes.
        const name = "\u00e9".repeat(30)
        expect((yield* send(post(`{"name":"${name}","categoryId":1}`.padEnd(limit - 30)))).status).toBe(201)
        expect((yield* send(post(`{"name":"${name}","categoryId":1}`.padEnd(limit - 29)))).status).toBe(413)
      }
    })
  )

  it.effect(
    "ignores query parameters, but rejects malformed encodings and, in strict mode, any parameter",
    () =>
      Effect.gen(function* () {
        const send = yield* client()
        expect((yield* send({ ...post(valid), target: "/v1/pets?x=1&limit=0" })).status).toBe(201)
        expect((yield* send({ ...post(valid), target: "/v1/pets?x=%zz" })).code).toBe("invalid_parameter")
        const strict = yield* client({ options: { strict: true } })
        expect((yield* strict({ ...post(valid), target: "/v1/pets?x=1" })).code).toBe("invalid_parameter")
        expect((yield* strict()).body).toBe("[]")
      })
  )
})

describe("listPets", () => {
  it.effect("returns JSON even if the Accept header names another type", () =>
    Effect.gen(function* () {
      const send = yield* client()
      const response = yield* send({ headers: [["Accept", "application/xml"]] })
      expect([response.status, response.header("Content-Type")]).toEqual([
        200,
        "application/json; charset=utf-8"
      ])
    })
  )

  it.effect("accepts an unmodified cursor only with the same filter and service, but with any limit", () =>
    Effect.gen(function* () {
      const send = yield* client({ pets: stocked(90) })
      const cursorOf = ({ next }: TestResponse) =>
        new URLSearchParams(next?.split("?")[1]).get("cursor") ?? ""
      const all = cursorOf(yield* send({ target: "/v1/pets?limit=3" }))
      const sold = cursorOf(yield* send({ target: "/v1/pets?limit=3&status=sold" }))
      const status = (query: string) =>
        Effect.map(send({ target: `/v1/pets?${query}` }), (response) => response.status)
      expect(yield* status(`cursor=${all}`)).toBe(200)
      expect(yield* status(`cursor=${all}&limit=100`)).toBe(200)
      expect(yield* status(`status=sold&cursor=${sold}`)).toBe(200)
      expect(yield* status(`cursor=${all}&status=sold`)).toBe(400)
      expect(yield* status(`cursor=${sold}`)).toBe(400)
      expect(yield* status(`cursor=${sold}&status=pending`)).toBe(400)
      expect(yield* status(`cursor=${all}&cursor=${all}`)).toBe(400)
      expect(yield* status(`cursor=${all.toUpperCase()}0`)).toBe(400)
      const sendToOther = yield* client({ pets: stocked(90) })
      expect((yield* sendToOther({ target: `/v1/pets?cursor=${all}` })).status).toBe(400)
    })
  )

  it.effect.each([
    { options: { cursorKey: new Uint8Array(32).fill(7) } },
    { cursorKey: new Uint8Array(32).fill(7) }
  ])("accepts a cursor of another service that has the same cursor key: %o", (shared) =>
    Effect.gen(function* () {
      const setup = { ...shared, pets: stocked(30) }
      const first = yield* client(setup)
      const second = yield* client(setup)
      const { next } = yield* first()
      expect((yield* second({ target: next ?? "" })).body).toBe((yield* first({ target: next ?? "" })).body)
    })
  )

  it.effect("uses the cursorKey option instead of the key of the stores", () =>
    Effect.gen(function* () {
      const cursorKey = new Uint8Array(32).fill(7)
      const first = yield* client({
        options: { cursorKey },
        cursorKey: new Uint8Array(32),
        pets: stocked(30)
      })
      const second = yield* client({ cursorKey, pets: stocked(30) })
      const { next } = yield* first()
      expect((yield* second({ target: next ?? "" })).status).toBe(200)
    })
  )

  it.effect(
    "returns absolute URLs in Link and Location if publicBaseUrl is set, regardless of the Host header",
    () =>
      Effect.gen(function* () {
        for (const publicBaseUrl of ["https://api.example/shop/v1", "https://api.example/shop/v1/"]) {
          const send = yield* client({ options: { publicBaseUrl }, pets: stocked(30) })
          const headers: Sent["headers"] = [
            ["Host", "evil.example"],
            ["X-Forwarded-Host", "evil.example"]
          ]
          const listed = yield* send({ headers, target: "http://evil.example/v1/pets?status=sold&limit=2" })
          expect(listed.next).toMatch(
            /^https:\/\/api\.example\/shop\/v1\/pets\?limit=2&status=sold&cursor=[0-9a-f]+$/
          )
          const created = yield* send({ headers, method: "POST", json: newPet })
          expect(created.header("Location")).toBe("https://api.example/shop/v1/pets/31")
          const fetched = yield* send({ headers, target: "/v1/pets/1" })
          expect(fetched.header("Link")).toBe('<https://api.example/shop/v1/pets>; rel="successor-version"')
        }
      })
  )
})

describe("getPet", () => {
  const deprecationHeaders: ReadonlyArray<readonly [name: string, value: string]> = [
    ["Deprecation", "@1795132800"],
    ["Sunset", "Thu, 05 Dec 2030 00:00:00 GMT"],
    ["Link", '</v1/pets>; rel="successor-version"']
  ]
  const deprecationHeadersOf = (response: TestResponse) =>
    deprecationHeaders.map(([name]) => [name, response.header(name)])

  it.effect(
    "sends the deprecation headers on every response: 200, 400, 401, 404, 429, 500, 503, 410, for GET and HEAD",
    () =>
      Effect.gen(function* () {
        const statuses = new Set<number>()
        const observe = (response: TestResponse) => {
          expect(deprecationHeadersOf(response)).toEqual(deprecationHeaders)
          statuses.add(response.status)
        }
        for (const method of ["GET", "HEAD"]) {
          const store = yield* open({ pets: stocked(1) })
          const { secret: key } = yield* store.issue(enterprise(5, 1000))
          const get = (sent: Sent) =>
            Effect.map(store.send({ target: "/v1/pets/1", method, ...sent }), observe)
          yield* get({})
          yield* get({ key })
          yield* get({ key, target: "/v1/pets/2" })
          yield* get({ key, target: "/v1/pets/x" })
          yield* get({ key, target: "/v1/pets/1?x=%zz" })
          yield* TestClock.setTime(sunset)
          yield* get({ key })
          for (let count = 0; count < 5; count++) yield* get({ key })
          for (const pets of [failing, dying]) {
            const broken = yield* open({ pets })
            const { secret } = yield* broken.issue("Free")
            observe(yield* broken.send({ key: secret, target: "/v1/pets/1", method }))
          }
        }
        expect([...statuses].sort()).toEqual([200, 400, 401, 404, 410, 429, 500, 503])
      })
  )

  it.effect("is the only operation with deprecation headers", () =>
    Effect.gen(function* () {
      const send = yield* client({ pets: stocked(30) })
      const others: ReadonlyArray<Sent> = [
        {},
        { method: "POST", json: newPet },
        { method: "DELETE", target: "/v1/pets/1" },
        { method: "OPTIONS", target: "/v1/pets/1" },
        { target: "/v1/nothing" },
        { target: "/livez" }
      ]
      for (const sent of others) {
        const response = yield* send(sent)
        expect([response.header("Deprecation"), response.header("Sunset")]).toEqual([undefined, undefined])
        expect(response.all("Link").join()).not.toContain("successor-version")
      }
    })
  )

  it.effect.each([
    ["gone", 410, "operation_removed", undefined],
    ["not-found", 404, "not_found", undefined],
    ["announce-only", 200, undefined, "/v1/pets/2"]
  ] as const)(
    "with afterSunset %s, returns %i from the exact millisecond of the sunset",
    ([afterSunset, status, code, location]) =>
      Effect.gen(function* () {
        const send = yield* client({
          options: { getPetDeprecation: { ...Deprecation.getPet, afterSunset } },
          pets: stocked(1)
        })
        yield* TestClock.setTime(sunset - 1)
        expect((yield* send({ target: "/v1/pets/1" })).status).toBe(200)
        expect((yield* send({ method: "POST", json: newPet })).header("Location")).toBe("/v1/pets/2")
        for (const now of [sunset, sunset + 1, sunset + 1e12]) {
          yield* TestClock.setTime(now)
          const response = yield* send({ target: "/v1/pets/1" })
          expect([response.status, response.code]).toEqual([status, code])
          expect(deprecationHeadersOf(response)).toEqual(deprecationHeaders)
          expect((yield* send()).status).toBe(200)
        }
        const created = yield* send({ method: "POST", json: newPet })
        expect(created.status).toBe(201)
        expect(created.header("Location")).toBe(location === undefined ? undefined : "/v1/pets/3")
      })
  )

  it.effect("returns 410 after its sunset even while the animal store is unavailable", () =>
    Effect.gen(function* () {
      const send = yield* client({ pets: failing })
      yield* TestClock.setTime(sunset)
      expect((yield* send({ target: "/v1/pets/1" })).status).toBe(410)
      expect((yield* send({ target: "/v1/pets/x" })).status).toBe(410)
    })
  )

  it.effect("returns 200 and appears in Location before its deprecation is announced", () =>
    Effect.gen(function* () {
      const getPetDeprecation = { ...Deprecation.getPet, announcedAt: Date.UTC(2028, 0, 1) }
      const send = yield* client({ options: { getPetDeprecation } })
      const created = yield* send({ method: "POST", json: newPet })
      expect(created.header("Location")).toBe("/v1/pets/1")
      expect((yield* send({ target: "/v1/pets/1" })).status).toBe(200)
    })
  )

  it.effect("uses the configured dates of the announcement and the sunset", () =>
    Effect.gen(function* () {
      const announcedAt = Date.UTC(2026, 0, 1)
      const sunsetAt = Date.UTC(2027, 5, 1)
      const send = yield* client({
        options: { getPetDeprecation: { announcedAt, sunsetAt, afterSunset: "gone" } },
        pets: stocked(1)
      })
      const response = yield* send({ target: "/v1/pets/1" })
      expect(response.header("Deprecation")).toBe(`@${announcedAt / 1000}`)
      expect(response.header("Sunset")).toBe("Tue, 01 Jun 2027 00:00:00 GMT")
      yield* TestClock.setTime(sunsetAt)
      expect((yield* send({ target: "/v1/pets/1" })).status).toBe(410)
    })
  )
})
