/** Results as the page `docs/performance/README.md`. */

import { operations } from "../http/Operation.ts"
import type { ServerFigures } from "../http/Rounds.ts"
import { bare, reference } from "../http/Servers.ts"
import type { Figure } from "../process/Figure.ts"
import { wholeThousands } from "../Thousands.ts"
import { figuresOf, type HttpResults, type Results } from "./Results.ts"
import * as Targets from "./Targets.ts"

/** The pictures that the page shows; those of parts that were not measured are not made. */
export const pictures = {
  cpu: "cpu.svg",
  databases: "databases.svg",
  throughput: "throughput.svg",
  soak: "soak.svg"
} as const

const cell = (text: string): string => text.replaceAll("|", "\\|")

const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => [
  `| ${head.map(cell).join(" | ")} |`,
  `|---|${"---:|".repeat(head.length - 1)}`,
  ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
  ""
]

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
/** Two digits that count, as far as there are. */
const short = (value: number): string => value.toFixed(value >= 10 ? 1 : 2)

/** The page. */
export const render = (results: Results): string =>
  [
    "# Performance",
    "",
    ...(results.isQuick
      ? ["**A quick run: it shows that the bench works, not how fast anything is.**", ""]
      : []),
    ...method(results),
    ...verdicts(results),
    ...http(results),
    ...latency(results),
    ...soak(results),
    ...within(results),
    "<!-- made by npm run bench -->",
    ""
  ].join("\n")

const method = ({ date, http, machine, seconds, versions }: Results): ReadonlyArray<string> => [
  "## What is measured, and how to repeat it",
  "",
  "```sh",
  "npm run bench                         # everything, within 15 minutes; writes this page",
  "npm run bench -- --only http --quick  # whether it works, in a minute; writes nothing",
  "npm run bench -- --compare            # against baseline.json; fails when a ratio of ours is worse by more than 10 %",
  "npm run bench -- --help               # choosing servers, operations and rounds",
  "```",
  "",
  "Every server is a process of its own with the same thousand animals and the same two callers, and every answer is",
  "checked before it is timed. The figure is the CPU time that the operating system counts for the process, user and",
  "system together, divided by the requests that it answered: garbage and timers are in it. Beside it",
  "stands the ratio to a bare `node:http` server in its fastest form, which sends the same body with two headers of its",
  "own and does not look at the request. An operation is one request again and again: what a server may keep of its",
  "answers it has kept. Ours keeps the JSON of animals and lists, and rows of SQLite until somebody writes; requests that",
  "all differ cost more.",
  "",
  machine.isPinned
    ? "Servers run on one core, the load generator on another."
    : "**Servers and load could not be given a core each here**, so they disturb one another.",
  ...(http === undefined
    ? []
    : [
        `The load are ${http.options.connections} connections with one request under way on each. Servers take turns within each of ${http.options.rounds} rounds of`,
        `${http.options.seconds} s, after a warm-up of ${http.options.warmUpSeconds} s; figures are the median of the rounds, and in parentheses the least and the most.`
      ]),
  "",
  ...table(
    ["Measured with", ""],
    [
      ["Date", `${date.slice(0, 10)}, in ${Math.round(seconds / 60)} minutes`],
      [
        "Machine",
        `${machine.cpu}, ${machine.cores} cores, ${(machine.memoryBytes / 2 ** 30).toFixed(1)} GiB`
      ],
      ["System", machine.platform],
      ["Node", machine.node],
      ...Object.entries(versions).map(([name, version]) => [name, version])
    ]
  )
]

const verdict = ({ bound, figure, isMet }: Targets.Verdict): string =>
  figure === undefined
    ? `not measured (${bound})`
    : isMet
      ? `${figure} met (${bound})`
      : `**${figure} missed** (${bound})`

const verdicts = (results: Results): ReadonlyArray<string> => {
  const judged = [
    ...Targets.cpuTargets.map((target) => Targets.judgeCpu(results, target)),
    ...Targets.targets.map((target) => Targets.judge(results, target))
  ]
  const measured = judged.filter(({ figure }) => figure !== undefined)
  const missed = measured.filter(({ isMet }) => !isMet).length
  const ofReference = Targets.cpuTargets.filter(({ server }) => server === reference.name)
  const others = [...new Set(ofReference.map(({ against }) => against))]
  const cpu = (against: string, operation: string): string => {
    const target = ofReference.find((target) => target.against === against && target.operation === operation)
    return target === undefined ? "" : verdict(Targets.judgeCpu(results, target))
  }
  return [
    "## Targets",
    "",
    `${measured.length} of ${judged.length} targets were measured: ${measured.length - missed} are met, ${missed} missed.`,
    "",
    `CPU time for a request of ${reference.name} as a multiple of another's:`,
    "",
    ...table(
      ["Operation", ...others.map((name) => `of ${name}`)],
      operations
        .map(({ name }) => name)
        .map((operation) => [operation, ...others.map((name) => cpu(name, operation))])
    ),
    ...table(
      ["Target", ""],
      [
        ...Targets.cpuTargets
          .filter(({ server }) => server !== reference.name)
          .map((target) => [
            `CPU time of ${target.operation} of ${target.server}, as a multiple of that of ${target.against}`,
            verdict(Targets.judgeCpu(results, target))
          ]),
        ...Targets.targets.map((target) => [target.what, verdict(Targets.judge(results, target))])
      ]
    )
  ]
}

