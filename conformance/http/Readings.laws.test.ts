import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ErrorBody from "./ErrorBody.ts"
import * as PetJson from "./PetJson.ts"
import * as RateHeaders from "./RateHeaders.ts"
import * as ServerClock from "./ServerClock.ts"
import { bytes, header, headerValues, NoResponse, text } from "./Wire.ts"
import { rate, recording, wireResponse } from "./Wires.fixture.ts"

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const name = fc.string({ unit: "grapheme" })
const status = fc.constantFrom("available", "pending", "sold", undefined)
const pet = fc.record({ id: int64, name, categoryId: int64, status })

const read = (json: string) => Result.flatMap(PetJson.parse(json), PetJson.animal)
const readAll = (json: string) => Result.flatMap(PetJson.parse(json), PetJson.animals)

const petText = ({ id, ...draft }: { readonly id: bigint } & Parameters<typeof PetJson.draft>[0]): string =>
  PetJson.draft(draft).replace("{", `{"id":${id},`)

/** Generates bodies that may confuse a parser: arbitrary text, unusual values, deep nesting. */
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc.constantFrom(
    "",
    "null",
    "[]",
    "{}",
    '""',
    "[null]",
    "\ufeff{}",
    '{"__proto__":{"id":1,"name":"x","categoryId":1}}',
    '{"id":1,"name":"x","categoryId":1,"toString":1,"__proto__":null}',
    '{"id":1e999,"name":"x","categoryId":1}',
    `{"id":${"9".repeat(50_000)},"name":"x","categoryId":1}`,
    '{"id":null}',
    '{"length":-1}'
  ),
  fc
    .tuple(fc.constantFrom('{"a":', "["), fc.integer({ min: 1, max: 30_000 }))
    .map(([open, depth]) => `${open.repeat(depth)}1${(open === "[" ? "]" : "}").repeat(depth)}`)
)

describe("PetJson", () => {
  it("parses an animal without losing digits of its integers", () => {
    fc.assert(
      fc.property(pet, (given) => {
        expect(Result.getOrThrow(read(petText(given)))).toEqual(given)
        expect(Result.getOrThrow(readAll(`[${petText(given)},${petText(given)}]`))).toEqual([given, given])
      }),
      { numRuns: 500 }
    )
  })

  it("rejects an animal with an integer outside int64", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.bigInt({ min: 2n ** 63n }), fc.bigInt({ max: -(2n ** 63n) - 1n })),
        fc.boolean(),
        (beyond, isId) => {
          const json = isId
            ? `{"id":${beyond},"name":"x","categoryId":1}`
            : `{"id":1,"name":"x","categoryId":${beyond}}`
          expect(Result.isFailure(read(json))).toBe(true)
        }
      )
    )
  })

  it.each([
    ['{"id":"1","name":"x","categoryId":1}', 'id is not an int64: "1"'],
    ['{"name":"x","categoryId":1}', "id is not an int64: absent"],
    ['{"id":1.5,"name":"x","categoryId":1}', "id is not an int64: 1.5"],
    ['{"id":1,"name":null,"categoryId":1}', "name is not a string: null"],
    ['{"id":1,"categoryId":1}', "name is not a string: absent"],
    ['{"id":1,"name":"x"}', "categoryId is not an int64: absent"],
    ['{"id":1,"name":"x","categoryId":true}', "categoryId is not an int64: true"],
    ['{"id":1,"name":"x","categoryId":1,"status":"Sold"}', 'status is not a PetStatus: "Sold"'],
    ['{"id":1,"name":"x","categoryId":1,"status":null}', "status is not a PetStatus: null"],
    ["[1]", 'not a Pet object: ["1"]'],
    ["null", "not a Pet object: null"],
    ["12", "not a Pet object: 12"]
  ])("returns the reason why %s is not an animal", (json, message) => {
    const result = read(json)
    expect(Result.isFailure(result) && result.failure).toBe(message)
  })

  it("never throws, and returns a short reason for each invalid body", () => {
    fc.assert(
      fc.property(hostile, (json) => {
        for (const result of [
          PetJson.parse(json),
          read(json),
          readAll(json),
          readAll(`[${json}]`),
          ErrorBody.of({ body: bytes(json) })
        ]) {
          if (Result.isFailure(result)) {
            expect(result.failure.length).toBeGreaterThan(5)
            expect(result.failure.length).toBeLessThan(1_000)
          }
        }
        expect(["string", "undefined"]).toContain(typeof ErrorBody.codeOf({ body: bytes(json) }))
      }),
      { numRuns: 500 }
    )
  })

  it("formats an animal in one line with every digit of its integers", () => {
    fc.assert(
      fc.property(pet, (given) => {
        const line = PetJson.line(given)
        expect(line).toContain(`id ${given.id},`)
        expect(line).toContain(`categoryId ${given.categoryId}`)
        expect(line).not.toMatch(/[\n\r]/)
      })
    )
  })
})

