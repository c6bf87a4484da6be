import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Markdown from "./Markdown.ts"
import { report, withHarmlessTexts } from "./Report.arbitrary.ts"
import { example } from "./Report.fixture.ts"

interface Structure {
  readonly lines: ReadonlyArray<string>
  readonly isClosed: boolean
}

/** Returns the kind of each line: a fence, a line in a fence, a row with its number of cells, HTML or text. */
const structureOf = (markdown: string): Structure => {
  let fence: string | undefined
  const lines = markdown.split("\n").map((line) => {
    if (fence !== undefined) {
      if (/^ {0,3}`{3,}\s*$/.test(line) && line.trim().length >= fence.length) {
        fence = undefined
        return "end of fence"
      }
      return "in a fence"
    }
    fence = /^`{3,}/.exec(line)?.[0]
    if (fence !== undefined) return "fence"
    const tags = (line.match(/<[^>]*>/g) ?? []).join("")
    return [/^(#* |- |\| |$)/.exec(line)?.[0] ?? "text", tags, line.split("|").length].join(" ")
  })
  return { lines, isClosed: fence === undefined }
}

describe("a report as Markdown", () => {
  it("has the same structure whatever the texts of the report are", () => {
    fc.assert(
      fc.property(report, (value) => {
        const structure = structureOf(Markdown.render(value))
        expect(structure).toEqual(structureOf(Markdown.render(withHarmlessTexts(value))))
        expect(structure.isClosed).toBe(true)
      })
    )
  })

  it("has no emphasis, link, image, code or entity from the texts of the report, and no invisible character", () => {
    fc.assert(
      fc.property(report, (value) => {
        const markdown = Markdown.render(value)
        const { lines } = structureOf(markdown)
        for (const [index, line] of markdown.split("\n").entries()) {
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
          if (lines[index]?.includes("fence")) continue
          const text = line
            .replace(/<\/?(details|summary|code)>/g, "")
            // An entity becomes a dot, so that the characters on both sides do not become adjacent.
            .replace(/&#\d+;/g, "·")
            .replace(/^#{2,3} |\|/g, "")
          expect(text).not.toMatch(/[`*_~[\]<>&#\\|@]|:\/|www\./i)
        }
      })
    )
  })

  it("shows an empty text as an item of its list", () => {
    expect(Markdown.render({ ...example, findings: [""] })).toContain("\n- &#32;\n")
  })

  it("shows the verdict, the counts, each failure, and the command that replays the failure", () => {
    const text = Markdown.render(example)
    expect(text).toMatch(/^## NOT CONFORMANT at level spec: 2 of 3 checks failed\n/)
    expect(text).toContain("| 8 | 3 | 1 | 2 | 2 | 1 | 1 | 1 |")
    expect(text).toContain("\n### Probable cause: <code>list.limit.ceiling</code>\n")
    expect(text).toContain("\n1. GET /pets?limit=1 (tiny key) → 200, remaining 4 []\n")
    expect(text).toContain("\nanimal-store conformance replay asc1_q1bKzVeyUkrOz03MVbBVMjBUqgUA\n")
    expect(text).toContain(
      "| <code>limits.per-day</code>, <code>limits.per-minute</code> | it needs a clock |"
    )
  })
})