const http = (results: Results): ReadonlyArray<string> => {
  if (results.http === undefined) return []
  const given = results.http
  const matrix = (show: (figures: ServerFigures) => string) =>
    table(
      ["Server", ...given.operations.map(({ operation }) => operation)],
      given.servers.map(({ isOurs, name }) => [
        isOurs ? `**${name}**` : name,
        ...given.operations.map(({ operation }) => {
          const figures = figuresOf(results, name, operation)
          return figures === undefined ? "" : show(figures)
        })
      ])
    )
  return [
    "## Servers",
    "",
    ...servers(given),
    `### CPU time as a multiple of ${bare.name}`,
    "",
    `![CPU time for a request, servers in memory](${pictures.cpu})`,
    "",
    `![CPU time for a request, our stores](${pictures.databases})`,
    "",
    ...matrix(({ ratio }) => `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`),
    "### CPU time for a request, in microseconds",
    "",
    ...matrix(({ cpuMicros: { max, median, min } }) => `${short(median)} (${short(min)}–${short(max)})`),
    "### Requests per second",
    "",
    `![Requests per second, servers in memory](${pictures.throughput})`,
    "",
    ...matrix(({ perSecond }) => wholeThousands(perSecond.median)),
    "### Latency at that load, in milliseconds: p50 / p99 / p99.9",
    "",
    "As many requests as are answered are sent, so this is mostly the time that a request waits for those before it.",
    "",
    ...matrix(({ latency: { p50, p99, p999 } }) =>
      [p50, p99, p999].map(({ median }) => short(median)).join(" / ")
    ),
    "### Most memory that was resident, in MiB",
    "",
    "Since the start of the process, the operations having come in this order: what was created before is kept, and who is",
    "faster was sent more to keep.",
    "",
    ...matrix(({ peakBytes }) => mebibytes(peakBytes))
  ]
}

const servers = ({ servers, skipped }: HttpResults): ReadonlyArray<string> => [
  ...servers.map(({ isOurs, name, what }) => `- ${isOurs ? `**${name}**` : name}: ${what}`),
  ...skipped.map(({ name, reason }) => `- ${name}: **skipped**, ${reason}`),
  ""
]

const latency = ({ latency }: Results): ReadonlyArray<string> =>
  latency === undefined
    ? []
    : [
        "## Latency at half of the maximum",
        "",
        `Requests are due at fixed moments, and their time counts from then; ${latency.options.rounds} rounds of ${latency.options.seconds} s.`,
        "Half of each server's own maximum is sent to it. What the bare one shows is the machine's, the load generator's and",
        "Node's, which all others have as well. In milliseconds:",
        "",
        ...table(
          ["Server, operation", "Maximum per second", "Sent per second", "p50", "p99", "p99.9", "p99 / p50"],
          latency.operations.map(({ maximumPerSecond, operation, p50, p99, p999, rate, server, tail }) => [
            `${server}, ${operation}`,
            wholeThousands(maximumPerSecond),
            wholeThousands(rate),
            ...[p50, p99, p999].map(
              ({ max, median, min }) => `${short(median)} (${short(min)}–${short(max)})`
            ),
            tail.median.toFixed(1)
          ])
        )
      ]

const soak = ({ soak }: Results): ReadonlyArray<string> => {
  const last = soak?.samples.at(-1)
  if (soak === undefined || last === undefined) return []
  const { operations, residentGrowth, server, usedGrowth } = soak
  const growth = ({ bytes, share }: typeof usedGrowth): string =>
    `${(bytes / 1024).toFixed(0)} KiB (${(share * 100).toFixed(1)} %)`
  return [
    "## Memory over time",
    "",
    `${server} under full load for ${last.seconds} s, ${wholeThousands(last.requests)} requests (${operations.join(", ")} in turn). Growth is that of a`,
    "straight line through the second half; memory in use is looked at after garbage was collected.",
    "",
    `![Memory over time](${pictures.soak})`,
    "",
    ...table(
      ["", "At the end, MiB", "Growth over the second half"],
      [
        ["Resident", mebibytes(last.residentBytes), growth(residentGrowth)],
        ["In use", (last.usedBytes / 2 ** 20).toFixed(1), growth(usedGrowth)]
      ]
    )
  ]
}

const within = ({ process }: Results): ReadonlyArray<string> => {
  if (process === undefined) return []
  const figures = process.flatMap((section) => section.figures)
  const groups = [...new Set(figures.map(({ group }) => group))]
  return [
    "## Within a process",
    "",
    "Without HTTP; each section in a process of its own. Figures are medians of repeats, with the least and the most.",
    "",
    ...process.flatMap(({ section, skipped }) =>
      skipped === undefined ? [] : [`**${section} is skipped**: ${skipped}`, ""]
    ),
    ...groups.flatMap((group) => [
      `### ${group[0]?.toUpperCase()}${group.slice(1)}`,
      "",
      ...table(
        ["", "Median", "Least – most", "Per second"],
        figures.filter((figure) => figure.group === group).map((figure) => [figure.name, ...cellsOf(figure)])
      )
    ])
  ]
}

const cellsOf = ({ high, low, unit, value }: Figure): ReadonlyArray<string> => {
  const show = (value: number): string => (value >= 100 ? wholeThousands(value) : short(value))
  const perSecond =
    unit === "ns" ? wholeThousands(1e9 / value) : unit === "per second" ? wholeThousands(value) : ""
  return [unit === "per second" ? "" : `${show(value)} ${unit}`, `${show(low)} – ${show(high)}`, perSecond]
}
