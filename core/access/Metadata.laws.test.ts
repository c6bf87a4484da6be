import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Metadata from "./Metadata.ts"

/** Wraps a value in objects and arrays, so that it is at this level. */
const atLevel = (level: number, value: unknown): unknown => {
  let wrapped = value
  for (let at = level; at > 1; at--) wrapped = at % 2 === 0 ? { "": wrapped } : [wrapped]
  return wrapped
}

const reasonOf = (given: unknown): string | undefined => {
  const result = Metadata.valid(given)
  return Result.isFailure(result) ? result.failure.message : undefined
}

const isDeeplyFrozen = (value: unknown): boolean =>
  Object.isFrozen(value) && (typeof value !== "object" || Object.values(value ?? {}).every(isDeeplyFrozen))

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)

describe("Metadata.valid", () => {
  it("returns a frozen copy of a JSON object if and only if its text has at most 4096 bytes of UTF-8", () => {
    const text = fc.string({ unit: "binary", maxLength: 4_200, size: "max" })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue().filter(isObject), fc.dictionary(text, text)), (json) => {
        const bytes = new TextEncoder().encode(JSON.stringify(json)).length
        const result = Metadata.valid(json)
        expect(Result.isSuccess(result)).toBe(bytes <= 4_096)
        if (Result.isFailure(result)) return
        expect(JSON.stringify(result.success)).toBe(JSON.stringify(json))
        expect(isDeeplyFrozen(result.success)).toBe(true)
        expect(JSON.stringify(Metadata.parse(JSON.stringify(result.success)))).toBe(JSON.stringify(json))
      })
    )
  })

  it.each([
    ["4096 bytes", { text: `${"é".repeat(2_042)}x` }, undefined],
    ["4097 bytes", { text: "é".repeat(2_043) }, "metadata must have at most 4096 bytes as JSON text"],
    ["32 levels", atLevel(32, {}), undefined],
    ["33 levels", atLevel(33, {}), "metadata must be a JSON object with at most 32 levels"]
  ])("decides about %s", (_, json, reason) => {
    expect(reasonOf(json)).toBe(reason)
  })

  it("rejects any value that JSON cannot hold, at every level, without a loop", () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const others = [undefined, 5n, Number.NaN, Infinity, new Date(0), new Map(), Symbol(), () => 1, cyclic]
    fc.assert(
      fc.property(fc.constantFrom(...others), fc.integer({ min: 1, max: 31 }), (value, level) => {
        expect(reasonOf({ value: atLevel(level, value) })).toMatch(/must be a JSON object/)
      })
    )
    for (const value of [null, [], "{}", 5, ...others])
      expect(reasonOf(value)).toMatch(/must be a JSON object/)
  })
})