describe("PetJson.animals", () => {
  it.each([
    ['{"pets":[]}', "not a bare array"],
    ['{"length":0}', "not a bare array"],
    ["null", "not a bare array"],
    ["[1]", "in the list: not a Pet object: 1"],
    ['[{"id":1,"name":"x","categoryId":1},{"id":2}]', "in the list: name is not a string: absent"]
  ])("returns the reason why %s is not a list of animals", (json, message) => {
    const result = readAll(json)
    expect(Result.isFailure(result) && result.failure).toContain(message)
  })
})

describe("ErrorBody.of", () => {
  const of = (json: string) => ErrorBody.of({ body: bytes(json) })

  it("returns the fields of an Error and the names of all its members", () => {
    const json = '{"status":404,"code":"not_found","extra":{},"message":"Gone."}'
    expect(Result.getOrThrow(of(json))).toEqual({
      status: 404,
      code: "not_found",
      message: "Gone.",
      members: ["status", "code", "extra", "message"]
    })
    expect(ErrorBody.codeOf({ body: bytes(json) })).toBe("not_found")
  })

  it.each([
    ['{"message":"m","status":400}', "code is absent"],
    ['{"code":"","message":"m","status":400}', "code is not text"],
    ['{"code":7,"message":"m","status":400}', "code is not text: 7"],
    ['{"code":"c","status":400}', "message is absent"],
    ['{"code":"c","message":["m"],"status":400}', "message is not a string"],
    ['{"code":"c","message":" ","status":400}', "message is empty"],
    ['{"code":"c","message":"m"}', "status is absent"],
    ['{"code":"c","message":"m","status":"400"}', "status is not an integer"],
    ['{"code":"c","message":"m","status":400.5}', "status is not an integer"],
    ['[{"code":"c","message":"m","status":400}]', "not an Error object"],
    ["<html>", 'not JSON: "<html>"']
  ])("returns the reason why %s is not an Error", (json, message) => {
    const result = of(json)
    expect(Result.isFailure(result) && result.failure).toContain(message)
    expect(ErrorBody.codeOf({ body: bytes(json) })).toBeUndefined()
  })
})

describe("RateHeaders.of", () => {
  it("returns the rate headers as numbers, regardless of case", () => {
    const upper = rate(60, 59, 1_800_000_000)
    const expected = { limit: 60, remaining: 59, resetAt: 1_800_000_000 }
    expect(RateHeaders.of(wireResponse(200, upper))).toEqual(expected)
    const lower = upper.map(([field, value]) => [field.toLowerCase(), value] as const)
    expect(RateHeaders.of(wireResponse(500, lower))).toEqual(expected)
  })

  it("returns undefined if a rate header is missing, repeated or not a whole number", () => {
    const junk = fc.oneof(
      fc.constantFrom("", "-1", "+1", "1.0", "1e3", "5, 5", "5,5", " 5", "0x5", "∞", "NaN", "9".repeat(16)),
      fc.string().filter((text) => !/^[0-9]{1,15}$/.test(text))
    )
    const changes = fc.constantFrom("omit", "repeat", "replace")
    fc.assert(
      fc.property(junk, fc.nat({ max: 2 }), changes, (value, index, change) => {
        const headers = [...rate(5, 4, 3)]
        const [field = "", whole = ""] = headers[index] ?? []
        if (change === "omit") headers.splice(index, 1)
        else if (change === "repeat") headers.push([field.toLowerCase(), whole])
        else headers[index] = [field, value]
        expect(RateHeaders.of(wireResponse(200, headers))).toBeUndefined()
      })
    )
  })
})

