import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as OwnPlans from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"

const plan = fc.constantFrom(...Plan.names)

const requests = fc.oneof(fc.integer({ min: 1, max: Plan.maxRequests }), fc.constantFrom(1, Plan.maxRequests))

const inAnyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) =>
      [...text].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter.toLowerCase())).join("")
    )

describe("IssueKeyFlag.parsePlan", () => {
  it("accepts the name of each plan in any letter case, and no other string", () => {
    const names = plan.chain((name) => fc.tuple(fc.constant(name), inAnyCase(name)))
    fc.assert(
      fc.property(names, fc.string({ minLength: 1 }), ([name, nameInAnyCase], extra) => {
        expect(IssueKeyFlag.parsePlan(nameInAnyCase)).toEqual(Result.succeed({ plan: name, plans: {} }))
        for (const text of ["", extra, nameInAnyCase + extra, extra + nameInAnyCase]) {
          if (Plan.names.some((known) => known.toLowerCase() === text.toLowerCase())) continue
          expect(IssueKeyFlag.parsePlan(text)).toEqual(
            text.includes("=") ? OwnPlans.parse(text) : Result.fail(`must be one of ${Plan.names.join(", ")}`)
          )
        }
      })
    )
  })
})

describe("IssueKeyFlag.parse", () => {
  it("accepts the plan in any letter case and the limits in any order", () => {
    fc.assert(
      fc.property(
        plan.chain((name) => fc.tuple(fc.constant(name), inAnyCase(name))),
        requests,
        requests,
        fc.shuffledSubarray(["perMinute", "perDay"] as const),
        ([name, nameInAnyCase], perMinute, perDay, given) => {
          fc.pre(Plan.standard[name] !== undefined || given.length === 2)
          const numbers = { perMinute, perDay }
          const pairs = given.map((window) => `${window}=${numbers[window]}`)
          const text = [nameInAnyCase, ...(pairs.length === 0 ? [] : [pairs.join(",")])].join(":")
          const limits = Object.fromEntries(given.map((window) => [window, numbers[window]]))
          expect(IssueKeyFlag.parse(text)).toEqual(Result.succeed({ plan: name, limits }))
        }
      ),
      { numRuns: 500 }
    )
  })

  it("returns valid key options or fails with a reason, for any string", () => {
    const noise = fc
      .array(
        fc.constantFrom(
          "Free",
          "Enterprise",
          "perDay",
          "perMinute",
          "=",
          ":",
          ",",
          "0",
          "5",
          "1e3",
          " ",
          "-"
        ),
        {
          maxLength: 9
        }
      )
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(fc.oneof(noise, fc.string({ unit: "binary" })), (text) => {
        const parsed = IssueKeyFlag.parse(text)
        if (Result.isFailure(parsed)) expect(parsed.failure).toMatch(/\S/)
        else expect(Result.isSuccess(KeyLifecycle.limitsOf(parsed.success))).toBe(true)
      }),
      { numRuns: 2_000 }
    )
  })

  it("states the range of limits, not the whole format, if only a limit is invalid", () => {
    const invalid = fc.oneof(
      fc
        .bigInt({ min: BigInt(Plan.maxRequests) + 1n })
        .map((value) => [String(value), "is too large: it "] as const),
      fc.bigInt({ max: 0n }).map((value) => [String(value), ""] as const),
      fc.constantFrom("", "x", "1.5", "1e3", "0x5").map((value) => [value, ""] as const)
    )
    fc.assert(
      fc.property(plan, fc.constantFrom("perMinute", "perDay"), invalid, (name, window, [value, prefix]) => {
        expect(IssueKeyFlag.parse(`${name}:${window}=${value}`)).toEqual(
          Result.fail(`${window} ${prefix}must be a whole number from 1 to 1000000000`)
        )
      })
    )
  })
})
