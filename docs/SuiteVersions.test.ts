import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Versions from "../conformance/clauses/Versions.ts"
import * as SuiteVersions from "./SuiteVersions.ts"

const versions = SuiteVersions.readVersions()
const hint = `run: ${SuiteVersions.command}`

describe("the versions of the suite", () => {
  it("end with the version that conformance/clauses/Versions.ts names", () => {
    expect(versions.at(-1)?.version, hint).toBe(Versions.suite)
  })

  it("have the current checks and clauses in the last version", () => {
    const { changed, added, removed } = SuiteVersions.changes(
      SuiteVersions.readFrozen(Versions.suite),
      SuiteVersions.current
    )
    expect({ changed, added, removed }, hint).toEqual({ changed: [], added: [], removed: [] })
    expect(SuiteVersions.hashOf(SuiteVersions.current), hint).toBe(versions.at(-1)?.hash)
  })

  it.each(versions)("all have a description and a correct SHA-256: $version", ({ hash, says, version }) => {
    expect(SuiteVersions.hashOf(SuiteVersions.readFrozen(version))).toBe(hash)
    expect(says).toMatch(/^[A-Z].*\.$/)
  })

  it("are all listed in conformance/changelog.md", () => {
    expect(readFileSync(SuiteVersions.path, "utf8"), hint).toBe(SuiteVersions.render())
  })
})

describe("a change of the suite", () => {
  const law = { id: "list.limit", law: "A list is short.", level: "spec", on: "http" } as const
  const other = { id: "list.order", law: "A list is sorted.", level: "design", on: "http" } as const
  const says = { slug: "list.array", says: "A list is an array.", level: "spec" } as const
  const before = SuiteVersions.freeze([law], [says])
  const released = (version: string) => [
    { version, released: "2026-12-01", says: "First.", hash: SuiteVersions.hashOf(before) }
  ]
  const freeze = (version: string, after: SuiteVersions.Frozen, from = released("1.0.0")) =>
    SuiteVersions.frozenAs(from, version, after, () => before)

  const changed = [
    ["a changed law", SuiteVersions.freeze([{ ...law, law: "A list is long." }], [says])],
    ["a changed level", SuiteVersions.freeze([{ ...law, level: "design" }], [says])],
    ["a changed id", SuiteVersions.freeze([{ ...law, id: "list.size" }], [says])],
    ["an added check", SuiteVersions.freeze([law, other], [says])],
    ["a changed clause", SuiteVersions.freeze([law], [{ ...says, says: "A list is a list." }])]
  ] as const

  it.each(changed)("is rejected if the version is released: %s", (_change, after) => {
    expect(freeze("1.0.0", after)).toMatch(/must not change: set the next version/)
  })

  it.each(changed)("starts a new version, which can be frozen until its release: %s", (_change, after) => {
    const next = freeze("1.1.0", after)
    if (typeof next === "string") throw new Error(next)
    expect(next.map(({ released, version }) => [version, released])).toEqual([
      ["1.0.0", "2026-12-01"],
      ["1.1.0", null]
    ])
    expect(next[1]?.hash).toBe(SuiteVersions.hashOf(after))
    const again = SuiteVersions.frozenAs(next, "1.1.0", before, () => before)
    expect(again).toMatchObject([{}, { hash: SuiteVersions.hashOf(before) }])
  })

  it("needs a new minor or major number if ids are added or removed, otherwise a patch number", () => {
    const [[, wording], , [, renamed], [, added]] = changed
    expect(freeze("1.0.1", wording)).toHaveLength(2)
    for (const after of [renamed, added]) {
      expect(freeze("1.0.1", after)).toMatch(/too low/)
      expect(freeze("2.0.0", after)).toHaveLength(2)
      expect(freeze("0.9.0", after)).toMatch(/too low/)
    }
  })

  it("is listed in the changelog as added, removed or changed", () => {
    const after = SuiteVersions.freeze([{ ...law, law: "A list is long." }, other], [])
    const next = freeze("1.1.0", after)
    if (typeof next === "string") throw new Error(next)
    const page = SuiteVersions.render(next, (version) => (version === "1.0.0" ? before : after))
    expect(page).toContain("## 1.1.0 (unreleased)")
    expect(page).toContain(
      "- Added: check `list.order`\n- Removed: clause `list.array`\n- Changed: check `list.limit`"
    )
    expect(page).toContain("## 1.0.0 (2026-12-01)")
  })
})
