import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Json from "./Json.ts"

const errorOf = (text: string): Json.JsonError | undefined => {
  const parsed = Json.parse(text)
  return Result.isFailure(parsed) ? parsed.failure : undefined
}

describe("Json.parse", () => {
  it.each([
    ["", "unexpected end of input", 0],
    [" \n", "unexpected end of input", 2],
    ["{", "expected a name in double quotes", 1],
    ["[1", "expected ',' or ']'", 2],
    ["[1,]", "expected a JSON value", 3],
    ['{"a":1,}', "expected a name in double quotes", 7],
    ['{"a" 1}', "expected ':'", 5],
    ['{"a":1 "b":2}', "expected ',' or '}'", 7],
    ["{}{}", "unexpected text after the value", 2],
    ['"a', "unexpected end of input inside a string", 2],
    ['"a\\', "invalid escape inside a string", 2],
    ['"\\x41"', "invalid escape inside a string", 1],
    ['"ab\\u12G4"', "invalid escape inside a string", 3],
    ['"\\u123', "invalid escape inside a string", 1],
    ['"\\U0041"', "invalid escape inside a string", 1],
    ['"a\nb"', "unescaped control character inside a string", 2],
    ['"\0"', "unescaped control character inside a string", 1],
    ['{"a":1,"a":2}', "duplicate name in an object", 7],
    ['{"name":1,"n\\u0061me":2}', "duplicate name in an object", 10],
    ['[{"b":{"a":1,"c":2,"\\u0061":2}}]', "duplicate name in an object", 19]
  ])("rejects %j: %s at position %i", (text, reason, position) => {
    expect(errorOf(text)).toEqual({ reason, position })
  })

  it.each([
    ["the same name in neighboring objects", '[{"a":1},{"a":2}]'],
    ["the same name in an object and its member", '{"a":{"a":1}}'],
    ["names that differ only in their Unicode normalization", '{"\u00e9":1,"e\\u0301":2}'],
    ["an empty name", '{"":1}']
  ])("accepts %s", (_, text) => {
    expect(errorOf(text)).toBeUndefined()
  })

  it("parses 32 levels of nesting and rejects 33, for arrays and objects", () => {
    expect(errorOf("[".repeat(32) + "]".repeat(32))).toBeUndefined()
    expect(errorOf(`${'{"a":'.repeat(32)}1${"}".repeat(32)}`)).toBeUndefined()
    expect(errorOf("[".repeat(33) + "]".repeat(33))).toEqual({
      reason: "nested deeper than 32 levels",
      position: 32
    })
    expect(errorOf(`${'[{"a":'.repeat(16)}[]${"}]".repeat(16)}`)?.reason).toBe("nested deeper than 32 levels")
  })

  it("does not count siblings as nesting", () => {
    expect(errorOf(`[${"[],{},".repeat(100)}1]`)).toBeUndefined()
  })

  // A bug in V8 13.6: after the first object, `JSON.parse` decodes the second one wrongly.
  it("distinguishes names that differ only in an escaped character", () => {
    const namesOf = (text: string) => Object.keys(Result.getOrThrow(Json.parse(text)) ?? {})
    expect(namesOf(String.raw`{"a":1,"\\":2}`)).toEqual(["a", "\\"])
    expect(namesOf(String.raw`{"a":1,"\"":2}`)).toEqual(["a", '"'])
  })
})

describe("Json.stringify", () => {
  it("encodes bigints as numbers of any size and omits undefined members", () => {
    expect(
      Json.stringify({ id: 2n ** 64n, gone: undefined, list: [-1n, null, "a\n", 1.5, { deep: 0n }] })
    ).toBe('{"id":18446744073709551616,"list":[-1,null,"a\\n",1.5,{"deep":0}]}')
  })
})
