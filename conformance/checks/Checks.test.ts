import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { bySlug } from "../clauses/Clauses.ts"
import { ambientChecks, checks } from "./Checks.ts"

const allChecks = [...checks, ...ambientChecks]
const ids = allChecks.map(({ id }) => id)

const frozenIds = readFileSync(new URL("frozen-ids.txt", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)

describe("checks", () => {
  it("include every id of frozen-ids.txt, because users select and exclude checks by id", () => {
    expect(frozenIds.filter((id) => !ids.includes(id))).toEqual([])
  })

  it("have all their ids in frozen-ids.txt, in sorted order", () => {
    expect(frozenIds).toEqual(ids.toSorted())
  })

  it("have unique, well-formed ids", () => {
    expect(ids.length).toBe(new Set(ids).size)
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/.test(id))).toEqual([])
  })

  it("state their laws as sentences", () => {
    expect(allChecks.filter(({ law }) => !/^[A-Z].*\.$/s.test(law)).map(({ id }) => id)).toEqual([])
  })

  it("name only existing clauses", () => {
    expect(allChecks.flatMap(({ clauses }) => clauses).filter((slug) => !bySlug.has(slug))).toEqual([])
  })

  it("have examples, random cases or both", () => {
    const empty = checks.filter(({ cases, examples }) => examples.length === 0 && cases === undefined)
    expect(empty.map(({ id }) => id)).toEqual([])
  })

  it("declare fewer than 5,000 requests over HTTP in total", () => {
    expect(checks.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThan(5_000)
  })
})
