import { describe, expect, it } from "vitest"
import * as Legal from "./Legal.ts"
import { mutants } from "./Mutants.ts"

const reasonOf = (id: string): string | undefined => {
  const mutant = mutants.find((candidate) => candidate.id === id)
  if (mutant === undefined) throw new Error(`the mutant "${id}" does not exist`)
  return Legal.reasonFor(mutant)
}

describe("Legal.reasonFor", () => {
  it.each([
    "put into capitals parameter status · on HEAD",
    "round to a double id in the path · on HEAD",
    "send the one before the previous X-RateLimit-Reset · on 401",
    "double X-RateLimit-Limit · without a valid key",
    "halve verdict: remaining · without a valid key",
    "take one from state: used · without a valid key",
    "halve stored: bannedUntil · on retrievals",
    "drop Content-Type · on 404",
    "add one to state: level · on lists",
    "send the previous Retry-After · without a valid key",
    "double verdict: retryAfter · on lists",
    "drop status in a retrieval · after 300 requests"
  ])("returns a reason for the legal mutant '%s'", (id) => {
    expect(reasonOf(id)).toMatch(/\S/)
  })

  it.each([
    "multiply by 1000 state: bannedUntil · after a 429",
    "send the previous stored: bannedUntil · for the key of a run",
    "drop X-RateLimit-Remaining · without a valid key",
    "negate X-RateLimit-Limit · without a valid key",
    "take one from X-RateLimit-Remaining · without a valid key",
    "send zero for verdict: resetAt · without a valid key",
    "empty Content-Type · for the key of a run",
    "cut at 10 characters Content-Type · on 404",
    "take one from state: level · on lists",
    "take one from state: day · on creations",
    "always send the first verdict: retryAfter · without a valid key",
    "halve Retry-After · without a valid key",
    "multiply by 1000 Retry-After · on lists",
    "drop X-RateLimit-Limit · on HEAD",
    "swap status in a creation · always"
  ])("returns no reason for the faulty mutant '%s'", (id) => {
    expect(reasonOf(id)).toBeUndefined()
  })
})

describe("Legal.rules", () => {
  it("contains only rules that apply to at least one mutant", () => {
    const unused = Legal.rules.filter((rule) => !mutants.some((mutant) => rule.holds(mutant)))
    expect(unused.map(({ reason }) => reason)).toEqual([])
  })
})
