import { describe, expect, it } from "vitest"
import * as Platform from "./Platform.ts"

describe("Platform.problem", () => {
  it("returns a reason if and only if the Node version is below the minimum", () => {
    expect(Platform.problem("20.20.2", ">=22.19.0")).toBe(
      "Node 22.19.0 or newer is required; this is Node 20.20.2"
    )
    for (const tooOld of ["9.0.0", "22.9.0", "22.18.99"])
      expect(Platform.problem(tooOld, ">=22.19.0")).toBeDefined()
    for (const newEnough of ["22.19.0", "22.100.0", "24.0.0-nightly", "100.0.0"]) {
      expect(Platform.problem(newEnough, ">=22.19.0")).toBeUndefined()
    }
    expect(Platform.problem()).toBeUndefined()
  })
})
