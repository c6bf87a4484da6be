import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as QueryParameters from "../codec/QueryParameters.ts"
import { petStatus } from "../domain/NewPet.arbitrary.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import { parameters as listParameters } from "./ListPets.ts"

const decimal = fc.integer({ min: -200, max: 2000 }).map(String)

const value = fc.oneof(
  decimal,
  petStatus,
  fc.string({ unit: fc.constantFrom(..."0123456789+-.e %") }),
  fc.string({ unit: "binary" }).map(encodeURIComponent)
)

const parameter = fc
  .tuple(
    fc.constantFrom("limit", "status", "cursor", "Limit", "x", "", "l%69mit"),
    fc.constantFrom("=", "", "=="),
    value
  )
  .map((parts) => parts.join(""))

const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))

const anyQuery = fc.oneof(
  fc.array(parameter, { maxLength: 4 }).map((parameters) => parameters.join("&")),
  fc.string({ unit: fc.constantFrom(..."limtsau=&%+0123456789 ") }),
  fc.string({ unit })
)

describe("QueryParameters.decode for listPets", () => {
  it("decodes any text to a limit from 1 to 100 and a valid status, or to a short error", () => {
    fc.assert(
      fc.property(anyQuery, fc.boolean(), (query, strict) => {
        const decoded = QueryParameters.decode(listParameters, query, strict)
        if (Result.isSuccess(decoded)) {
          const { limit, status } = decoded.success
          expect(Number.isInteger(limit) && limit >= 1 && limit <= 100).toBe(true)
          expect(status === undefined || PetStatus.all.includes(status)).toBe(true)
        } else {
          expect(decoded.failure.code).toBe("invalid_parameter")
          expect(decoded.failure.message).toMatch(
            /^(?:(?:limit|status|cursor): must [^%&=]{1,60}|The query string contains [a-z -]{1,40})\.$/
          )
        }
      }),
      { numRuns: 5000 }
    )
  })

  it("accepts `limit` if and only if it is a decimal numeral from 1 to 100", () => {
    const text = fc.oneof(
      decimal,
      fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 5 })
    )
    fc.assert(
      fc.property(text, (limit) => {
        const isValid = Array.from({ length: 100 }, (_, index) => String(index + 1)).includes(limit)
        const decoded = QueryParameters.decode(listParameters, `limit=${limit}`, true)
        expect(Result.isSuccess(decoded) ? decoded.success.limit : undefined).toBe(
          isValid ? Number(limit) : undefined
        )
      }),
      { numRuns: 1000 }
    )
  })

  it("decodes all valid parameters in any order", () => {
    const wanted = fc.record({
      limit: fc.integer({ min: 1, max: 100 }),
      status: fc.option(petStatus, { nil: undefined }),
      cursor: fc.option(fc.string({ unit: "binary" }), { nil: undefined })
    })
    fc.assert(
      fc.property(wanted, fc.boolean(), fc.boolean(), (parameters, isReversed, strict) => {
        const pairs: Array<[string, string]> = Object.entries(parameters).flatMap(([name, parameterValue]) =>
          parameterValue === undefined ? [] : [[name, String(parameterValue)]]
        )
        const query = new URLSearchParams(isReversed ? pairs.reverse() : pairs).toString()
        expect(QueryParameters.decode(listParameters, query, strict)).toEqual(Result.succeed(parameters))
      })
    )
  })

  it("rejects unknown parameters in strict mode, and otherwise returns the same result", () => {
    fc.assert(
      fc.property(anyQuery, (query) => {
        const lenient = QueryParameters.decode(listParameters, query, false)
        const strict = QueryParameters.decode(listParameters, query, true)
        if (Result.isSuccess(strict)) expect(lenient).toEqual(strict)
        else if (Result.isFailure(lenient)) expect(strict.failure.code).toBe(lenient.failure.code)
        else expect(strict.failure.message).toBe("The query string contains an unknown parameter.")
      })
    )
  })
})
