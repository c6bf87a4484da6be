import { describe, expect, it } from "vitest"
import * as Plan from "./Plan.ts"

describe("Plan", () => {
  it("has the names and limits of contract §8.2", () => {
    expect(Plan.standard).toMatchObject({
      Free: { perMinute: 60, perDay: 1_000 },
      Pro: { perMinute: 300, perDay: 10_000 },
      Business: { perMinute: 1_000, perDay: 100_000 },
      Enterprise: undefined
    })
  })
})

describe("Plan.isValid", () => {
  it.each([
    { perMinute: 1, perDay: 1 },
    { perMinute: Plan.maxRequests, perDay: Plan.maxRequests }
  ])("accepts $perMinute requests per minute and $perDay per day", (plan) => {
    expect(Plan.isValid(plan)).toBe(true)
  })

  it.each([
    { perMinute: 0, perDay: 1 },
    { perMinute: 1, perDay: 0 },
    { perMinute: -1, perDay: 1 },
    { perMinute: 1.5, perDay: 1 },
    { perMinute: 1, perDay: Number.POSITIVE_INFINITY },
    { perMinute: Number.NaN, perDay: 1 },
    { perMinute: Plan.maxRequests + 1, perDay: 1 },
    { perMinute: "60", perDay: 1 },
    { perMinute: 60 },
    {},
    null
  ])("rejects the limits %j", (plan) => {
    expect(Plan.isValid(plan)).toBe(false)
  })
})
