import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Report } from "../engine/Report.ts"
import * as Badge from "./Badge.ts"
import { report } from "./Report.arbitrary.ts"
import { example } from "./Report.fixture.ts"

const resultOf = (verdict: Report["verdict"], claims: NonNullable<Report["claims"]> = []) =>
  Badge.result({ verdict, claims })

describe("a badge", () => {
  it("shows the verdict or the claims in the color of the result", () => {
    expect(resultOf("conformant", ["core", "auth"])).toEqual(["conformant", "good"])
    expect(resultOf("inconclusive", ["core", "auth"])).toEqual(["conformant: core, auth", "good"])
    expect(resultOf("selection-passed", ["core"])).toEqual(["conformant: core", "good"])
    expect(resultOf("inconclusive")).toEqual(["inconclusive", "undecided"])
    expect(resultOf("selection-passed")).toEqual(["inconclusive", "undecided"])
    expect(resultOf("not-conformant", ["auth"])).toEqual(["not conformant", "bad"])
    expect(resultOf("error", ["core"])).toEqual(["error", "error"])
  })

  it("is never green for the verdicts not-conformant and error", () => {
    fc.assert(
      fc.property(report, (value) => {
        if (value.verdict === "not-conformant" || value.verdict === "error") {
          expect(Badge.render(value)).not.toContain("#176639")
        }
      })
    )
  })

  it("has a title for screen readers", () => {
    expect(/<title>(.*)<\/title>/.exec(Badge.render(example))?.[1]).toBe(
      "Shop 2.1, https://shop.example/about: not conformant at level spec, Animal Store Service Interface 1.0.0, suite 1.0.0 (animal-store 0.1.0), 2026-11-20"
    )
    expect(Badge.render(example)).toMatch(/^<svg [^>]*role="img" aria-label="Shop 2\.1/)
  })

  it("has the same elements whatever the texts of the report are, and only characters that are valid in XML", () => {
    const tags = (svg: string) => svg.match(/<\/?[a-zA-Z]+/g)
    fc.assert(
      fc.property(report, (value) => {
        const svg = Badge.render(value)
        expect(tags(svg)).toEqual(tags(Badge.render(example)))
        expect(svg.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        expect(svg.replace(/&(amp|lt|gt|quot);/g, "")).not.toContain("&")
        expect(svg).not.toMatch(/<(script|image|use|a|foreignObject|style)\b/)
      })
    )
  })

  it("is wide enough for its two texts, which do not overlap", () => {
    fc.assert(
      fc.property(report, (value) => {
        const svg = Badge.render(value)
        const texts = [...svg.matchAll(/<text x="(\d+)" y="14" textLength="(\d+)"/g)].map(([, x, length]) => [
          Number(x),
          Number(x) + Number(length)
        ])
        const [[from = 0, to = 0] = [], [nextFrom = 0, nextTo = 0] = []] = texts
        const width = Number(/width="(\d+)"/.exec(svg)?.[1])
        expect([from > 0, to < nextFrom, nextTo < width]).toEqual([true, true, true])
      })
    )
  })
})
