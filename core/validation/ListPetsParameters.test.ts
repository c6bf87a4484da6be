import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as ListPetsParameters from "./ListPetsParameters.ts"

const limitReason = "limit: must be an integer from 1 to 100."
const statusReason = 'status: must be one of "available", "pending", "sold".'
const encodingReason = "The query string has a malformed percent-encoding."

const refusal = (query: string, strict = false): string | undefined => {
  const decoded = ListPetsParameters.decode(query, strict)
  if (Result.isSuccess(decoded)) return undefined
  expect(decoded.failure.code).toBe("invalid_parameter")
  return decoded.failure.message
}

describe("ListPetsParameters.decode", () => {
  it("takes twenty animals of any status from the start when nothing is asked for", () => {
    const defaults = Result.succeed({ limit: 20, status: undefined, cursor: undefined })
    expect(ListPetsParameters.decode("", false)).toEqual(defaults)
    expect(ListPetsParameters.decode("", true)).toEqual(defaults)
    expect(ListPetsParameters.decode("&&", true)).toEqual(defaults)
  })

  it("takes all three parameters, percent-encoded or not", () => {
    expect(ListPetsParameters.decode("status=s%6fld&cursor=a%2Bb&l%69mit=7", true)).toEqual(
      Result.succeed({ limit: 7, status: "sold", cursor: "a+b" })
    )
  })

  it.each([
    "0",
    "-1",
    "-5",
    "101",
    "999",
    "1000",
    "1.0",
    "5.5",
    "1e2",
    "1e1",
    "0x5",
    "0x10",
    "0b1",
    "05",
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
  ])("refuses limit=%s", (limit) => {
    expect(refusal(`limit=${limit}`)).toBe(limitReason)
  })

  it.each([
    "",
    "SOLD",
    "Sold",
    "sold,available",
    "sold%20",
    "%20sold",
    "sold%00",
    "' OR 1=1--",
    "toString",
    "0"
  ])("refuses status=%s", (status) => {
    expect(refusal(`status=${status}`)).toBe(statusReason)
  })

  it.each(["status=%ff", "status=%zz", "%", "limit=%", "unknown=%e2%82", "a=%c0%80", "limit=5&%ed%a0%80"])(
    "refuses the badly encoded %s",
    (query) => {
      expect(refusal(query)).toBe(encodingReason)
      expect(Result.isFailure(ListPetsParameters.decodeNone(query, false))).toBe(true)
    }
  )

  it.each([
    ["limit", "limit=5&limit=6"],
    ["limit", "limit=5&limit=5"],
    ["limit", "limit=5&status=sold&l%69mit=5"],
    ["status", "status=sold&status=sold"],
    ["status", "status=&status=sold"],
    ["cursor", "cursor=&cursor="]
  ])("refuses %s given twice, as in %s", (name, query) => {
    expect(refusal(query)).toBe(`${name}: must not be given twice.`)
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
  ])("ignores %s, and refuses it when strict", (query) => {
    expect(ListPetsParameters.decode(query, false)).toEqual(ListPetsParameters.decode("", false))
    expect(refusal(query, true)).toBe("The query string has an unknown parameter.")
  })

  it("hands an empty cursor on instead of starting over", () => {
    expect(ListPetsParameters.decode("cursor=", false)).toEqual(
      Result.succeed({ limit: 20, status: undefined, cursor: "" })
    )
  })
})

describe("ListPetsParameters.decodeNone", () => {
  it("allows any well-encoded parameter, and none when strict", () => {
    expect(Result.isSuccess(ListPetsParameters.decodeNone("", true))).toBe(true)
    expect(Result.isSuccess(ListPetsParameters.decodeNone("limit=0&limit=1&x", false))).toBe(true)
    expect(Result.isFailure(ListPetsParameters.decodeNone("limit=5", true))).toBe(true)
  })
})
