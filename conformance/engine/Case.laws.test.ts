import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Case from "./Case.ts"

/** Values in cases of checks; names with `$` are reserved for the encoding. */
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
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (one === 0 ? 0 : one)),
    anyString,
    fc.uint8Array(),
    fc.array(tie("value")),
    fc.dictionary(name, tie("value"), { noNullPrototype: true })
  )
}))

describe("a case", () => {
  it("is decoded to the same value", () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(Case.decode(Case.encode(given))).toStrictEqual(given)
      }),
      { numRuns: 1_000 }
    )
  })

  it("is encoded as one line", () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(Case.encode(given)).not.toMatch(/[\n\r]/)
      })
    )
  })

  it.each([
    ["the greatest int64", 2n ** 63n - 1n],
    ["the least int64", -(2n ** 63n)],
    ["a number beyond it", 10n ** 400n],
    ["nothing", undefined],
    ["undefined in an array", [undefined, [undefined]]],
    ["an undefined member", { status: undefined, of: { limit: undefined } }],
    ["bytes that are not text", new Uint8Array([0xff, 0xfe, 0, 0xc3])],
    ["no bytes", new Uint8Array()],
    ["a lone surrogate", "\ud800"]
  ])("preserves %s", (_what, given) => {
    expect(Case.decode(Case.encode(given))).toStrictEqual(given)
  })

  it("preserves the members of an object whose members are all undefined", () => {
    const decoded = Case.decode(Case.encode({ status: undefined }))
    expect(Object.keys(decoded as object)).toEqual(["status"])
  })

  it("is rejected with a SyntaxError if the text is not an encoded case", () => {
    for (const text of ["", "{", "nonsense", '{"$int":"five"}', "undefined"]) {
      expect(() => Case.decode(text)).toThrow(SyntaxError)
    }
  })
})
