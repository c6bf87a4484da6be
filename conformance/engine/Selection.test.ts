import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Capability, descriptions } from "../evaluation/Capability.ts"
import { profiles } from "../evaluation/Profile.ts"
import * as Selection from "./Selection.ts"
import * as Toys from "./Toys.fixture.ts"

const holds = () => Toys.unexpectedCall
const limit = Toys.check({ id: "list.limit", clauses: ["list.limit.default"], holds })
const limitless = Toys.check({ id: "list.limitless", clauses: ["list.array", "list.empty"], holds })
const auth = Toys.check({ id: "auth.first", clauses: ["auth.required"], profile: "auth", holds })
const all = [limit, limitless, auth]

const select = (only: ReadonlyArray<string>, exclude: ReadonlyArray<string> = []) =>
  all.filter((check) => Selection.isSelected(check, { level: "spec", only, exclude })).map(({ id }) => id)

describe("a selection", () => {
  it.each([
    ["no pattern", [], [], ["list.limit", "list.limitless", "auth.first"]],
    ["an id", ["list.limit"], [], ["list.limit"]],
    ["a prefix and an asterisk", ["list.*"], [], ["list.limit", "list.limitless"]],
    ["a word between asterisks", ["*limit*"], [], ["list.limit", "list.limitless"]],
    ["a profile", ["auth"], [], ["auth.first"]],
    ["a clause", ["list.empty"], [], ["list.limitless"]],
    ["the prefix of a clause and an asterisk", ["auth.req*"], [], ["auth.first"]],
    ["several patterns", ["auth", "list.limit"], [], ["list.limit", "auth.first"]],
    ["the exclusion of a check", [], ["list.limit"], ["list.limitless", "auth.first"]],
    ["the exclusion of a profile", [], ["core"], ["auth.first"]],
    ["the exclusion of a clause", [], ["list.array"], ["list.limit", "auth.first"]],
    ["a pattern and the exclusion of a check", ["list.*"], ["list.limit"], ["list.limitless"]],
    ["a profile that is also excluded", ["auth"], ["auth"], []]
  ] as const)("contains exactly the matching checks for %s", (_what, only, exclude, expected) => {
    expect(select(only, exclude)).toEqual(expected)
  })

  it("treats every character of a pattern except the asterisk literally", () => {
    expect(select(["list.limi?"])).toEqual([])
    expect(select(["listxlimit"])).toEqual([])
    expect(select(["list.limit|auth.first"])).toEqual([])
    expect(select(["LIST.LIMIT"])).toEqual([])
    expect(select(["limit"])).toEqual([])
    // The dot in the pattern must not match the x.
    const unrelated = Toys.check({ id: "listxlimit", holds })
    const selection = { level: "spec", only: ["list.limit"], exclude: [] } as const
    expect(Selection.isSelected(unrelated, selection)).toBe(false)
  })

  it("is valid if each pattern matches a check", () => {
    const known = ["list.limit", "auth", "core", "list.*", "auth.required", "*"]
    expect(Result.isSuccess(Selection.validate({ only: known, exclude: known }, all))).toBe(true)
    expect(Result.isSuccess(Selection.validate({ only: [], exclude: [] }, []))).toBe(true)
  })

  it("is rejected if a pattern matches nothing, and the error names the pattern", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (pattern, isOnly) => {
        fc.pre(!/^[*]+$/.test(pattern) && select([pattern]).length === 0)
        const validated = Selection.validate(
          isOnly ? { only: ["auth", pattern], exclude: [] } : { only: [], exclude: ["auth", pattern] },
          all
        )
        expect(Result.isFailure(validated) && validated.failure.pattern).toBe(pattern)
        expect(Result.isFailure(validated) && validated.failure.message).toContain(JSON.stringify(pattern))
      })
    )
  })
})

describe("a plan", () => {
  const everything = { level: "spec", only: [], exclude: [] } as const
  const needing = Toys.check({ needs: ["clock", "tinyPlan"], holds })

  it("runs a check that is selected and has all capabilities that it needs", () => {
    const subject = Toys.subject({ capabilities: new Set(["clock", "tinyPlan"]) })
    expect(Selection.planOf(needing, subject, everything)).toEqual({ run: true })
    expect(Selection.planOf(limit, Toys.subject(), everything)).toEqual({ run: true })
  })

  it("is inconclusive if a capability is missing, and the reason names the flag for the capability", () => {
    expect(Selection.planOf(needing, Toys.subject(), everything)).toEqual({
      run: false,
      status: "inconclusive",
      reason:
        "it needs a clock that can be moved (--clock URL) and a key on a small plan (--tiny KEY:PERMINUTE:PERDAY)"
    })
    const half = Toys.subject({ capabilities: new Set(["clock"]) })
    expect(Selection.planOf(needing, half, everything)).toMatchObject({
      reason: "it needs a key on a small plan (--tiny KEY:PERMINUTE:PERDAY)"
    })
    // Safe: these are the keys of `descriptions`.
    for (const need of Object.keys(descriptions) as ReadonlyArray<Capability>) {
      const plan = Selection.planOf(Toys.check({ needs: [need], holds }), Toys.subject(), everything)
      expect(plan).toMatchObject({ run: false, status: "inconclusive" })
      expect(!plan.run && plan.reason).toMatch(/^it needs .{5}/)
      expect(!plan.run && plan.reason).not.toContain("undefined")
    }
  })

  it("depends first on the selection, then on the subject's declarations, then on the subject's capabilities", () => {
    const subject = Toys.subject({ notApplicable: () => "it never bans" })
    expect(Selection.planOf(needing, subject, { ...everything, exclude: ["core"] })).toMatchObject({
      status: "excluded"
    })
    expect(Selection.planOf(needing, subject, everything)).toEqual({
      run: false,
      status: "not-applicable",
      reason: "it never bans"
    })
  })
})

describe("Selection.isOfLevel", () => {
  it("excludes from level spec only the checks of level design that no standard recommends", () => {
    const { isOfLevel } = Selection
    expect(isOfLevel({ level: "spec" }, "spec")).toBe(true)
    expect(isOfLevel({ level: "spec" }, "design")).toBe(true)
    expect(isOfLevel({ level: "design" }, "spec")).toBe(false)
    expect(isOfLevel({ level: "design" }, "design")).toBe(true)
    expect(isOfLevel({ level: "design", advisedBy: "RFC 9110" }, "spec")).toBe(true)
  })
})

describe("Selection.ordered", () => {
  it("sorts checks by profile, and keeps their order within a profile", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...profiles)), (drawn) => {
        const given = drawn.map((profile, index) => Toys.check({ id: String(index), profile, holds }))
        const ordered = Selection.ordered(given)
        expect(new Set(ordered)).toEqual(new Set(given))
        for (const [index, check] of ordered.entries()) {
          const next = ordered[index + 1]
          if (next === undefined) break
          const [before, after] = [check, next].map(({ profile }) => profiles.indexOf(profile))
          if (before === after) expect(Number(check.id)).toBeLessThan(Number(next.id))
          else expect(before ?? 0).toBeLessThan(after ?? 0)
        }
      })
    )
  })
})
