import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type LogEvent, levels } from "./LogEvent.ts"
import * as LogFormat from "./LogFormat.ts"

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
