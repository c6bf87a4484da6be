import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { bytes, type WireResponse } from "../http/Wire.ts"
import type { Exchange as AnyExchange } from "../model/Exchange.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import * as Redaction from "../subjects/Redaction.ts"
import * as Har from "./Har.ts"
import * as HarSchema from "./HarSchema.fixture.ts"
import { hostile } from "./Report.arbitrary.ts"
import { example } from "./Report.fixture.ts"

const origin = "http://127.0.0.1:3000"

type Exchange = AnyExchange & { readonly response: WireResponse }

const keyUnits = fc.constantFrom(..."0123456789ABCDEFabcdefxyz-_.~+/=:%&'\"\\|")
const secret = fc.string({ unit: keyUnits, minLength: 8, maxLength: 48 })

const target = fc.webPath().map((path) => `/v1${path}`)
const headers = fc.array(
  fc.tuple(fc.constantFrom("Accept", "Content-Type", "X-Request-Id", "Location"), hostile),
  {
    maxLength: 4
  }
)
const body = fc.oneof(
  hostile.map(bytes),
  fc.uint8Array({ maxLength: 50 }),
  fc.json({ maxDepth: 1 }).map(bytes)
)
const moment = fc.oneof(fc.integer({ min: 0, max: 2 ** 41 }), fc.constantFrom(-1, 8.7e15, 1.5))

const exchange: fc.Arbitrary<Exchange> = fc
  .record({
    did: hostile,
    method: fc.constantFrom("GET", "POST", "HEAD"),
    target,
    sent: headers,
    received: headers,
    sentBody: fc.option(body, { nil: undefined }),
    receivedBody: body,
    status: fc.integer({ min: 100, max: 599 }),
    from: moment,
    to: moment
  })
  .map(({ did, from, method, received, receivedBody, sent, sentBody, status, target, to }) => ({
    index: 0,
    did,
    request: { method, target, headers: sent, body: sentBody },
    response: { status, headers: received, body: receivedBody },
    from,
    to,
    isAlone: true
  }))

const server = HttpSubject.make({
  name: "server",
  transport: () => Effect.never,
  basePath: "/v1",
  baseUrl: `${origin}/v1`,
  keys: { main: "" }
})

/** Returns the server after a run with these exchanges. */
const after = (
  exchanges: ReadonlyArray<AnyExchange>,
  redact = Redaction.make({})
): HttpSubject.HttpSubject => ({ ...server, exchanges: [...exchanges], redact })

const archive = (exchanges: ReadonlyArray<Exchange>, redact?: (text: string) => string) =>
  Har.render(example, after(exchanges, redact))

/** Returns all texts in a value, including the names of members. */
const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)])
}

type Leak = (exchange: Exchange, key: string) => Exchange

const inRequest =
  (partsOf: (key: string, path: string) => Partial<Exchange["request"]>): Leak =>
  ({ request, ...others }, key) => ({
    ...others,
    request: { ...request, ...partsOf(key, request.target.split("?")[0] ?? "") }
  })

const inResponse =
  (partsOf: (key: string) => Partial<WireResponse>): Leak =>
  ({ response, ...others }, key) => ({ ...others, response: { ...response, ...partsOf(key) } })

/** Functions that put a key into an exchange, at various places and in various encodings. */
const leaks: ReadonlyArray<Leak> = [
  inRequest((key, path) => ({ target: `${path}?key=${encodeURIComponent(key)}` })),
  inRequest((key, path) => ({ target: `${path}/${key}?${key}=${key}` })),
  inRequest((key) => ({
    headers: [
      ["Authorization", `Bearer ${key}`],
      ["AUTHORIZATION", `Basic ${Buffer.from(`:${key}`).toString("base64")}`],
      ["X-Trace", key],
      [`X-${key}`, "1"]
    ]
  })),
  inRequest((key) => ({ body: bytes(JSON.stringify({ key })) })),
  inRequest((key) => ({ body: bytes(new URLSearchParams({ key }).toString()) })),
  (original, key) => ({ ...original, did: `GET /pets?key=${key}` }),
  inResponse((key) => ({
    headers: [
      ["Set-Cookie", `session=${key}`],
      ["Location", `/v1?k=${key}`],
      ["Content-Type", key]
    ]
  })),
  inResponse((key) => ({ body: bytes(JSON.stringify(JSON.stringify({ message: `no key ${key}` }))) })),
  inResponse((key) => ({ body: Buffer.concat([bytes(`<p>${key}`), Buffer.from([0xff, 0xfe])]) }))
]

