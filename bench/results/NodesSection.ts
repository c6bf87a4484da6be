/** Renders the section of the page about several nodes on one database. */
import type { BatchSizes } from "../http/BatchSizes.ts"
import { DEFAULT_CONNECTIONS } from "../http/Workload.ts"
import { formatCount, wholeThousands } from "../Thousands.ts"
import { short, spread, table } from "./MarkdownTable.ts"
import type { Results } from "./Results.ts"

const sizeOf = ({ calls, statements }: BatchSizes): string =>
  statements === 0 ? "none counted" : short(calls / statements)

/** Renders the section; returns no lines if it was not measured. */
export const render = ({ nodes }: Results): ReadonlyArray<string> => {
  if (nodes === undefined) return []
  if (nodes.skipped !== undefined)
    return ["## Nodes on one PostgreSQL database", "", `**Skipped**: ${nodes.skipped}`, ""]
  return [
    "## Nodes on one PostgreSQL database",
    "",
    `Several processes of this project share one database. Over ${DEFAULT_CONNECTIONS} connections in total, they serve the workload “get” with one key, or with`,
    `several keys that are drawn equally often, in ${formatCount(nodes.options.rounds, "round")} of ${nodes.options.seconds} s. Nodes, database and load generator share all cores of the`,
    "machine, so the figures for more nodes show that the limits are shared and how batches shrink, not how throughput grows.",
    "“Batches” is the mean number of calls that shared a statement, counted in separate turns.",
    "",
    ...table(
      [
        "Nodes, keys",
        "Requests per second",
        "CPU of the nodes, µs per request",
        "CPU of PostgreSQL",
        "Batches",
        ...(nodes.figures[0]?.latency.map(({ share }) => `p50 / p99 at ${share * 100}% of that rate, ms`) ??
          [])
      ],
      nodes.figures.map(({ batches, cpuMicros, databaseMicros, keys, latency, nodes, perSecond }) => [
        `${formatCount(nodes, "node")}, ${formatCount(keys, "key")}`,
        wholeThousands(perSecond.median),
        spread(short, cpuMicros),
        databaseMicros === undefined ? "not measured" : spread(short, databaseMicros),
        sizeOf(batches),
        ...latency.map(({ p50, p99 }) => `${short(p50.median)} / ${short(p99.median)}`)
      ])
    )
  ]
}
