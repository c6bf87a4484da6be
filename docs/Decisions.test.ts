/** Checks the form of the decision pages, and every reference to them in the sources. */
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { anchorsOf } from "./Anchors.fixture.ts"

const root = new URL("../", import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), "utf8")

const pages = readdirSync(new URL("docs/decisions/", root)).filter((name) => name !== "README.md")

/** The source files that may cite a decision. */
const sources = ["core", "adapters", "conformance", "bench", "docs", ".config"].flatMap((directory) =>
  readdirSync(new URL(`${directory}/`, root), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|js|cjs|mjs|java|py)$/.test(name) && !name.includes("node_modules"))
    .map((name) => `${directory}/${name}`)
)

describe("the decisions", () => {
  it("are at most fifteen pages, each named by its theme and listed in the index", () => {
    const index = read("docs/decisions/README.md").matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \|/gm)
    expect([...index].map(([, page]) => page).toSorted()).toEqual(pages.toSorted())
    expect(pages.length).toBeLessThanOrEqual(15)
    expect(pages.filter((page) => !/^[a-z]+(?:-[a-z]+)*\.md$/.test(page))).toEqual([])
  })

  it.each(pages)("have a context, a choice and a cost in each entry of %s, in this order", (page) => {
    const [, ...entries] = read(`docs/decisions/${page}`).split(/^## /m)
    const incomplete = entries.filter(
      (entry) => !/^\*\*Context\.\*\*.*^\*\*Choice\.\*\*.*^\*\*Cost\.\*\*/ms.test(entry)
    )
    expect(incomplete.map((entry) => entry.split("\n")[0])).toEqual([])
    expect(entries.length).toBeGreaterThan(0)
  })

  it("exist where the sources cite them", () => {
    const dead = sources.flatMap((source) =>
      [...read(source).matchAll(/docs\/decisions\/([\w-]+\.md)(?:#([\w-]+))?/g)]
        .filter(([, page = "", anchor]) => {
          if (page === "README.md") return false
          if (!pages.includes(page)) return true
          return anchor !== undefined && !anchorsOf(read(`docs/decisions/${page}`)).includes(anchor)
        })
        .map(([reference]) => `${source}: ${reference}`)
    )
    expect(dead).toEqual([])
  })
})
