/** Renders the table of `docs/scaling.md`, one row for each scenario. */
import * as fs from "node:fs"
import { replaceBetween, thousands } from "../results/Markdown.ts"
import { costs, defaults, type Settings } from "./Settings.ts"
import * as Simulation from "./Simulation.ts"

/** A run, and what it shows. */
export type Scenario = readonly [shows: string, settings: Partial<Settings>]

const manyKeys = { keys: 1e8, seconds: 30, rate: 10_000 }
const fast = { ...manyKeys, nodes: 100, rate: 200_000, seconds: 4 }
const huge = { ...fast, nodes: 1_000, rate: 1_000_000, seconds: 0.5, cost: costs.redis }
const eightCores = { ...costs.postgresql, cores: 8 }
const failover = { atMs: 10_000, lostMs: 200, awayMs: 5_000 }
const failing = { keys: 10_000, seconds: 30, rate: 5_000, hot: 0.2 }

/** All runs; each takes at most half a minute. */
export const scenarios: ReadonlyArray<Scenario> = [
  ["one node on PostgreSQL", { ...manyKeys, nodes: 1, rate: 2_000, seconds: 60 }],
  ["more requests than one per statement could handle", manyKeys],
  ["half of the requests have the same key", { ...manyKeys, hot: 0.5 }],
  ["small batches from many nodes, one core of PostgreSQL", { ...manyKeys, nodes: 100 }],
  ["the same with 8 cores", { ...manyKeys, nodes: 100, cost: eightCores }],
  ["more than the store can count: 503", { ...manyKeys, nodes: 16, rate: 60_000, seconds: 5 }],
  ["limits in one Redis", { ...manyKeys, nodes: 16, rate: 50_000, seconds: 10, cost: costs.redis }],
  ["a Redis Cluster of 6 masters", { ...fast, stores: 6, cost: costs.redis }],
  ["8 PostgreSQL servers with 8 cores each, by hash of the key", { ...fast, stores: 8, cost: eightCores }],
  ["a Redis Cluster of 24 masters", { ...huge, stores: 24 }],
  ["a failover: 200 ms of counts lost, 5 s unavailable", { ...failing, failover }],
  ["the same, without lost counts", { ...failing, failover: { ...failover, lostMs: 0 } }]
]

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`
const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`

const HEAD = `| Scenario | Nodes | Requests per second | Over-admissions | Admitted (% of ideal) | 503 | Statements per request | Members per statement, mean / p99 | Time until the verdict, p50 / p99 | Busiest store |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|`

/** Runs a scenario, and returns its row. */
export const row = ([shows, settings]: Scenario): string => {
  const given = { ...defaults, ...settings }
  const report = Simulation.run(given)
  const cells = [
    shows,
    thousands(given.nodes),
    thousands(given.rate),
    thousands(report.overAdmissions),
    percent(report.shareOfIdeal),
    percent(report.unavailable / report.requests),
    report.statementsPerRequest.toFixed(3),
    `${report.batch.mean.toFixed(1)} / ${report.batch.p99}`,
    `${ms(report.latency.p50)} / ${ms(report.latency.p99)}`,
    percent(report.utilization)
  ]
  return `| ${cells.join(" | ")} |`
}

/** The page with the table. */
export const file = new URL("../../docs/scaling.md", import.meta.url)

/** Runs all scenarios, which takes some minutes, and returns the text of the page. */
export const page = (): string => {
  const [begin, end] = ["<!-- simulation: written by npm run simulate -->", "<!-- simulation: end -->"]
  return replaceBetween(fs.readFileSync(file, "utf8"), begin, end, [HEAD, ...scenarios.map(row)].join("\n"))
}
