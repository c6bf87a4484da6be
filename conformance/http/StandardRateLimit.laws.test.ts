import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as StandardRateLimit from "./StandardRateLimit.ts"

const policiesIn = (...values: ReadonlyArray<string>) =>
  StandardRateLimit.policiesIn({ headers: values.map((value) => ["RateLimit", value]) }, "RateLimit")

const name = fc.string({ unit: fc.constantFrom(...'abc;,="\\ -5'), maxLength: 8 })
const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`

const parameter = fc.tuple(
  fc.constantFrom("r", "t", "q", "w", "x-acme"),
  fc.oneof(fc.nat().map(String), fc.constantFrom('"a;b,c"', ":cHdsRg==:", "?1", "1.5", "token", '"requests"'))
)

const item = fc.tuple(name, fc.uniqueArray(parameter, { selector: ([key]) => key, maxLength: 4 }))

const items = fc.uniqueArray(item, { selector: ([policy]) => policy, maxLength: 4 })

describe("policiesIn", () => {
  it("returns the integers of each policy, whether the list is sent in one line or in several", () => {
    fc.assert(
      fc.property(items, (items) => {
        const texts = items.map(([policy, parameters]) =>
          [quoted(policy), ...parameters.map(([key, value]) => `${key}=${value}`)].join(";")
        )
        const found = policiesIn(texts.join(", "))
        expect(found).toEqual(policiesIn(...texts))
        expect([...(found ?? [])].map(([, numbers]) => [...numbers])).toEqual(
          items.map(([, parameters]) =>
            parameters
              .filter(([, value]) => /^[0-9]+$/.test(value))
              .map(([key, value]) => [key, Number(value)])
          )
        )
      })
    )
  })

  it.each(["limit=60, remaining=1", "60", '"a"; r=1,', '"a', "a;r=1", '"a";R=1', '"a" "b"', '"a";r=1;;t=2'])(
    "returns undefined for %s",
    (text) => {
      expect(policiesIn(text)).toBeUndefined()
    }
  )

  it("never throws, and takes linear time for long texts", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'"\\;=,a1 :?'), maxLength: 300 }),
        (text) => void policiesIn(text)
      )
    )
    // Quadratic time would exceed the time limit of the test.
    for (const part of ['"', '";', '"a";a', ";a=1", "\\", '"a",', ":", " "]) policiesIn(part.repeat(200_000))
  })
})
