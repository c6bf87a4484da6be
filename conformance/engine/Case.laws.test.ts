import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Case from "./Case.ts"

/** Names of members in cases; names that begin with `$` are reserved for the encoding. */
const name = fc.oneof(
  fc.string({ unit: "grapheme" }).filter((text) => !text.startsWith("$")),
  fc.constantFrom("", "0", "id", "toString", "length", "__proto__")
)

const anyString = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
})

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constant(undefined),
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => (double === 0 ? 0 : double)),
    anyString,
    fc.uint8Array(),
    fc.array(tie("value")),
    fc.dictionary(name, tie("value"), { noNullPrototype: true })
  )
}))

describe("Case.encode and Case.decode", () => {
  it("decode an encoded case to the same value", () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(Case.decode(Case.encode(given))).toStrictEqual(given)
      }),
      { numRuns: 1_000 }
    )
  })

  it("encode a case as one line", () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(Case.encode(given)).not.toMatch(/[\n\r]/)
      })
    )
  })

  it.each([
    ["the largest int64", 2n ** 63n - 1n],
    ["the smallest int64", -(2n ** 63n)],
    ["an integer far above int64", 10n ** 400n],
    ["undefined", undefined],
    ["undefined in an array", [undefined, [undefined]]],
    ["an undefined member", { status: undefined, of: { limit: undefined } }],
    ["bytes that are not text", new Uint8Array([0xff, 0xfe, 0, 0xc3])],
    ["an empty byte array", new Uint8Array()],
    ["a lone surrogate", "\ud800"]
  ])("preserve %s", (_what, given) => {
    expect(Case.decode(Case.encode(given))).toStrictEqual(given)
  })

  it("preserve a member with the value undefined in an object without other members", () => {
    const decoded = Case.decode(Case.encode({ status: undefined }))
    expect(Object.keys(decoded as object)).toEqual(["status"])
  })

  it("throw a SyntaxError for a text that is not an encoded case", () => {
    for (const text of ["", "{", "nonsense", '{"$int":"five"}', "undefined"]) {
      expect(() => Case.decode(text)).toThrow(SyntaxError)
    }
  })
})
