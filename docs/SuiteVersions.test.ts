import { describe, expect, it } from "vitest"
import * as Versions from "../conformance/clauses/Versions.ts"
import * as SuiteVersions from "./SuiteVersions.ts"

const versions = SuiteVersions.readVersions()
const hint = "run: npm run generate"

describe("versions of the suite", () => {
  it("the last version is the one in conformance/clauses/Versions.ts", () => {
    expect(versions.at(-1)?.version, hint).toBe(Versions.suite)
  })

  it("the last version contains exactly the current clauses", () => {
    const { changed, added, removed } = SuiteVersions.changes(
      SuiteVersions.readFrozen(Versions.suite),
      SuiteVersions.current
    )
    expect({ changed, added, removed }, hint).toEqual({ changed: [], added: [], removed: [] })
    expect(SuiteVersions.hashOf(SuiteVersions.current), hint).toBe(versions.at(-1)?.hash)
  })

  it.each(versions)("version $version has a description and a correct SHA-256", ({ hash, says, version }) => {
    expect(SuiteVersions.hashOf(SuiteVersions.readFrozen(version))).toBe(hash)
    expect(says).toMatch(/^[A-Z].*\.$/)
  })
})

describe("a change to the suite", () => {
  const clause = { slug: "list.limit", says: "A list is short.", level: "spec", observable: "http" } as const
  const otherClause = { ...clause, slug: "list.order", says: "A list is sorted." } as const
  const before = SuiteVersions.freeze([clause])
  const released = (version: string) => [
    { version, released: "2026-12-01", says: "First.", hash: SuiteVersions.hashOf(before) }
  ]
  const freeze = (version: string, after: SuiteVersions.Frozen, from = released("1.0.0")) =>
    SuiteVersions.freezeAs(from, version, after, () => before)

  const changes = [
    ["a changed sentence", SuiteVersions.freeze([{ ...clause, says: "A list is long." }])],
    ["a changed level", SuiteVersions.freeze([{ ...clause, level: "design" }])],
    ["a changed slug", SuiteVersions.freeze([{ ...clause, slug: "list.size" }])],
    ["an added clause", SuiteVersions.freeze([clause, otherClause])]
  ] as const

  it.each(changes)("is rejected in a released version: %s", (_change, after) => {
    expect(freeze("1.0.0", after)).toMatch(/must not change: set the next version/)
  })

  it.each(changes)(
    "starts a new version, which can be frozen again until it is released: %s",
    (_change, after) => {
      const next = freeze("1.1.0", after)
      if (typeof next === "string") throw new Error(next)
      expect(next.map(({ released, version }) => [version, released])).toEqual([
        ["1.0.0", "2026-12-01"],
        ["1.1.0", null]
      ])
      expect(next[1]?.hash).toBe(SuiteVersions.hashOf(after))
      const again = SuiteVersions.freezeAs(next, "1.1.0", before, () => before)
      expect(again).toMatchObject([{}, { hash: SuiteVersions.hashOf(before) }])
    }
  )

  it("needs a new minor or major version if ids are added or removed, otherwise at least a patch version", () => {
    const [[, wording], , [, renamed], [, added]] = changes
    expect(freeze("1.0.1", wording)).toHaveLength(2)
    for (const after of [renamed, added]) {
      expect(freeze("1.0.1", after)).toMatch(/too low/)
      expect(freeze("2.0.0", after)).toHaveLength(2)
      expect(freeze("0.9.0", after)).toMatch(/too low/)
    }
  })

  it("is listed in the changelog as added or changed", () => {
    const after = SuiteVersions.freeze([{ ...clause, says: "A list is long." }, otherClause])
    const next = freeze("1.1.0", after)
    if (typeof next === "string") throw new Error(next)
    const page = SuiteVersions.render(next, (version) => (version === "1.0.0" ? before : after))
    expect(page).toContain("## 1.1.0 (unreleased)")
    expect(page).toContain("- Added: clause `list.order`\n- Changed: clause `list.limit`")
    expect(page).toContain("## 1.0.0 (2026-12-01)")
  })
})
