import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { profiles } from "../clauses/Profile.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Selection from "./Selection.ts"

const subjectWith = (declared?: HttpSubject.HttpTarget["declared"]) =>
  HttpSubject.make({
    name: "server",
    transport: () => Effect.never,
    basePath: "/v1",
    baseUrl: undefined,
    keys: { main: "k" },
    declared
  })

const storesWithAll = PortSubject.make({
  name: "stores",
  petRepository: Layer.empty as never,
  rateLimitStore: Layer.empty as never,
  apiKeyStore: Layer.empty as never
})

/** Selects checks; a pattern may select none of a server or of stores. */
const slugs = (options: Selection.SelectionOptions): ReadonlyArray<string> =>
  [subjectWith(), storesWithAll].flatMap((subject) =>
    Result.match(Selection.of(subject, { level: "design", ...options }), {
      onSuccess: ({ selected }) => [...selected],
      onFailure: () => []
    })
  )

const selectionOf = (subject: Subject, options: Selection.SelectionOptions) =>
  Result.getOrThrow(Selection.of(subject, options))

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
    const programsOf = (options: Selection.SelectionOptions, declared?: { bans: boolean }) => {
      const subject = subjectWith(declared)
      return Selection.programsFor(subject, selectionOf(subject, options))
    }
    const profilesOf = (...given: Parameters<typeof programsOf>) => [
      ...new Set(programsOf(...given).map(({ profile }) => profile))
    ]
    expect(profilesOf({ only: ["auth.required"] })).toEqual(["auth"])
    expect(profilesOf({})).toContain("ban")
    expect(profilesOf({}, { bans: false })).not.toContain("ban")
    expect(programsOf({ level: "spec" }).filter(({ isDesign = false }) => isDesign)).toEqual([])
    expect(programsOf({ level: "design" }).length).toBeGreaterThan(programsOf({ level: "spec" }).length)
  })
})
