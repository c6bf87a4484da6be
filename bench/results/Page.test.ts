import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { all } from "../http/Servers.ts"
import * as Page from "./Page.ts"
import { resultsOf } from "./Results.fixture.ts"
import * as Targets from "./Targets.ts"

const results = resultsOf({
  get: { Bare: 20, Fastify: 30, "AnimalStore memory": 30 },
  create: { Bare: 20, Fastify: 40, "AnimalStore memory": 42 }
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
    expect(verdictOf("AnimalStore memory / Bare, get")).toBe("**1.50 missed** (≤ 1.45) |")
    expect(verdictOf("AnimalStore memory / Fastify, get")).toBe("1.00 met (≤ 1.00) |")
    expect(verdictOf("AnimalStore SQLite / Bare, get")).toBe("not measured (≤ 2.40) |")
    expect(verdictOf("AnimalStore memory / Bare, create")).toBe("2.10 met (≤ 2.10) |")
    expect(verdictOf("AnimalStore memory / Fastify, create")).toBe("1.05 met (≤ 1.10) |")
    expect(page).toContain("4 of 37 targets were measured: 3 are met, 1 missed.")
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

  it("shows the CPU time of database servers only if a server has one", () => {
    expect(page).not.toContain("CPU time of the database servers")
    const withDatabase = structuredClone(results)
    for (const { servers } of withDatabase.http?.cases ?? [])
      for (const server of servers) Object.assign(server, { databaseMicros: { median: 7, low: 6, high: 8 } })
    expect(Page.render(withDatabase)).toContain("| get | 7.00 (6.00–8.00) |")
  })
})

describe("the committed performance page", () => {
  const committed = readFileSync(new URL("../../docs/performance/README.md", import.meta.url), "utf8")

  it("has the method, the servers and the targets of the current code", () => {
    expect(committed.includes(Page.method.join("\n")), "run: npm run bench").toBe(true)
    for (const { name, what } of all)
      expect(committed).toContain(`${name}${name.startsWith("Animal") ? "**" : ""}: ${what}`)
    const unmeasured = { ...results, http: undefined }
    for (const target of Targets.targets) {
      const row = committed.split("\n").find((line) => line.startsWith(`| ${target.what} |`))
      expect(row, target.what).toContain(`(${Targets.judge(unmeasured, target).bound})`)
    }
  })

  it("was not written by a quick run, and has at most two pictures, which exist", () => {
    expect(committed).not.toContain("quick run:")
    const pictures = [...committed.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, file = ""]) => file)
    expect(pictures).toHaveLength(2)
    for (const file of pictures)
      expect(readFileSync(new URL(`../../docs/performance/${file}`, import.meta.url), "utf8")).toMatch(
        /^<svg /
      )
  })
})
