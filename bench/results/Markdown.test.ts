import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Markdown from "./Markdown.ts"
import { resultsOf } from "./Results.fixture.ts"

const results = resultsOf({
  get: { Bare: 20, Fastify: 30, "AnimalStore memory": 30 },
  create: { Bare: 20, Fastify: 40, "AnimalStore memory": 42 }
})
const page = Markdown.render(results)
const rowsOf = (text: string, first: string) =>
  text
    .slice(text.indexOf("## Targets"))
    .split("\n")
    .filter((line) => line.startsWith(`| ${first} |`))

describe("Markdown", () => {
  it("shows for each target whether it is met, missed or not measured", () => {
    expect(rowsOf(page, "get")[0]).toBe(
      "| get | **1.50 missed** (≤ 1.45) | 1.00 met (≤ 1.00) | not measured (≤ 2.40) |"
    )
    expect(rowsOf(page, "create")[0]).toBe(
      "| create | 2.10 met (≤ 2.10) | 1.05 met (≤ 1.10) | not measured (≤ 4.00) |"
    )
    expect(page).toContain("4 of 24 targets were measured: 3 are met, 1 missed.")
  })

  it("judges figures that are measured within processes", () => {
    const figure = { group: "limits, one step", name: "admitted", unit: "ns", low: 150, high: 260 } as const
    const judged = (value: number) =>
      rowsOf(
        Markdown.render({ ...results, process: [{ section: "limits", figures: [{ ...figure, value }] }] }),
        "One step of the limits, an admitted request"
      )
    expect(judged(160)).toEqual([
      "| One step of the limits, an admitted request | 6 250 000 per second met (≥ 5 000 000 per second) |"
    ])
    expect(judged(250)[0]).toContain("**4 000 000 per second missed**")
  })

  it("names the machine, the versions, and the skipped servers with the reason", () => {
    expect(page).toContain("A processor, 2 cores, 8.0 GiB")
    expect(page).toContain("| fastify | 5.12.8 |")
    expect(page).toContain("- AnimalStore PostgreSQL: **skipped**, connection refused")
    const unpinned = { ...results, machine: { ...results.machine, isPinned: false } }
    expect(Markdown.render(unpinned)).toContain("could not be pinned to cores")
  })

  it("marks a quick run, and a page without figures", () => {
    expect(page).not.toContain("quick run:")
    expect(Markdown.render({ ...results, isQuick: true })).toContain("**A quick run:")
    expect(Markdown.render(undefined)).toContain("**Not measured yet")
  })

  it("renders the committed results as docs/performance/README.md", () => {
    const { file, page } = Markdown.committed()
    expect(readFileSync(file, "utf8"), "run: node bench/results/Markdown.ts").toBe(page)
  })
})
