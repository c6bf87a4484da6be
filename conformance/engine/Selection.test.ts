import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { capabilities } from "../evaluation/Capability.ts"
import { profiles } from "../evaluation/Profile.ts"
import * as Selection from "./Selection.ts"
import * as Toys from "./Toys.fixture.ts"

const holds = () => Toys.unasked
const limit = Toys.check({ id: "list.limit", clauses: ["list.limit.default"], holds })
const limitless = Toys.check({ id: "list.limitless", clauses: ["list.array", "list.empty"], holds })
const auth = Toys.check({ id: "auth.first", clauses: ["auth.required"], profile: "auth", holds })
const all = [limit, limitless, auth]

const picked = (only: ReadonlyArray<string>, exclude: ReadonlyArray<string> = []) =>
  all.filter((check) => Selection.isSelected(check, { level: "spec", only, exclude })).map(({ id }) => id)

describe("a selection", () => {
  it.each([
    ["nothing", [], [], ["list.limit", "list.limitless", "auth.first"]],
    ["an id", ["list.limit"], [], ["list.limit"]],
    ["a glob", ["list.*"], [], ["list.limit", "list.limitless"]],
    ["a glob in the middle", ["*limit*"], [], ["list.limit", "list.limitless"]],
    ["a profile", ["auth"], [], ["auth.first"]],
    ["a clause", ["list.empty"], [], ["list.limitless"]],
    ["a glob over clauses", ["auth.req*"], [], ["auth.first"]],
    ["several", ["auth", "list.limit"], [], ["list.limit", "auth.first"]],
    ["all but one", [], ["list.limit"], ["list.limitless", "auth.first"]],
    ["all but a profile", [], ["core"], ["auth.first"]],
    ["all but a clause", [], ["list.array"], ["list.limit", "auth.first"]],
    ["some but one of them", ["list.*"], ["list.limit"], ["list.limitless"]],
    ["a profile that it also excludes", ["auth"], ["auth"], []]
  ] as const)("by %s", (_what, only, exclude, expected) => {
    expect(picked(only, exclude)).toEqual(expected)
  })

  it("has no pattern characters except the asterisk", () => {
    expect(picked(["list.limi?"])).toEqual([])
    expect(picked(["listxlimit"])).toEqual([])
    expect(picked(["list.limit|auth.first"])).toEqual([])
    expect(picked(["LIST.LIMIT"])).toEqual([])
    expect(picked(["limit"])).toEqual([])
    // Every other character of a pattern is literal.
    const other = Toys.check({ id: "listxlimit", holds })
    const selection = { level: "spec", only: ["list.limit"], exclude: [] } as const
    expect(Selection.isSelected(other, selection)).toBe(false)
  })

  it("is valid if each of its patterns matches something", () => {
    const known = ["list.limit", "auth", "core", "list.*", "auth.required", "*"]
    expect(Result.isSuccess(Selection.validate({ only: known, exclude: known }, all))).toBe(true)
    expect(Result.isSuccess(Selection.validate({ only: [], exclude: [] }, []))).toBe(true)
  })

  it("is rejected with the pattern that matches nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (pattern, isOnly) => {
        fc.pre(!/^[*]+$/.test(pattern) && picked([pattern]).length === 0)
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

  it("runs what is selected and possible", () => {
    const subject = Toys.subject({ capabilities: new Set(["clock", "tinyPlan"]) })
    expect(Selection.planOf(needing, subject, everything)).toEqual({ run: true })
    expect(Selection.planOf(limit, Toys.subject(), everything)).toEqual({ run: true })
  })

  it("is inconclusive if something is missing, and says what would help", () => {
    expect(Selection.planOf(needing, Toys.subject(), everything)).toEqual({
      run: false,
      status: "inconclusive",
      reason:
        "it takes a clock that can be moved (--clock URL) and a key on a small plan (--tiny KEY:PERMINUTE:PERDAY)"
    })
    const half = Toys.subject({ capabilities: new Set(["clock"]) })
    expect(Selection.planOf(needing, half, everything)).toMatchObject({
      reason: "it takes a key on a small plan (--tiny KEY:PERMINUTE:PERDAY)"
    })
    for (const need of capabilities) {
      const plan = Selection.planOf(Toys.check({ needs: [need], holds }), Toys.subject(), everything)
      expect(plan).toMatchObject({ run: false, status: "inconclusive" })
      expect(!plan.run && plan.reason).toMatch(/^it takes .{5}/)
      expect(!plan.run && plan.reason).not.toContain("undefined")
    }
  })

  it("depends on the selection first, then on the subject's declarations, then on its capabilities", () => {
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

describe("a level", () => {
  it("includes its own checks, and at level spec also recommendations of standards", () => {
    const of = Selection.isOfLevel
    expect(of({ level: "spec" }, "spec")).toBe(true)
    expect(of({ level: "spec" }, "design")).toBe(true)
    expect(of({ level: "design" }, "spec")).toBe(false)
    expect(of({ level: "design" }, "design")).toBe(true)
    expect(of({ level: "design", advisedBy: "RFC 9110" }, "spec")).toBe(true)
  })
})

describe("the order of checks", () => {
  it("is by profile, and within a profile as listed", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...profiles)), (drawn) => {
        const given = drawn.map((profile, index) => Toys.check({ id: String(index), profile, holds }))
        const ordered = Selection.ordered(given)
        expect(new Set(ordered)).toEqual(new Set(given))
        for (const [index, check] of ordered.entries()) {
          const next = ordered[index + 1]
          if (next === undefined) break
          const [one, other] = [check, next].map(({ profile }) => profiles.indexOf(profile))
          if (one === other) expect(Number(check.id)).toBeLessThan(Number(next.id))
          else expect(one ?? 0).toBeLessThan(other ?? 0)
        }
      })
    )
  })
})
