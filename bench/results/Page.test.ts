import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { all } from "../http/Servers.ts"
import * as Comparison from "./Comparison.ts"
import * as Page from "./Page.ts"
import { resultsOf } from "./Results.fixture.ts"
import * as Targets from "./Targets.ts"

const memory = "AnimalStore memory"
const sqlite = "AnimalStore SQLite"
const fastify = "Fastify SQLite, counts in the file"
const results = resultsOf({
  get: { Bare: [20], "Fastify memory": [30], [memory]: [36] },
  create: { Bare: [20], "Fastify memory": [40], [memory]: [42], [sqlite]: [44], [fastify]: [200] }
})
const page = Page.render(results)
const rowsOf = (text: string, first: string) =>
  text
    .slice(text.indexOf("## Targets"))
    .split("\n")
    .filter((line) => new RegExp(`^\\| ${first} \\|`).test(line))

describe("the performance page", () => {
  it("shows for each target whether it is met, missed or not measured", () => {
    const verdictOf = (target: string) => rowsOf(page, `CPU time of ${target}`)[0]?.split(" | ")[1]
    expect(verdictOf(`${memory} / Fastify memory, get`)).toBe("**1.20 missed** (≤ 1.10) |")
    expect(verdictOf(`${memory} / Fastify memory, create`)).toBe("1.05 met (≤ 1.10) |")
    expect(verdictOf(`${sqlite} / ${fastify}, create`)).toBe("0.22 met (≤ 0.22) |")
    expect(verdictOf(`${sqlite} / ${fastify}, get`)).toBe("not measured (≤ 0.20) |")
    expect(page).toMatch(/\n4 of \d+ targets were measured: 3 are met, 1 missed\./)
  })

  it("shows the median of the ratios of each round, whatever other load the rounds had", () => {
    // The ratio of the medians is 1, although the server took twice as long in two of three rounds.
    const page = Page.render(resultsOf({ create: { [sqlite]: [2, 20, 3], [fastify]: [1, 10, 3] } }))
    expect(page).toContain(`| **${sqlite}** / ${fastify} | not measured | not measured | 2.00 (1.50–2.00) |`)
  })

  it("judges targets for figures that are measured within a process", () => {
    const judged = (median: number) => {
      const figure = { median, low: 150, high: 260 }
      const process = { listeningMs: figure, stepNanos: figure, imports: { PostgreSQL: figure } }
      return rowsOf(
        Page.render({ ...results, process }),
        "(?:One step of the limits, an admitted request|Animals imported into PostgreSQL)"
      )
    }
    expect(judged(160)).toEqual([
      "| One step of the limits, an admitted request | 6,250,000 per second met (≥ 5,000,000 per second) |",
      "| Animals imported into PostgreSQL | **160 per second missed** (≥ 30,000 per second) |"
    ])
    expect(judged(250)[0]).toContain("**4,000,000 per second missed**")
  })

  it("judges targets for throughput on PostgreSQL, including those with more connections", () => {
    const page = Page.render(
      resultsOf({
        get: { "AnimalStore PostgreSQL": [50] },
        "get, 256 connections": { "AnimalStore PostgreSQL": [100] }
      })
    )
    expect(rowsOf(page, "Requests to one process with PostgreSQL, get")[0]).toContain(
      "20,000 per second met (≥ 12,000 per second)"
    )
    expect(
      rowsOf(page, "PostgreSQL throughput with 256 connections, as a multiple of that with 64, get")[0]
    ).toContain("**0.50 missed**")
  })

  it("names the machine, the versions, and each skipped server with the reason", () => {
    expect(page).toContain("A processor, 2 cores, 8.0 GiB")
    expect(page).toContain("| fastify | 5.12.8 |")
    expect(page).toContain("- AnimalStore PostgreSQL: **skipped**, connection refused")
    const unpinned = { ...results, machine: { ...results.machine, isPinned: false } }
    expect(Page.render(unpinned)).toContain("could not be pinned to separate cores")
  })

  it("marks the results of a quick run", () => {
    expect(page).not.toContain("quick run:")
    expect(Page.render({ ...results, isQuick: true })).toContain("**A quick run:")
  })

  it("shows latency at half of the maximum rate", () => {
    const about = (median: number) => ({ median, low: median - 1, high: median + 1 })
    const workloads = [
      { server: "Bare", workload: "get", maximumPerSecond: 90_000, p50: about(2), p99: about(20) }
    ]
    const page = Page.render({
      ...results,
      latency: { options: { rounds: 3, seconds: 1, maximumSeconds: 2 }, workloads }
    })
    expect(page).toContain("| Bare, get | 90,000 | 2.00 (1.00–3.00) | 20.0 (19.0–21.0) |")
  })

  it("shows the CPU time of database servers beside that of Node, if a server has one", () => {
    expect(page).toContain("\n| get | 20 | 30 | 36 | not measured |")
    const withDatabase = structuredClone(results)
    for (const { servers } of withDatabase.http?.cases ?? [])
      for (const { turns } of servers) for (const turn of turns) Object.assign(turn, { databaseMicros: 7 })
    const rendered = Page.render(withDatabase)
    expect(rendered).toContain("\n| get | 20 + 7.0 | 30 + 7.0 | 36 + 7.0 | not measured |")
    expect(Comparison.draw(withDatabase)).toContain(">36 + 7.0</text>")
  })
})

describe("the committed performance page", () => {
  const directory = new URL("../../docs/performance/", import.meta.url)
  const committed = readFileSync(new URL("README.md", directory), "utf8")

  it("has the method, the servers and the targets of the current code", () => {
    expect(committed.includes(Page.method.join("\n")), "run: npm run bench").toBe(true)
    for (const { name, what } of all) {
      expect(committed).toContain(`${name}${name.startsWith("Animal") ? "**" : ""}: ${what}`)
    }
    const unmeasured = { ...results, http: undefined }
    for (const target of Targets.targets) {
      const row = committed.split("\n").find((line) => line.startsWith(`| ${target.what} |`))
      expect(row, target.what).toContain(`(${Targets.judge(unmeasured, target).bound})`)
    }
  })

  it("was not written by a quick run, and shares its picture and its first table with the README", () => {
    expect(committed).not.toContain("quick run:")
    const picture = /!\[[^\]]*\]\(([^)]+)\)/.exec(committed)?.[1] ?? ""
    expect(readFileSync(new URL(picture, directory), "utf8")).toMatch(/^<svg /)
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
    expect(readme).toContain(`](docs/performance/${picture})`)
    const rows = readme.split("\n").filter((line) => /^\| \*\*AnimalStore .* \/ /.test(line))
    expect(rows).toHaveLength(Comparison.pairs.length)
    for (const row of rows) expect(committed, "run: npm run bench").toContain(row)
  })
})
