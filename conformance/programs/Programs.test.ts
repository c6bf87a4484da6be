import { describe, expect, it } from "vitest"
import { programs } from "./Programs.ts"

describe("the order of programs", () => {
  it("lets a slow server decide who is admitted: credentials come before the long program of requests", () => {
    const before = programs.slice(0, programs.findIndex(({ name }) => name === "credentials") + 1)
    expect(before.map(({ name }) => name)).toContain("credentials")
    expect(before.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThan(600)
  })
})
