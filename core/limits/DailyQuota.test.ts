import { describe, expect, it } from "vitest"
import * as DailyQuota from "./DailyQuota.ts"

describe("DailyQuota.dayAt", () => {
  it("returns the next day exactly from midnight UTC", () => {
    expect(DailyQuota.dayAt(0, Date.UTC(2030, 11, 4, 23, 59, 59, 999))).toBe(
      Date.UTC(2030, 11, 4) / 86_400_000
    )
    expect(DailyQuota.dayAt(0, Date.UTC(2030, 11, 5))).toBe(Date.UTC(2030, 11, 5) / 86_400_000)
  })

  it("returns the stored day when the clock is set back", () => {
    expect(DailyQuota.dayAt(20_000, Date.UTC(2000, 0))).toBe(20_000)
  })
})

describe("DailyQuota.endOf", () => {
  it("returns the moment at which the next day begins", () => {
    const day = DailyQuota.dayAt(0, Date.UTC(2028, 1, 28, 12))
    expect(DailyQuota.endOf(day)).toBe(Date.UTC(2028, 1, 29))
    expect(DailyQuota.dayAt(0, DailyQuota.endOf(day))).toBe(day + 1)
    expect(DailyQuota.dayAt(0, DailyQuota.endOf(day) - 1)).toBe(day)
  })
})