describe("RateHeaders.retryAfterSeconds", () => {
  const NOW = Date.UTC(2027, 0, 1, 12)
  const of = (...values: ReadonlyArray<string>) =>
    RateHeaders.retryAfterSeconds(
      wireResponse(
        429,
        values.map((value) => ["retry-after", value] as const)
      ),
      NOW
    )

  it("returns a number of seconds unchanged", () => {
    fc.assert(
      fc.property(fc.nat(), (seconds) => {
        expect(of(String(seconds))).toBe(seconds)
      })
    )
  })

  /** Generates a date in Retry-After, `seconds` after the Date of the response, which is `skew` seconds after `NOW`. */
  const dates = fc
    .record({ seconds: fc.nat({ max: 10_000_000 }), skew: fc.integer({ min: -100_000, max: 100_000 }) })
    .map(({ seconds, skew }) => {
      const from = NOW + skew * 1_000
      const until = new Date(from + seconds * 1_000).toUTCString()
      const response = wireResponse(429, [
        ["Retry-After", until],
        ["Date", new Date(from).toUTCString()]
      ])
      return { response, seconds, skew, until }
    })

  it("returns the seconds from the Date header to a date", () => {
    fc.assert(
      fc.property(dates, ({ response, seconds }) => {
        expect(RateHeaders.retryAfterSeconds(response, NOW)).toBe(seconds)
      })
    )
  })

  it("counts from receivedAt if Date is missing, or if receivedAt comes from the subject's clock", () => {
    fc.assert(
      fc.property(dates, ({ response, seconds, skew, until }) => {
        const expected = Math.max(0, seconds + skew)
        expect(of(until)).toBe(expected)
        // When receivedAt comes from the subject's clock, Date is ignored: it may come from the machine's clock.
        const byClock = RateHeaders.retryAfterSeconds(response, NOW, true)
        expect(byClock).toBe(expected)
      })
    )
  })

  it("rounds the wait up to whole seconds, so that no client retries too early", () => {
    const until = new Date(NOW + 2_000).toUTCString()
    const response = wireResponse(429, [["Retry-After", until]])
    expect(RateHeaders.retryAfterSeconds(response, NOW + 1)).toBe(2)
    expect(RateHeaders.retryAfterSeconds(response, NOW - 1)).toBe(3)
  })

  it("returns undefined if Retry-After is missing, repeated, or neither a number nor a date", () => {
    expect(of()).toBeUndefined()
    expect(of("1", "2")).toBeUndefined()
    for (const junk of ["", "soon", "1.5", "-1", "2027-01-01T12:00:10Z", "Fri, 99 Foo 2027", "60, 61"]) {
      expect([junk, of(junk)]).toEqual([junk, undefined])
    }
    fc.assert(
      fc.property(fc.string(), (junk) => {
        const seconds = of(junk)
        expect(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0)).toBe(true)
      })
    )
  })
})

describe("ServerClock", () => {
  const clockWith = (respond: Parameters<typeof recording>[0]) => {
    const { sent, transport } = recording(respond)
    return { sent, clock: ServerClock.make(transport, "/test/clock") }
  }

  it("reads the time with GET, and moves it with POST to the path with /advance", async () => {
    const { clock, sent } = clockWith(({ method }) =>
      wireResponse(200, [], `{"now":${method === "GET" ? 5 : 12.5}}`)
    )
    expect(await Effect.runPromise(clock.now)).toBe(5)
    expect(await Effect.runPromise(clock.advance(7))).toBe(12.5)
    expect(sent).toEqual([
      { method: "GET", target: "/test/clock", headers: [], body: undefined },
      {
        method: "POST",
        target: "/test/clock/advance",
        headers: [["Content-Type", "application/json"]],
        body: bytes('{"ms":7}')
      }
    ])
  })

  it.each([
    ["a body that is not JSON", 200, "soon", 'the clock responds to GET with "soon"; expected {"now":<ms>}'],
    ["an empty body", 200, "", 'the clock responds to GET with ""; expected {"now":<ms>}'],
    [
      "a string as the time",
      200,
      '{"now":"5"}',
      'the clock responds to GET with "{\\"now\\":\\"5\\"}"; expected {"now":<ms>}'
    ],
    [
      "an infinite time",
      200,
      '{"now":1e999}',
      'the clock responds to GET with "{\\"now\\":1e999}"; expected {"now":<ms>}'
    ],
    [
      "a status other than 200",
      404,
      '{"now":5}',
      'the clock responds to GET /test/clock with status 404; expected {"now":<ms>}'
    ]
  ])("fails when the response has %s", async (_what, status, body, reason) => {
    const { clock } = clockWith(() => wireResponse(status, [], body))
    expect(await Effect.runPromise(Effect.flip(clock.now))).toMatchObject({ _tag: "NoResponse", reason })
    expect((await Effect.runPromise(Effect.flip(clock.advance(1))))._tag).toBe("NoResponse")
  })

  it("fails with the NoResponse of the transport when the clock is unreachable", async () => {
    const dead = new NoResponse({ kind: "connection", reason: "connect ECONNREFUSED" })
    const clock = ServerClock.make(() => Effect.fail(dead), "/clock")
    expect(await Effect.runPromise(Effect.flip(clock.now))).toBe(dead)
    expect(await Effect.runPromise(Effect.flip(clock.advance(1)))).toBe(dead)
  })
})

describe("Wire", () => {
  it("returns the value of a header only if it was received once, regardless of case", () => {
    const response = wireResponse(200, [
      ["X-One", "1"],
      ["x-two", "a"],
      ["X-Two", "b"]
    ])
    expect(header(response, "x-ONE")).toBe("1")
    expect(header(response, "x-two")).toBeUndefined()
    expect(headerValues(response, "X-TWO")).toEqual(["a", "b"])
    expect(header(response, "x-none")).toBeUndefined()
  })

  it("round-trips text through bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (content) => {
        fc.pre(!content.startsWith("\ufeff"))
        expect(text(bytes(content))).toBe(content)
      })
    )
  })
})
