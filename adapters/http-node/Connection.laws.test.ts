import { Buffer } from "node:buffer"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { expectAlive, expectError, serve } from "./Server.fixture.ts"
import { pet, request, type Sent, statuses, Wire } from "./Wire.fixture.ts"

interface Exchange {
  readonly sent: Sent
  readonly status: number
  /** The encoded request. */
  readonly bytes: string
}

const chunked = (key: string | undefined, body: string, fields: ReadonlyArray<string> = []): string => {
  const size = Buffer.byteLength(body).toString(16)
  const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked", ...fields]
  const head = request({ method: "POST", headers, ...(key === undefined ? {} : { key }) })
  return `${head}${size}\r\n${body}\r\n0\r\n\r\n`
}

const upgrade = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"]

const blank = fc.nat({ max: 200 }).map((count) => "\r\n\r\n".repeat(count))

/** Generates requests that keep the connection alive, each with its expected status. */
const exchange = (key: string): fc.Arbitrary<Exchange> => {
  const exchangeOf = (sent: Sent, status: number, bytes = request(sent)): Exchange => ({
    sent,
    status,
    bytes
  })
  const name = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    .filter((text) => text.trim() !== "")
  return fc.oneof(
    fc.constant(exchangeOf({ key }, 200)),
    fc.constant(exchangeOf({}, 401)),
    fc.constant(exchangeOf({ key, method: "HEAD" }, 200)),
    fc.constant(exchangeOf({ key, method: "OPTIONS" }, 204)),
    fc.constant(exchangeOf({ key, method: "DELETE" }, 405)),
    fc.constant(exchangeOf({ key, target: "/v1/none" }, 404)),
    fc.constant(exchangeOf({ key, body: "{" }, 400)),
    fc.constant(exchangeOf({ body: pet("rejected") }, 401)),
    fc.constant(exchangeOf({}, 401, chunked(undefined, pet("rejected")))),
    name.map((text) => exchangeOf({ key, body: pet(text) }, 201)),
    name.map((text) => exchangeOf({ key }, 201, chunked(key, pet(text)))),
    // Node ignores an upgrade, and must not lose the bytes after its request.
    fc.constant(exchangeOf({ key, headers: upgrade }, 200)),
    fc.constant(exchangeOf({ key, headers: upgrade, body: pet("upgrade") }, 201)),
    fc.constant(exchangeOf({ key }, 201, chunked(key, pet("upgrade"), upgrade))),
    // Empty lines that do not end a request.
    blank.map((lines) => exchangeOf({ key }, 200, lines + request({ key }))),
    blank.map((lines) => exchangeOf({ key }, 201, chunked(key, lines + pet("blank")))),
    blank.map((lines) => exchangeOf({ key, body: lines + pet("blank") }, 201)),
    fc.nat({ max: 3_000 }).map((length) => exchangeOf({ key, body: " ".repeat(1_001 + length) }, 413))
  )
}

/** Splits bytes at `places`, which are fractions of the length. */
const chunks = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const cuts = [
    0,
    ...places.map((place) => Math.floor(place * bytes.length)).toSorted((a, b) => a - b),
    bytes.length
  ]
  return cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut))
}

const place = fc.double({ min: 0, max: 1, noNaN: true })
const setup = { service: { maxBodyBytes: 1_000, anonymousPlan: { perMinute: 100_000, perDay: 1_000_000 } } }

describe("one connection", () => {
  it("returns one response to each request, in order, however the bytes are split", async () => {
    const { key, ...server } = await serve(setup)
    await fc.assert(
      fc.asyncProperty(
        fc.array(exchange(key), { minLength: 1, maxLength: 12 }),
        fc.array(place, { maxLength: 12 }),
        async (exchanges, places) => {
          const wire = await Wire.open(server.port)
          const bytes = Buffer.from(exchanges.map(({ bytes }) => bytes).join(""))
          for (const chunk of chunks(bytes, places)) await wire.send(chunk)
          for (const { sent, status } of exchanges) {
            const response = await wire.response({ head: sent.method === "HEAD" })
            expect(response.status).toBe(status)
          }
          wire.end()
          expect(await wire.rest()).toBe("")
        }
      )
    )
  })

  it("returns one response to each request, in order, if large bodies arrive in parts and the stores are slow", async () => {
    const slowly = <A, E>(call: Effect.Effect<A, E>) =>
      Effect.andThen(
        Effect.promise(() => sleep(2)),
        call
      )
    const { key, ...server } = await serve({
      limits: (real) => ({ modify: (key, step) => slowly(real.modify(key, step)) }),
      pets: (real) => ({ ...real, insert: (newPet) => slowly(real.insert(newPet)) })
    })
    const create = fc
      .tuple(fc.boolean(), fc.nat({ max: 60_000 }))
      .map(([isChunked, size]) =>
        isChunked ? chunked(key, pet("Rex").padEnd(size)) : request({ key, body: pet("Rex").padEnd(size) })
      )
    await fc.assert(
      fc.asyncProperty(
        fc.array(create, { minLength: 1, maxLength: 4 }),
        fc.array(place, { maxLength: 8 }),
        async (requests, places) => {
          const wire = await Wire.open(server.port)
          for (const chunk of chunks(Buffer.from(requests.join("")), places)) {
            await wire.send(chunk)
            await sleep(1)
          }
          expect(await statuses(wire, requests.length)).toEqual(requests.map(() => 201))
          wire.end()
          expect(await wire.rest()).toBe("")
        }
      )
    )
  })

  it("sends all responses to valid requests, and then at most one error for the arbitrary bytes after them", async () => {
    const { key, ...server } = await serve(setup)
    const noise = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ minLength: 1 }).map((text) => Buffer.from(text)),
      place.map((cut) => chunks(Buffer.from(request({ body: pet("cut") })), [cut])[0] ?? Buffer.alloc(0))
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(exchange(key), { maxLength: 5 }),
        noise,
        fc.array(place, { maxLength: 5 }),
        async (exchanges, garbage, places) => {
          const wire = await Wire.open(server.port)
          const bytes = Buffer.concat([Buffer.from(exchanges.map(({ bytes }) => bytes).join("")), garbage])
          for (const chunk of chunks(bytes, places)) await wire.send(chunk)
          for (const { sent, status } of exchanges) {
            expect((await wire.response({ head: sent.method === "HEAD" })).status).toBe(status)
          }
          wire.end()
          const last = await wire.response().catch(() => undefined)
          if (last?.status === 401) expectError(last, 401, "missing_api_key")
          else if (last !== undefined) expectError(last, 400, "malformed_request")
          if (last?.status !== 401) expect(await wire.rest()).toBe("")
        }
      )
    )
    await expectAlive(server)
  })
})
