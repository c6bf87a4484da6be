import { describe, expect, it } from "vitest"
import * as Excerpt from "./Excerpt.ts"
import { bytes } from "./Wire.ts"

describe("Excerpt.body", () => {
  it("returns a short body unchanged", () => {
    expect(Excerpt.body(bytes("a short body"), 12)).toBe("a short body")
  })

  it("ends before a word that does not fit, so that redaction never sees half of a key", () => {
    expect(Excerpt.body(bytes("the key ast_0123456789 is unknown"), 16)).toBe("the key … (33 bytes)")
    expect(Excerpt.body(bytes("x".repeat(1_000)), 16)).toBe("… (1000 bytes)")
  })
})
