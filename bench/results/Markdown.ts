/** Renders `docs/performance/README.md`; `node bench/results/Markdown.ts` writes it from the committed results. */
import * as fs from "node:fs"
import { animals, callerCounts } from "../http/Catalogue.ts"
import { ZIPF_EXPONENT } from "../http/Random.ts"
import type { ServerFigures } from "../http/Rounds.ts"
import { bare, nodeFlags, reference } from "../http/Servers.ts"
import { cases, DEFAULT_CONNECTIONS, MAX_CONNECTIONS, mix } from "../http/Workload.ts"
import type { Figure } from "../process/Figure.ts"
import { thousands, wholeThousands } from "../Thousands.ts"
import { short, spread, table } from "./MarkdownTable.ts"
import * as NodesSection from "./NodesSection.ts"
import { figuresOf, type HttpResults, type Results, read } from "./Results.ts"
import * as Targets from "./Targets.ts"

/** The file names of the page's pictures. */
export const pictures = {
  cpu: "cpu.svg",
  databases: "databases.svg",
  throughput: "throughput.svg",
  soak: "soak.svg"
} as const

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)

/** Renders the page; without results, it describes the measurements and lists the targets. */
export const render = (results: Results | undefined): string =>
  [
    "# Performance",
    "",
    ...(results === undefined
      ? ["**Not measured yet with the workload below: `npm run bench` adds the figures.**", ""]
      : []),
    ...(results?.isQuick
      ? ["**A quick run: it shows that the benchmark works, not how fast the servers are.**", ""]
      : []),
    ...method,
    ...(results === undefined ? [] : conditions(results)),
    ...verdicts(results),
    ...(results === undefined
      ? []
      : [
          ...http(results),
          ...latency(results),
          ...NodesSection.render(results),
          ...soak(results),
          ...processSections(results)
        ]),
    "<!-- written by npm run bench -->",
    ""
  ].join("\n")

const method: ReadonlyArray<string> = [
  "## How to run it",
  "",
  "<!-- not run: a run takes minutes, and other tests disturb its figures -->",
  "```sh",
  "npm run bench                    # everything, in about 15 minutes on two cores; writes this page",
  "npm run bench -- --quick         # checks within two minutes that the benchmark works; writes nothing",
  "npm run bench -- --help          # how to choose servers, cases and rounds",
  "npm run bench:pair -- ../before . # compares two checkouts of this project, in a few minutes",
  "npm run bench:pair -- . . --metrics # measures the CPU time that metrics take",
  "```",
  "",
  "`bench:pair` shows whether a change makes the service faster. It measures the servers of two checkouts in turn on memory, SQLite",
  "and PostgreSQL, and prints the CPU time per request of the second as a multiple of the first's, with its spread.",
  "Each pair of turns has its own seed, and the order of the servers alternates. Create a checkout of another commit with",
  "`git worktree add ../before COMMIT` and install its dependencies with `npm ci`. The ratio of a checkout to itself shows the",
  "noise of the machine: ignore smaller differences.",
  "",
  "## What is measured",
  "",
  `Each server runs in its own process and starts with the same data: ${thousands(animals.length)} animals, ${thousands(callerCounts.unlimited)} API keys with`,
  `limits that are never reached, and ${callerCounts.exhausted} keys whose single request is used up. The load generator is another process.`,
  "All servers get the same requests in the same order, from a seeded generator, and every request is built before the",
  "measured time. Before a case is measured, the responses of all servers to a sample of its requests are compared: the status,",
  "and for successful requests the body. Features differ: only AnimalStore seals its cursors, bans keys and limits requests per",
  "day.",
  "",
  "The default workload is a mix:",
  "",
  ...table(
    ["Requests", "Share"],
    Object.entries(mix.shares)
      .toSorted(([, first], [, second]) => second - first)
      .map(([kind, share]) => [kind, `${share}%`])
  ),
  `Keys, animals and deep pages follow Zipf distributions with exponent ${ZIPF_EXPONENT}: rank r is drawn in proportion to 1/r.`,
  "Deep pages use cursors that the server issued. Filtered pages have a status and a limit of 20, 50 or 100. The bodies of",
  "creations differ. Requests with status 401 have an unknown key or no key; those without a key are counted by address, and",
  "connections come from different loopback addresses where the platform supports this. Requests with status 400 have an invalid",
  "parameter or body.",
  "",
  `The mix and each single operation are measured with 1 and ${DEFAULT_CONNECTIONS} connections, each with one request in flight; the mix`,
  `also with 16 and ${MAX_CONNECTIONS} connections, “list 20” and “get” also with ${MAX_CONNECTIONS}.`,
  "No two consecutive requests have the same key; those of a single operation also differ in their target or body.",
  "Rows with “one request repeated” send a single request repeatedly. They are a lower bound, because this is the best case",
  "for every cache; no target is judged by them.",
  "",
  "The figure is the CPU time, user and system, that the operating system counts for the process of the server, divided by the",
  `number of requests: it includes garbage collection. Ratios are relative to ${bare.name}: \`node:http\` in its fastest form, which replays`,
  `recorded responses of ${reference.name} with two header fields and ignores requests.`,
  "",
  "The CPU time of database servers is measured separately, as the operating system counts it for their processes, if they run on this",
  "machine. While a server with a database server is measured, the load generator yields its core when it waits.",
  ""
]

