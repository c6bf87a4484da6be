import { stripVTControlCharacters } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type LogEvent, levels } from "./LogEvent.ts"
import * as LogFormat from "./LogFormat.ts"
import * as Style from "./Style.ts"

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) })
)

const event: fc.Arbitrary<LogEvent> = fc.record({
  time: fc.oneof(fc.integer({ min: 0, max: 8.64e15 }), fc.double()),
  level: fc.constantFrom(...levels),
  message: text,
  fields: fc.dictionary(
    fc.oneof(fc.constantFrom("time", "level", "message", "request"), fc.stringMatching(/^[a-z]{1,8}$/)),
    fc.oneof(text, fc.integer(), fc.boolean())
  )
})

describe.each(LogFormat.formats)("a line in %s", (name) => {
  it("contains no control character, line separator, text direction mark or lone surrogate", () => {
    fc.assert(
      fc.property(event, (logEvent) => {
        expect(LogFormat.named(name)(logEvent)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
      })
    )
  })
})

describe("JSON", () => {
  it("contains the time, the level, the message and all fields", () => {
    fc.assert(
      fc.property(event, ({ fields, level, message, time }) => {
        const parsed: unknown = JSON.parse(LogFormat.json({ fields, level, message, time }))
        const renamed = Object.entries(fields).map(
          ([name, value]) => [/^(?:time|level|message)$/.test(name) ? `${name}_` : name, value] as const
        )
        expect(parsed).toEqual({ ...Object.fromEntries(renamed), time: expect.any(String), level, message })
      })
    )
  })
})

describe("logfmt", () => {
  it("can be parsed back into the level, the message and all fields", () => {
    fc.assert(
      fc.property(event, ({ fields, level, message, time }) => {
        const pairs = [
          ...LogFormat.text({ fields, level, message, time }).matchAll(
            /(\w+)=("(?:[^"\\]|\\.)*"|\S*)(?: |$)/g
          )
        ]
        expect(
          pairs
            .slice(1)
            .map(([, key, value = ""]) => [key, value.startsWith('"') ? JSON.parse(value) : value])
        ).toEqual([
          ["level", level.toUpperCase()],
          ["message", message],
          ...Object.entries(fields).map(([key, value]) => [key, String(value)])
        ])
      })
    )
  })

  it("quotes only values that need quotes", () => {
    expect(
      LogFormat.text({
        time: 0,
        level: "info",
        message: "response",
        fields: { route: "/v1/pets/{petId}", ms: 1.5, error: 'a "b"' }
      })
    ).toBe(
      'timestamp=1970-01-01T00:00:00.000Z level=INFO message=response route=/v1/pets/{petId} ms=1.5 error="a \\"b\\""'
    )
  })
})

const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })

const exchangeFields = fc
  .record({
    method: fc.constantFrom("GET", "OPTIONS", "_OTHER"),
    ms: fc.double({ min: 0, max: 1e9, noNaN: true }),
    status: optional(fc.integer({ min: 100, max: 599 })),
    route: optional(fc.constantFrom("/v1/pets", "/v1/pets/{petId}")),
    path: optional(fc.string({ unit: "binary", maxLength: 200 })),
    code: optional(fc.constantFrom("not_found", "invalid_idempotency_key", "own_code_with_a_long_name")),
    key: optional(fc.constant("key_5BKLi8DbtKY")),
    network: optional(fc.constantFrom("203.0.113.129", "2001:db8:1234:5678::/64"))
  })
  .map((all) =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    )
  )

const lineOf = (given: object, hasColor: boolean): string =>
  LogFormat.columns(Style.of(hasColor))({ time: 0, level: "info", message: "response", fields: { ...given } })

it("a line of the access log in columns has at most 100 columns, and the same text with color", () => {
  fc.assert(
    fc.property(exchangeFields, (given) => {
      const line = lineOf(given, false)
      expect(line.length).toBeLessThanOrEqual(100)
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
      expect(stripVTControlCharacters(lineOf(given, true)).trimEnd()).toBe(line)
    })
  )
})

it("shows the status, the route, the duration, who sent the request, and the error", () => {
  const given = {
    method: "GET",
    route: "/v1/pets/{petId}",
    status: 404,
    code: "not_found",
    key: "key_5BKLi8DbtKY",
    ms: 0.412
  }
  expect(lineOf(given, false)).toBe(
    "00:00:00 404 GET     /v1/pets/{petId}                 0.4 ms key_5BKLi8DbtKY not_found"
  )
})
