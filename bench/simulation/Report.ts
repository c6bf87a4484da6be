/** Formats reports of simulations. */
import { wholeThousands } from "../Thousands.ts"
import type { Scenario } from "./Scenarios.ts"
import type { Report } from "./Simulation.ts"

/** Encodes a report as JSON with six significant digits; the same run gives the same JSON. */
export const json = (report: Report): string =>
  JSON.stringify(report, (_, value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value))

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`
const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`

/** Whether lost counts explain all over-admissions, and batching made no mistakes. */
export const isValid = ({ lostAdmissions, mistakes, overAdmissions }: Report): boolean =>
  overAdmissions <= lostAdmissions && Object.values(mistakes).every((count) => count === 0)

const rows = (report: Report): ReadonlyArray<readonly [what: string, figure: string]> => {
  const { batch, latency, mistakes, utilization } = report
  return [
    ["requests", `${wholeThousands(report.requests)} with ${wholeThousands(report.keys)} keys`],
    ["admitted", wholeThousands(report.admitted)],
    ["denied by limits", wholeThousands(report.limited)],
    ["denied by bans", wholeThousands(report.banned)],
    ["503", wholeThousands(report.unavailable)],
    [
      "over-admissions",
      `${wholeThousands(report.overAdmissions)} with ${wholeThousands(report.overKeys)} keys`
    ],
    ["admissions whose counts a failover lost", wholeThousands(report.lostAdmissions)],
    ["admitted, relative to an ideal limiter", percent(report.shareOfAllowed)],
    [
      "statements",
      `${wholeThousands(report.statements)}, ${report.statementsPerRequest.toFixed(3)} per request`
    ],
    [
      "members per statement",
      `mean ${batch.mean.toFixed(1)}, p50 ${batch.p50}, p99 ${batch.p99}, max ${batch.max}`
    ],
    ["time until the verdict", `p50 ${ms(latency.p50)}, p99 ${ms(latency.p99)}, max ${ms(latency.max)}`],
    ["utilization of the stores", `mean ${percent(utilization.mean)}, max ${percent(utilization.max)}`],
    [
      "batching mistakes",
      Object.entries(mistakes)
        .map(([name, count]) => `${name} ${count}`)
        .join(", ")
    ]
  ]
}

/** Formats one line per figure. */
export const text = (report: Report): string =>
  rows(report)
    .map(([what, figure]) => `${what.padEnd(48)}${figure}`)
    .join("\n")

/** The result of a scenario. */
export interface Result {
  readonly scenario: Scenario
  readonly report: Report
}

/** Formats the row of a run for the table in docs/scaling.md. */
export const row = ({ report, scenario }: Result): string => {
  const { batch, latency, utilization } = report
  const cells = [
    `${scenario.shows}: \`${scenario.flags}\``,
    wholeThousands(report.overAdmissions),
    percent(report.shareOfAllowed),
    percent(report.unavailable / report.requests),
    report.statementsPerRequest.toFixed(3),
    `${batch.mean.toFixed(1)} / ${batch.p99}`,
    `${ms(latency.p50)} / ${ms(latency.p99)}`,
    percent(utilization.max)
  ]
  return `| ${cells.join(" | ")} |`
}

/** Formats all runs as a Markdown table. */
export const table = (results: ReadonlyArray<Result>): string =>
  [
    "| Scenario, and the options of `npm run simulate --` | Over-admissions | Admitted (% of ideal) | 503 | Statements per request | Members per statement, mean / p99 | Time until the verdict, p50 / p99 | Busiest store |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...results.map(row)
  ].join("\n")

const BEGIN = "<!-- simulation: written by npm run simulate -- --write -->"
const END = "<!-- simulation: end -->"

/** Replaces the table between the markers of a page. */
export const insertTable = (page: string, content: string): string => {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error("the page has no markers for the table")
  return `${page.slice(0, begin)}${BEGIN}\n\n${content}\n\n${page.slice(end)}`
}
