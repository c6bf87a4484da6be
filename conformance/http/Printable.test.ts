import { describe, expect, it } from "vitest"
import { excerpt } from "./Printable.ts"
import { bytes } from "./Wire.ts"

describe("excerpt", () => {
  it("returns a short body unchanged", () => {
    expect(excerpt(bytes("a short body"), 12)).toBe("a short body")
  })

  it("ends before a word that does not fit, so that redaction never sees half of a key", () => {
    expect(excerpt(bytes("the key ast_0123456789 is unknown"), 16)).toBe("the key … (33 bytes)")
    expect(excerpt(bytes("x".repeat(1_000)), 16)).toBe("… (1000 bytes)")
  })
})