const conditions = ({ date, http, machine, seconds, versions }: Results): ReadonlyArray<string> => [
  machine.isPinned
    ? "Servers run on one core, the load generator on another."
    : "**Servers and load generator could not be pinned to separate cores**, so they affect each other.",
  `All servers run with \`node ${nodeFlags.join(" ")}\`.`,
  ...(http === undefined
    ? []
    : [
        `Each server first handles ${thousands(http.options.startRequests)} requests of the mix, or as many as it completes in ${http.options.startSeconds} s, which are not measured.`,
        `In each case, servers take turns in ${http.options.rounds} rounds, after ${thousands(http.options.warmUpRequests)} requests or ${http.options.warmUpSeconds} s of warm-up. A turn is ${thousands(http.options.requests)} requests, a`,
        `quarter of that with one connection, or as many as a server completes in ${http.options.seconds} s. Figures are the median of the`,
        "rounds, with the middle half in parentheses."
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

const verdicts = (results: Results | undefined): ReadonlyArray<string> => {
  const judged = [
    ...Targets.cpuTargets.map((target) => Targets.judgeCpu(results, target)),
    ...Targets.targets.map((target) => Targets.judge(results, target))
  ]
  const measured = judged.filter(({ figure }) => figure !== undefined)
  const missed = measured.filter(({ isMet }) => !isMet).length
  const pairs = [
    ...new Map(
      Targets.cpuTargets.map(({ against, server }) => [`${server} ${against}`, { against, server }])
    ).values()
  ]
  const names = cases
    .map(({ name }) => name)
    .filter((name) => Targets.cpuTargets.some((target) => target.name === name))
  const cpu = (name: string, { against, server }: (typeof pairs)[number]): string => {
    const target = Targets.cpuTargets.find(
      (target) => target.name === name && target.server === server && target.against === against
    )
    return target === undefined ? "" : verdict(Targets.judgeCpu(results, target))
  }
  return [
    "## Targets",
    "",
    `${measured.length} of ${judged.length} targets were measured: ${measured.length - missed} are met, ${missed} missed. All are judged on varied requests.`,
    "",
    `CPU time per request, ${DEFAULT_CONNECTIONS} connections:`,
    "",
    ...table(
      ["Case", ...pairs.map(({ against, server }) => `${server} / ${against}`)],
      names.map((name) => [name, ...pairs.map((pair) => cpu(name, pair))])
    ),
    ...table(
      ["Target", ""],
      Targets.targets.map((target) => [target.what, verdict(Targets.judge(results, target))])
    )
  ]
}

const http = (results: Results): ReadonlyArray<string> => {
  if (results.http === undefined) return []
  const given = results.http
  const matrix = (show: (figures: ServerFigures) => string, rows = given.cases) =>
    table(
      ["Case", ...given.servers.map(({ isOurs, name }) => (isOurs ? `**${name}**` : name))],
      rows.map(({ name }) => [
        name,
        ...given.servers.map((server) => {
          const figures = figuresOf(results, server.name, name)
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
    `![CPU time per request, servers in memory](${pictures.cpu})`,
    "",
    `![CPU time per request, this project's stores](${pictures.databases})`,
    "",
    ...matrix(({ ratio }) => spread((value) => value.toFixed(2), ratio)),
    "### CPU time per request, in microseconds",
    "",
    ...matrix(({ cpuMicros }) => spread(short, cpuMicros)),
    ...databaseCpu(results),
    "### Requests per second",
    "",
    `![Requests per second, servers in memory](${pictures.throughput})`,
    "",
    ...matrix(({ perSecond }) => wholeThousands(perSecond.median)),
    "### Latency at that load, in milliseconds: p50 / p99 / p99.9",
    "",
    "Every connection always has a request in flight, so this is mostly the time for which a request waits for others.",
    "",
    ...matrix(({ latency: { p50, p99, p999 } }) =>
      [p50, p99, p999].map(({ median }) => short(median)).join(" / ")
    ),
    "### Maximum resident memory over all cases, in MiB",
    "",
    "Created animals stay in memory.",
    "",
    ...matrix(({ peakBytes }) => mebibytes(peakBytes), given.cases.slice(-1))
  ]
}

/** Renders the CPU time of database servers; returns no lines if none was measured. */
const databaseCpu = (results: Results): ReadonlyArray<string> => {
  const { cases: measured = [], servers: known = [] } = results.http ?? {}
  const shown = known.filter(({ name }) =>
    measured.some((given) => figuresOf(results, name, given.name)?.databaseMicros !== undefined)
  )
  if (shown.length === 0) return []
  return [
    "### CPU time of the database servers per request, in microseconds",
    "",
    ...table(
      ["Case", ...shown.map(({ name }) => `**${name}**`)],
      measured.map(({ name }) => [
        name,
        ...shown.map((server) => {
          const micros = figuresOf(results, server.name, name)?.databaseMicros
          return micros === undefined ? "" : spread(short, micros)
        })
      ])
    )
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
        "## Latency at fractions of the maximum",
        "",
        `Requests are due at fixed times, at a fraction of the server's own maximum rate, and latency is measured from the due time, in ${latency.options.rounds} rounds of ${latency.options.seconds} s.`,
        `The latency of ${bare.name} shows how much the machine, the load generator and Node contribute. In milliseconds:`,
        "",
        ...table(
          ["Server, workload", "Maximum per second", "Sent per second", "p50", "p99", "p99.9"],
          latency.workloads.map(({ maximumPerSecond, p50, p99, p999, rate, server, share, workload }) => [
            `${server}, ${workload}`,
            wholeThousands(maximumPerSecond),
            `${wholeThousands(rate)} (${share * 100}%)`,
            ...[p50, p99, p999].map((each) => spread(short, each))
          ])
        )
      ]

const soak = ({ soak }: Results): ReadonlyArray<string> => {
  const last = soak?.samples.at(-1)
  if (soak === undefined || last === undefined) return []
  const { residentGrowth, server, usedGrowth, workloads } = soak
  const growth = ({ bytes, share }: typeof usedGrowth): string =>
    `${(bytes / 1024).toFixed(0)} KiB (${(share * 100).toFixed(1)}%)`
  return [
    "## Memory over time",
    "",
    `${server} under full load for ${last.seconds} s, ${wholeThousands(last.requests)} requests (${workloads.join(", ")} in turn). Growth is the rise of a`,
    "straight line through the second half; memory in use is measured after a garbage collection.",
    "",
    `![Memory over time](${pictures.soak})`,
    "",
    ...table(
      ["", "Final, MiB", "Growth over the second half"],
      [
        ["Resident", mebibytes(last.residentBytes), growth(residentGrowth)],
        ["In use", (last.usedBytes / 2 ** 20).toFixed(1), growth(usedGrowth)]
      ]
    )
  ]
}

const processSections = ({ process }: Results): ReadonlyArray<string> => {
  if (process === undefined) return []
  const figures = process.flatMap((section) => section.figures)
  const groups = [...new Set(figures.map(({ group }) => group))]
  return [
    "## Within a process",
    "",
    "These measurements do not use HTTP; each section runs in its own process. Figures are medians of repeats, with their middle half.",
    "",
    ...process.flatMap(({ section, skipped }) =>
      skipped === undefined ? [] : [`**${section} is skipped**: ${skipped}`, ""]
    ),
    ...groups.flatMap((group) => [
      `### ${group[0]?.toUpperCase()}${group.slice(1)}`,
      "",
      ...table(
        ["", "Median", "Middle half", "Per second"],
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

const directory = new URL("../../docs/performance/", import.meta.url)

/** Renders the page from the committed results, and returns it with its path. */
export const committed = (): { readonly page: string; readonly file: URL } => {
  const results = new URL("results.json", directory)
  return {
    page: render(fs.existsSync(results) ? read(results) : undefined),
    file: new URL("README.md", directory)
  }
}

if (import.meta.main) {
  const { file, page } = committed()
  fs.writeFileSync(file, page)
}
