import { describe, expect, it } from "vitest"
import * as PetStatus from "./PetStatus.ts"

describe("PetStatus", () => {
  it("has the three states of the contract", () => {
    expect(PetStatus.all).toEqual(["available", "pending", "sold"])
  })

  it('has the initial state "available"', () => {
    expect(PetStatus.initial).toBe("available")
  })

  it("lists all states in the validation message", () => {
    expect(PetStatus.message).toBe('must be one of "available", "pending", "sold"')
  })

  it.each(["", "SOLD", "Available", " sold", "sold ", "sold,available", "' OR 1=1--", "toString", "0"])(
    "rejects %j",
    (text) => {
      expect(PetStatus.is(text)).toBe(false)
    }
  )
})
