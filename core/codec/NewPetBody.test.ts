import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as NewPetBody from "./NewPetBody.ts"

const decode = (body: string | ReadonlyArray<number>, strict = false) =>
  NewPetBody.decode(typeof body === "string" ? new TextEncoder().encode(body) : Uint8Array.from(body), strict)

/** Returns the code and the message of an error. */
const errorOf = (body: string | ReadonlyArray<number>, strict = false): string | undefined => {
  const decoded = decode(body, strict)
  return Result.isFailure(decoded) ? `${decoded.failure.code}: ${decoded.failure.message}` : undefined
}

const invalidJson = (reason: string) => `invalid_json: The body is not valid JSON: ${reason}.`
const invalidBody = (reasons: string) => `invalid_body: The body is invalid: ${reasons}.`

const int64Reason = "must be an integer between -9223372036854775808 and 9223372036854775807"

describe("NewPetBody.decode", () => {
  it("accepts an animal with all fields", () => {
    expect(decode('{"status":"sold","categoryId":-3,"name":" Rex "}', true)).toEqual(
      Result.succeed({ name: " Rex ", categoryId: -3n, status: "sold" })
    )
  })

  it('uses the status "available" if the status is absent', () => {
    expect(decode('{"name":"Rex","categoryId":7}', true)).toEqual(
      Result.succeed({ name: "Rex", categoryId: 7n, status: "available" })
    )
  })

  it.each([
    ["9007199254740993", 2n ** 53n + 1n],
    ["-9007199254740993", -(2n ** 53n) - 1n],
    ["9223372036854775807", 2n ** 63n - 1n],
    ["-9223372036854775808", -(2n ** 63n)],
    ["1.0", 1n],
    ["1e3", 1000n],
    ["100e-2", 1n],
    ["-0", 0n],
    ["0", 0n]
  ])("decodes categoryId %s to its exact value", (text, categoryId) => {
    expect(decode(`{"name":"Rex","categoryId":${text}}`)).toEqual(
      Result.succeed({ name: "Rex", categoryId, status: "available" })
    )
  })

  it.each([
    "9223372036854775808",
    "-9223372036854775809",
    "1.5",
    "1e999999999",
    "1e-999999999",
    '"5"',
    "true",
    "null",
    "[5]",
    "{}",
    '{"text":"5"}'
  ])("rejects categoryId %s", (text) => {
    expect(errorOf(`{"name":"Rex","categoryId":${text}}`)).toBe(invalidBody(`categoryId: ${int64Reason}`))
  })

  it.each(["1", "true", "null", "[]", "{}", '["Rex"]'])(
    "rejects the name %s, which is not a string",
    (text) => {
      expect(errorOf(`{"name":${text},"categoryId":1}`)).toBe(invalidBody("name: must be a string"))
    }
  )

  it("names all invalid fields in one message, unknown fields last", () => {
    expect(errorOf("{}")).toBe(invalidBody("name: is required; categoryId: is required"))
    expect(errorOf('{"b":1,"name":"","categoryId":1.5,"status":"x","a":2}', true)).toBe(
      invalidBody(
        `name: must not be empty; categoryId: ${int64Reason}; ` +
          'status: must be one of "available", "pending", "sold"; ' +
          '"b": is not a known field; "a": is not a known field'
      )
    )
  })

  it.each(["null", "[]", '"x"', "1", "true", '[{"name":"Rex","categoryId":1}]', " 1.5 "])(
    "rejects %s, which is not an object",
    (text) => {
      expect(errorOf(text)).toBe("invalid_body: The body must be a JSON object.")
    }
  )

  it.each<[string, string | ReadonlyArray<number>, string]>([
    ["an empty body", "", "unexpected end of input at position 0"],
    ["a repeated name", '{"name":"a","name":"b"}', "duplicate name in an object at position 12"],
    ["a byte order mark", "\ufeff{}", "unexpected byte order mark at position 0"],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], "not valid UTF-8 at position 0"],
    ["ISO 8859-1", [0x7b, 0x22, 0xe9, 0x22, 0x7d], "not valid UTF-8 at position 2"],
    ["an overlong encoding", [0x22, 0xc0, 0x80, 0x22], "not valid UTF-8 at position 1"],
    ["an encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22], "not valid UTF-8 at position 1"]
  ])("rejects %s and reports the position", (_, body, reason) => {
    expect(errorOf(body)).toBe(invalidJson(reason))
  })

  it("does not look up required fields on a prototype", () => {
    expect(errorOf('{"__proto__":{"name":"Rex","categoryId":1}}')).toBe(
      invalidBody("name: is required; categoryId: is required")
    )
  })

  it("names at most three unknown fields, each escaped and truncated to forty characters", () => {
    const many = Array.from({ length: 10 }, (_, index) => `"x${index}":1`).join(",")
    expect(errorOf(`{"name":"Rex","categoryId":1,${many}}`, true)).toBe(
      invalidBody(
        '"x0": is not a known field; "x1": is not a known field; "x2": is not a known field; and 7 more unknown fields'
      )
    )
    expect(errorOf(`{"name":"Rex","categoryId":1,"${"a".repeat(39)}😀b":1}`, true)).toBe(
      invalidBody(`"${"a".repeat(39)}\\ud83d…": is not a known field`)
    )
    expect(errorOf('{"name":"Rex","categoryId":1,"\\n\\u001b\\ud800\u009b\u202e":1}', true)).toBe(
      invalidBody('"\\n\\u001b\\ud800\\u{9b}\\u{202e}": is not a known field')
    )
  })
})
