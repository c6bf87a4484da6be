import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as QueryParameters from "../codec/QueryParameters.ts"
import { parameters as listParameters } from "./ListPets.ts"

const limitReason = "limit: must be an integer from 1 to 100."
const statusReason = 'status: must be one of "available", "pending", "sold".'
const encodingReason = "The query string contains a malformed percent-encoding."

const messageOf = (query: string, strict = false): string | undefined => {
  const decoded = QueryParameters.decode(listParameters, query, strict)
  if (Result.isSuccess(decoded)) return undefined
  expect(decoded.failure.code).toBe("invalid_parameter")
  return decoded.failure.message
}

describe("QueryParameters.decode for listPets", () => {
  it("selects the first twenty animals of any status by default", () => {
    const defaults = Result.succeed({ limit: 20, status: undefined, cursor: undefined })
    expect(QueryParameters.decode(listParameters, "", false)).toEqual(defaults)
    expect(QueryParameters.decode(listParameters, "", true)).toEqual(defaults)
    expect(QueryParameters.decode(listParameters, "&&", true)).toEqual(defaults)
  })

  it("decodes all three parameters, percent-encoded or not", () => {
    expect(QueryParameters.decode(listParameters, "status=s%6fld&cursor=a%2Bb&l%69mit=7", true)).toEqual(
      Result.succeed({ limit: 7, status: "sold", cursor: "a+b" })
    )
  })

  it.each([
    "0",
    "-1",
    "101",
    "05",
    "1.0",
    "1e2",
    "0x5",
    "0b1",
    "%2B5",
    "+5",
    "%205",
    "5%20",
    "5%0A",
    "5%00",
    "",
    "NaN",
    "Infinity",
    "null",
    "true",
    "9999999999999999999999",
    "5;6",
    "5,6",
    "1_0",
    "5n",
    "%D9%A5",
    "%EF%BC%95",
    "__proto__"
  ])("rejects limit=%s", (limit) => {
    expect(messageOf(`limit=${limit}`)).toBe(limitReason)
  })

  it.each(["", "SOLD", "sold%20"])("rejects status=%s", (status) => {
    expect(messageOf(`status=${status}`)).toBe(statusReason)
  })

  it.each(["status=%ff", "status=%zz", "%", "limit=%", "unknown=%e2%82", "a=%c0%80", "limit=5&%ed%a0%80"])(
    "rejects the malformed encoding %s",
    (query) => {
      expect(messageOf(query)).toBe(encodingReason)
      expect(Result.isFailure(QueryParameters.decode({}, query, false))).toBe(true)
    }
  )

  it.each([
    ["limit", "limit=5&limit=6"],
    ["limit", "limit=5&limit=5"],
    ["limit", "limit=5&status=sold&l%69mit=5"],
    ["status", "status=sold&status=sold"],
    ["status", "status=&status=sold"],
    ["cursor", "cursor=&cursor="]
  ])("rejects the repeated parameter %s in %s", (name, query) => {
    expect(messageOf(query)).toBe(`${name}: must not be repeated.`)
  })

  it.each([
    "limit[]=5",
    "LIMIT=5",
    "limits=0",
    "%20limit=0",
    "offset=5",
    "__proto__=5",
    "constructor=1",
    "=5",
    "flag"
  ])("ignores the unknown parameter %s, and rejects it in strict mode", (query) => {
    expect(QueryParameters.decode(listParameters, query, false)).toEqual(
      QueryParameters.decode(listParameters, "", false)
    )
    expect(messageOf(query, true)).toBe("The query string contains an unknown parameter.")
  })

  it("decodes an empty cursor to an empty string", () => {
    expect(QueryParameters.decode(listParameters, "cursor=", false)).toEqual(
      Result.succeed({ limit: 20, status: undefined, cursor: "" })
    )
  })
})

describe("QueryParameters.decode for an operation without parameters", () => {
  it("ignores any parameter with a valid encoding, and rejects it in strict mode", () => {
    expect(Result.isSuccess(QueryParameters.decode({}, "", true))).toBe(true)
    expect(Result.isSuccess(QueryParameters.decode({}, "limit=0&limit=1&x", false))).toBe(true)
    expect(Result.isFailure(QueryParameters.decode({}, "limit=5", true))).toBe(true)
  })
})
