import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Rule from "./Rule.ts"

/** A rule, its valid values, and the message for texts that it rejects. */
interface Example<A> {
  readonly rule: Rule.TextRule<A>
  readonly values: fc.Arbitrary<A>
  readonly reason: RegExp
}

const integers: Example<number> = {
  rule: Rule.integer({ min: 3, max: 9_000_000 }),
  values: fc.integer({ min: 3, max: 9_000_000 }),
  reason: /^must be a whole number from 3 to 9000000$/
}

const durations: Example<number> = {
  rule: Rule.milliseconds({ min: 0, max: 90_000 }),
  values: fc.integer({ min: 0, max: 90_000 }),
  reason: /^must be a duration from 0 to 90s, such as 500ms, 30s or 24h$/
}

const words: Example<"closed" | "open"> = {
  rule: Rule.oneOf(["closed", "open"]),
  values: fc.constantFrom("closed", "open"),
  reason: /^must be one of closed, open$/
}

const booleans: Example<boolean> = {
  rule: Rule.boolean,
  values: fc.boolean(),
  reason: /^must be true or false$/
}

const fractions: Example<number> = {
  rule: Rule.fraction,
  values: fc.integer({ min: 0, max: 1_000 }).map((thousandths) => thousandths / 1_000),
  reason: /^must be a number from 0 to 1$/
}

const texts: Example<string> = {
  rule: Rule.text,
  values: fc.string({ minLength: 1 }),
  reason: /^must not be empty$/
}

const lawsOf = <A>(name: string, { reason, rule, values }: Example<A>) =>
  describe(name, () => {
    it("parses the text of each valid value to that value", () => {
      fc.assert(
        fc.property(values, (value) => {
          expect(rule.isValid(value)).toBe(true)
          expect(rule.reader.parse(rule.format(value))).toEqual(Result.succeed(value))
        })
      )
    })

    it("parses any text to a valid value, or fails with its reason", () => {
      const noise = fc.constantFrom(
        "",
        " 5",
        "5 ",
        "+5",
        "-1",
        "1e3",
        "0x5",
        "5.0",
        "OPEN",
        "yes",
        "1.1",
        "\n"
      )
      fc.assert(
        fc.property(fc.oneof(noise, fc.string()), (text) => {
          const parsed = rule.reader.parse(text)
          if (Result.isFailure(parsed)) expect(parsed.failure).toMatch(reason)
          else expect(rule.isValid(parsed.success)).toBe(true)
        })
      )
    })
  })

lawsOf("Rule.integer", integers)
lawsOf("Rule.milliseconds", durations)
lawsOf("Rule.oneOf", words)
lawsOf("Rule.boolean", booleans)
lawsOf("Rule.fraction", fractions)
lawsOf("Rule.text", texts)

describe("Rule.boolean", () => {
  it.each([
    ["on", true],
    ["YES", true],
    ["1", true],
    ["y", true],
    ["True", true],
    ["off", false],
    ["No", false],
    ["0", false],
    ["n", false]
  ])("parses '%s'", (word, value) => {
    expect(Rule.boolean.reader.parse(word)).toEqual(Result.succeed(value))
  })
})

describe("Rule.listForm", () => {
  const { parse } = Rule.integer({ min: 0, max: 9 }).reader
  const { reader } = Rule.listForm("N", "spaces", parse, (numbers) => numbers.toReversed())

  it("collects the values of all texts, or fails with the first invalid text", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 12 })), (numbers) => {
        const invalid = numbers.find((number) => number > 9)
        expect(reader.parseAll(numbers.map(String))).toEqual(
          invalid === undefined
            ? Result.succeed(numbers.toReversed())
            : Result.fail({ text: String(invalid), reason: "must be a whole number from 0 to 9" })
        )
      })
    )
  })
})