/** The forms of a key that no text may contain. */
const formsOf = (key: string): ReadonlyArray<string> => [
  key,
  JSON.stringify(key).slice(1, -1),
  encodeURIComponent(key),
  Buffer.from(`:${key}`).toString("base64").replace(/=+$/, "").slice(2, -2)
]

describe("the archive of a run", () => {
  it("is valid HAR 1.2 for any requests and responses", () => {
    fc.assert(
      fc.property(fc.array(exchange, { maxLength: 5 }), (exchanges) => {
        const json = archive(exchanges)
        expect(HarSchema.parse(json).log.entries).toHaveLength(exchanges.length)
        expect(json).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|##vso\[/u)
      })
    )
  })

  it("contains no key of 8 characters or more, no matter where and in which encoding it was sent or returned", () => {
    fc.assert(
      fc.property(
        fc.array(exchange, { minLength: 1, maxLength: 3 }),
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(fc.constantFrom(...leaks), { minLength: 1, maxLength: 4 }),
        (exchanges, secrets, chosen) => {
          const leaky = exchanges.map((original) =>
            chosen.reduce(
              (spoiled, leak, index) => leak(spoiled, secrets[index % secrets.length] ?? ""),
              original
            )
          )
          const redact = Redaction.make(Object.fromEntries(secrets.map((key, at) => [`k${at}`, key])))
          const { log } = HarSchema.parse(archive(leaky, redact))
          const coincidences = new Set(
            textsOf(HarSchema.parse(archive(exchanges)).log).filter((text) =>
              secrets.some((key) => text.includes(key))
            )
          )
          const forms = secrets.flatMap(formsOf)
          const leaked = textsOf(log.entries).filter(
            (text) => !coincidences.has(text) && forms.some((form) => text.includes(form))
          )
          expect(leaked).toEqual([])
        }
      ),
      { numRuns: 200 }
    )
  })

  const plain: Exchange = {
    index: 0,
    did: "GET /pets?limit=1",
    request: { method: "GET", target: "/v1/pets?limit=1&a%20b=c+d", headers: [], body: undefined },
    response: { status: 200, headers: [["Content-Type", "application/json"]], body: bytes("[]") },
    from: 1_000,
    to: 1_250.5,
    isAlone: true
  }

  it("shows requests and responses as they were sent and received", () => {
    const { log } = HarSchema.parse(archive([plain]))
    expect(log.entries).toMatchObject([
      {
        startedDateTime: "1970-01-01T00:00:01.000Z",
        time: 250.5,
        comment: "GET /pets?limit=1",
        request: {
          method: "GET",
          url: `${origin}/v1/pets?limit=1&a%20b=c+d`,
          queryString: [
            { name: "limit", value: "1" },
            { name: "a b", value: "c d" }
          ]
        },
        response: { status: 200, content: { size: 2, mimeType: "application/json", text: "[]" } }
      }
    ])
  })

  it("contains no credentials in headers, even if the credentials were not declared", () => {
    const json = archive([
      {
        ...plain,
        request: {
          ...plain.request,
          headers: [
            ["authorization", "Bearer nobody-knows-this"],
            ["Cookie", "session=nobody-knows-this"]
          ],
          body: undefined
        }
      }
    ])
    expect(json).not.toContain("knows-this")
  })

  it("has no requests without a response, and no bodies beyond 16 MiB", () => {
    const { log } = HarSchema.parse(Har.render(example, after([plain, { ...plain, response: undefined }])))
    expect(log.entries).toHaveLength(1)

    const huge = { status: 200, headers: [], body: new Uint8Array(6 * 2 ** 20).fill(32) }
    const many = HarSchema.parse(archive([1, 2, 3, 4].map(() => ({ ...plain, response: huge }))))
    expect(many.log.entries.map(({ response }) => response.content.text.length / 2 ** 20)).toEqual([
      6, 6, 0, 0
    ])
    expect(many.log.entries.at(-1)?.response.content.comment).toBe("omitted")
  })

  it("has no entries for ports", () => {
    const ports = PortSubject.make({ name: "ports" })
    expect(HarSchema.parse(Har.render(example, ports)).log.entries).toEqual([])
  })
})
