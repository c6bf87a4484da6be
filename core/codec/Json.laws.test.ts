import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { int64 } from "../domain/Int64.arbitrary.ts"
import * as Int64 from "../domain/Int64.ts"
import { jsonText, nearlyJsonText, numberText } from "./Json.arbitrary.ts"
import * as Json from "./Json.ts"

const platformParse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Normalizes the values of both parsers for comparison: no prototypes, sorted names, numbers as doubles. */
const comparable = (value: unknown): unknown => {
  if (value instanceof Json.JsonNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== "object" || value === null) return value
  return {
    members: Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, comparable(member)])
  }
}

const withoutStrings = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"/g, "")

const countNamesInText = (text: string): number => withoutStrings(text).split(":").length - 1

const countNamesInValue = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countNamesInValue(item), 0)
  if (typeof value !== "object" || value === null) return 0
  return Object.values(value).reduce((sum: number, member) => sum + 1 + countNamesInValue(member), 0)
}

const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  for (const character of withoutStrings(text)) {
    if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth)
    if (character === "]" || character === "}") depth--
  }
  return deepest
}

/**
 * Returns the result of `JSON.parse`; `undefined` for invalid text, for duplicate names (`JSON.parse` keeps only the
 * last one), and for nesting that is deeper than the limit.
 */
const oracle = (text: string): { readonly value: unknown } | undefined => {
  const parsed = platformParse(text)
  if (parsed === undefined || countNamesInValue(parsed.value) !== countNamesInText(text)) return undefined
  return depthOf(text) > Json.maxDepth ? undefined : parsed
}

const expectAgreement = (text: string): void => {
  const expected = oracle(text)
  const actual = Json.parse(text)
  expect(Result.isSuccess(actual)).toBe(expected !== undefined)
  if (Result.isSuccess(actual)) expect(comparable(actual.success)).toEqual(comparable(expected?.value))
}

describe("Json.parse", () => {
  it("parses any JSON text to the same values as JSON.parse", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(oracle(text)).toBeDefined()
        expectAgreement(text)
      }),
      { numRuns: 2000 }
    )
  })

  it("accepts damaged texts if and only if JSON.parse accepts them and no object has a duplicate name", () => {
    fc.assert(fc.property(nearlyJsonText, expectAgreement), { numRuns: 10_000 })
  })

  it("agrees with JSON.parse for any text", () => {
    const soup = fc.string({
      unit: fc.constantFrom(...'{}[]",:\\u0a1-.eE+tn \n', "true", "null"),
      maxLength: 12
    })
    fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), soup), expectAgreement), { numRuns: 5000 })
  })

  it("accepts every UTF-16 code unit where RFC 8259 does: in a string, after a backslash, next to a value and alone", () => {
    const disagreements: Array<string> = []
    for (let code = 0; code <= 0xffff; code++) {
      const unit = String.fromCharCode(code)
      for (const text of [`"${unit}"`, `"\\${unit}"`, `${unit}1`, `1${unit}`, unit]) {
        const parsed = Json.parse(text)
        // Outside ASCII, every unit is allowed within a string, and none elsewhere; JSON.parse is slow to reject texts.
        const expected =
          code < 0x80 ? platformParse(text) : text === `"${unit}"` ? { value: unit } : undefined
        const agrees = Result.isSuccess(parsed)
          ? expected !== undefined && comparable(parsed.success) === expected.value
          : expected === undefined
        if (!agrees) disagreements.push(text)
      }
    }
    expect(disagreements).toEqual([])
  })

  it("agrees with JSON.parse for nesting up to `maxDepth`, and rejects deeper nesting", () => {
    const nested = fc
      .array(
        fc.constantFrom<[string, string]>(["[", "]"], ['{"a":', "}"], ["[1,", "]"], ['{"[":0,"b":', "}"]),
        {
          minLength: Json.maxDepth - 3,
          maxLength: Json.maxDepth + 3
        }
      )
      .map((levels) => levels.reduceRight((inner, [open, close]) => `${open}${inner}${close}`, "true"))
    fc.assert(fc.property(nested, expectAgreement), { numRuns: 500 })
  })

  it("reports a position within the text, or at its end, for invalid text", () => {
    fc.assert(
      fc.property(nearlyJsonText, (text) => {
        const parsed = Json.parse(text)
        if (Result.isSuccess(parsed)) return
        expect(parsed.failure.position).toBeGreaterThanOrEqual(0)
        expect(parsed.failure.position).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 2000 }
    )
  })

  it("rejects a duplicate name even if the two occurrences are escaped differently", () => {
    const spelling = (name: string) =>
      fc
        .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
        .map((escaped) =>
          Array.from({ length: name.length }, (_, index) =>
            escaped[index]
              ? `\\u${name.charCodeAt(index).toString(16).padStart(4, "0")}`
              : JSON.stringify(name.charAt(index)).slice(1, -1)
          ).join("")
        )
    const name = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.constantFrom("name", "categoryId", "status", "__proto__", "toString", "0")
    )
    const spellings = name.chain((text) => fc.tuple(spelling(text), spelling(text)))
    fc.assert(
      fc.property(spellings, ([first, second]) => {
        const text = `{"${first}":1,"a name that is longer than the others":2,"${second}":1}`
        expect(Json.parse(text)).toEqual(
          Result.fail({ reason: "duplicate name in an object", position: text.length - second.length - 5 })
        )
      })
    )
  })

  it("keeps the source text of every number", () => {
    fc.assert(
      fc.property(numberText, (text) => {
        expect(Json.parse(`[${text}]`)).toEqual(Result.succeed([new Json.JsonNumber(text)]))
      })
    )
  })

  it("returns objects without a prototype, for any names", () => {
    const name = fc.constantFrom(
      "__proto__",
      "constructor",
      "toJSON",
      "then",
      "hasOwnProperty",
      "valueOf",
      "a"
    )
    fc.assert(
      fc.property(fc.uniqueArray(name), (names) => {
        const parsed = Json.parse(`{${names.map((member) => `"${member}":{"polluted":true}`).join(",")}}`)
        const value = Result.getOrThrow(parsed)
        expect(Object.getPrototypeOf(value)).toBeNull()
        expect(Object.keys(value ?? {})).toEqual(names)
        expect("polluted" in {}).toBe(false)
      })
    )
  })
})

describe("Json.stringify", () => {
  it("encodes every int64 to text that decodes to the same value", () => {
    fc.assert(
      fc.property(int64, (value) => {
        const parsed = Result.getOrThrow(Json.parse(Json.stringify(value)))
        expect(parsed).toBeInstanceOf(Json.JsonNumber)
        expect(parsed instanceof Json.JsonNumber ? Int64.fromJsonNumber(parsed.text) : undefined).toBe(value)
      }),
      { numRuns: 2000 }
    )
  })

  it("returns the same text as JSON.stringify for the values that it supports", () => {
    const encodable = fc.letrec<{ value: Json.Encodable }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.constantFrom("\ud800", "\u2028", '"\\'),
          fc.double(),
          fc.boolean(),
          fc.constant(null)
        ),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(
          fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor")),
          fc.option(tie("value"), { nil: undefined }),
          { maxKeys: 4 }
        )
      )
    })).value
    fc.assert(
      fc.property(encodable, (value) => {
        expect(Json.stringify(value)).toBe(JSON.stringify(value))
      }),
      { numRuns: 1000 }
    )
  })
})
