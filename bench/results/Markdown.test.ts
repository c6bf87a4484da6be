import { describe, expect, it } from "vitest"
import * as Markdown from "./Markdown.ts"
import { resultsOf } from "./Results.fixture.ts"

const results = resultsOf({
  get: { Bare: 20, Fastify: 30, "AnimalStore memory": 28 },
  create: { Bare: 20, Fastify: 40, "AnimalStore memory": 34 }
})
const page = Markdown.render(results)
const rowsOf = (text: string, first: string) =>
  text.split("\n").filter((line) => line.startsWith(`| ${first} |`))

describe("Markdown", () => {
  it("says of each target whether it is met or missed, by which figure, or that nothing was measured", () => {
    expect(rowsOf(page, "get")).toEqual([
      "| get | **1.40 missed** (≤ 1.3) | **0.93 missed** (≤ 0.9) | not measured (≤ 0.5) | not measured (≤ 0.5) | not measured (≤ 0.5) |"
    ])
    expect(rowsOf(page, "create")[0]).toContain("| create | 1.70 met (≤ 1.7) | 0.85 met (≤ 0.9) |")
    expect(page).toContain("4 of 45 targets were measured: 2 are met, 2 missed.")
  })

  it("judges what is measured within processes", () => {
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

  it("names machine, versions, and what was skipped for which reason", () => {
    expect(page).toContain("A processor, 2 cores, 8.0 GiB")
    expect(page).toContain("| fastify | 5.12.8 |")
    expect(page).toContain("- AnimalStore PostgreSQL: **skipped**, nobody listens")
    const unpinned = { ...results, machine: { ...results.machine, isPinned: false } }
    expect(Markdown.render(unpinned)).toContain("could not be given a core each")
  })

  it("says when a run was too quick to judge by", () => {
    expect(page).not.toContain("quick run")
    expect(Markdown.render({ ...results, isQuick: true })).toContain("**A quick run:")
  })
})
