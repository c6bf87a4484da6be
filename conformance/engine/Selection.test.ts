import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { profiles } from "../clauses/Profile.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as Selection from "./Selection.ts"

const subjectWith = (declared?: HttpSubject.HttpTarget["declared"]) =>
  Effect.runSync(
    HttpSubject.make({
      name: "server",
      transport: () => Effect.never,
      basePath: "/v1",
      baseUrl: undefined,
      keys: { main: "k" },
      declared
    })
  )

const slugs = (selection: Omit<Selection.Selection, "level">) =>
  Selection.checks
    .filter((check) => Selection.isSelected(check, { level: "design", ...selection }))
    .map(({ slug }) => slug)

describe("a selection", () => {
  it("selects by id, pattern and profile, and excludes in the same way", () => {
    expect(slugs({ only: ["list.array"] })).toEqual(["list.array"])
    const lists = slugs({ only: ["list.*"] })
    expect(lists.length).toBeGreaterThan(5)
    expect(lists.filter((slug) => !slug.startsWith("list."))).toEqual([])
    expect(slugs({ only: ["list.*"], exclude: ["core"] })).toEqual([])
    for (const profile of profiles) expect(slugs({ only: [profile] }).length).toBeGreaterThan(0)
  })

  it("fails for a pattern that matches nothing", () => {
    expect(Result.isSuccess(Selection.of(subjectWith(), { only: ["core", "list.*"] }))).toBe(true)
    const unknown = Result.flip(Selection.of(subjectWith(), { exclude: ["core", "li.t.array"] }))
    expect(Result.getOrThrow(unknown)).toMatchObject({ pattern: "li.t.array" })
  })

  it("runs the programs of the selected profiles, those of level design only there, and no bans if there are none", () => {
    const profilesOf = (selection: Partial<Selection.Selection>, declared?: { bans: boolean }) => [
      ...new Set(
        Selection.programsFor(subjectWith(declared), { level: "spec", ...selection }).map(
          ({ profile }) => profile
        )
      )
    ]
    expect(profilesOf({ only: ["auth.required"] })).toEqual(["auth"])
    expect(profilesOf({})).toContain("ban")
    expect(profilesOf({}, { bans: false })).not.toContain("ban")
    const programs = (level: "spec" | "design") => Selection.programsFor(subjectWith(), { level })
    expect(programs("spec").filter(({ isDesign = false }) => isDesign)).toEqual([])
    expect(programs("design").length).toBeGreaterThan(programs("spec").length)
  })
})
