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

describe("the performance page", () => {
  it("shows for each target whether it is met, missed or not measured", () => {
    expect(rowsOf(page, "get")[0]).toBe(
      "| get | **1.50 missed** (≤ 1.45) | 1.00 met (≤ 1.00) | not measured (≤ 2.40) | not measured (≤ 4.00) |"
    )
    expect(rowsOf(page, "create")[0]).toBe(
      "| create | 2.10 met (≤ 2.10) | 1.05 met (≤ 1.10) | not measured (≤ 4.00) | not measured (≤ 4.00) |"
    )
    expect(page).toContain("4 of 39 targets were measured: 3 are met, 1 missed.")
  })

  it("judges targets for figures that are measured within a process", () => {
    const figure = { group: "limits, one step", name: "admitted", unit: "ns", low: 150, high: 260 } as const
    const judged = (value: number) =>
      rowsOf(
        Markdown.render({ ...results, process: [{ section: "limits", figures: [{ ...figure, value }] }] }),
        "One step of the limits, an admitted request"
      )
    expect(judged(160)).toEqual([
      "| One step of the limits, an admitted request | 6,250,000 per second met (≥ 5,000,000 per second) |"
    ])
    expect(judged(250)[0]).toContain("**4,000,000 per second missed**")
  })

  it("judges targets for throughput on PostgreSQL, including those with more connections", () => {
    const page = Markdown.render(
      resultsOf({
        get: { Bare: 20, "AnimalStore PostgreSQL": 50 },
        "get, 256 connections": { Bare: 20, "AnimalStore PostgreSQL": 100 }
      })
    )
    expect(rowsOf(page, "Requests to one process with PostgreSQL, get")[0]).toContain(
      "20,000 per second met (≥ 12,000 per second)"
    )
    expect(
      rowsOf(page, "PostgreSQL throughput with 256 connections, as a multiple of that with 64, get")[0]
    ).toContain("**0.50 missed**")
  })

  const nodesOptions = { nodes: [2], keys: [100], rounds: 5, seconds: 1 }

  it("shows the batch sizes and the CPU time of the database for several nodes", () => {
    const about = (median: number) => ({ median, low: median - 1, high: median + 1 })
    const figures = [
      {
        nodes: 2,
        keys: 100,
        perSecond: about(12_345),
        cpuMicros: about(60),
        databaseMicros: about(40),
        batches: { statements: 10, calls: 45 },
        latency: [{ share: 0.1, p50: about(1), p99: about(2) }]
      }
    ]
    const page = Markdown.render({ ...results, nodes: { options: nodesOptions, figures } })
    expect(page).toContain(
      "| 2 nodes, 100 keys | 12,345 | 60.0 (59.0–61.0) | 40.0 (39.0–41.0) | 4.50 | 1.00 / 2.00 |"
    )
  })

  it("shows why several nodes were not measured", () => {
    const nodes = { options: nodesOptions, figures: [], skipped: "no server" }
    expect(Markdown.render({ ...results, nodes })).toContain("**Skipped**: no server")
  })

  it("names the machine, the versions, and each skipped server with the reason", () => {
    expect(page).toContain("A processor, 2 cores, 8.0 GiB")
    expect(page).toContain("| fastify | 5.12.8 |")
    expect(page).toContain("- AnimalStore PostgreSQL: **skipped**, connection refused")
    const unpinned = { ...results, machine: { ...results.machine, isPinned: false } }
    expect(Markdown.render(unpinned)).toContain("could not be pinned to separate cores")
  })

  it("marks the results of a quick run", () => {
    expect(page).not.toContain("quick run:")
    expect(Markdown.render({ ...results, isQuick: true })).toContain("**A quick run:")
  })

  it("states that there are no results yet", () => {
    expect(Markdown.render(undefined)).toContain("**Not measured yet")
  })

  it("equals the committed page if it is rendered from the committed results", () => {
    const { file, page } = Markdown.committed()
    expect(readFileSync(file, "utf8"), "run: node bench/results/Markdown.ts").toBe(page)
  })
})
