/** Renders `docs/performance`: the page and its two pictures. */
import { animals, callerCounts } from "../http/Catalogue.ts"
import type { ServerFigures } from "../http/Rounds.ts"
import { bare, nodeFlags, reference } from "../http/Servers.ts"
import { DEFAULT_CONNECTIONS, MAX_CONNECTIONS, mix, operations } from "../http/Workload.ts"
import * as Bars from "./Bars.ts"
import { spread, table, thousands } from "./Markdown.ts"
import { figuresOf, type HttpResults, type Results, type ServerEntry } from "./Results.ts"
import * as Targets from "./Targets.ts"

/** The pictures of the page, with the servers that each shows. Databases would dwarf the servers in memory. */
const pictures = [
  {
    file: "cpu.svg",
    title: "CPU time per request, servers in memory",
    isShown: ({ isDurable }: ServerEntry) => !isDurable
  },
  {
    file: "databases.svg",
    title: "CPU time per request, this project's stores",
    isShown: ({ isDurable, name }: ServerEntry) => isDurable || name === reference.name
  }
]

/** Returns the files of the directory: names with contents. */
export const files = (results: Results): ReadonlyArray<readonly [name: string, content: string]> => [
  ["README.md", render(results)],
  ...(results.http === undefined ? [] : drawPictures(results.http))
]

/** The method, which does not depend on a run. */
export const method: ReadonlyArray<string> = [
  "## How to run it",
  "",
  "<!-- not run: a run takes minutes, and other tests disturb its figures -->",
  "```sh",
  "npm run bench                    # everything, in at most 15 minutes on two cores; writes this page",
  "npm run bench -- --quick         # checks within two minutes that the benchmark works",
  "npm run bench -- --help          # how to choose parts, servers, cases and rounds",
  "npm run bench:pair -- ../before . # compares two checkouts of this project, in a few minutes",
  "npm run bench:pair -- . . --metrics # measures the CPU time that metrics take",
  "```",
  "",
  "A run writes its raw results to `data/bench/results.json`, which is not committed.",
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
  "and for successful requests the body. Features differ: only AnimalStore signs its cursors, bans keys and limits requests per",
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
  "Keys, animals and deep pages follow Zipf distributions with exponent 1: rank r is drawn in proportion to 1/r.",
  "Deep pages use cursors that the server issued. Filtered pages have a status and a limit of 20, 50 or 100. The bodies of",
  "creations differ. Requests with status 401 have an unknown key or no key; those without a key are counted by address, and",
  "connections come from different loopback addresses where the platform supports this. Requests with status 400 have an invalid",
  "parameter or body. No two consecutive requests have the same key; those of a single operation also differ in their target",
  "or body.",
  "",
  `The mix and each single operation are measured with ${DEFAULT_CONNECTIONS} connections, each with one request in flight; the mix, “list 20” and`,
  `“get” also with 1 and ${MAX_CONNECTIONS} connections.`,
  "",
  "The figure is the CPU time, user and system, that the operating system counts for the process of the server, divided by the",
  `number of requests: it includes garbage collection. Ratios are relative to ${bare.name}: \`node:http\` in its fastest form, which replays`,
  `recorded responses of ${reference.name} with two header fields and ignores requests.`,
  "",
  "The CPU time of database servers is measured separately, as the operating system counts it for their processes, if they run on this",
  "machine. While a server with a database server is measured, the load generator yields its core when it waits.",
  "",
  "Some targets need figures that HTTP does not show: the limits alone, in memory with up to a million callers and in Redis;",
  "`animal-store import` of 200,000 animals; and the start of the built command. Each of these measurements runs in its own",
  "process and is repeated.",
  ""
]

/** Renders the page. */
export const render = (results: Results): string =>
  [
    "# Performance",
    "",
    ...(results.isQuick
      ? ["**A quick run: it shows that the benchmark works, not how fast the servers are.**", ""]
      : []),
    ...method,
    ...conditions(results),
    ...verdicts(results),
    ...(results.http === undefined ? [] : http(results, results.http)),
    ...latency(results),
    "<!-- written by npm run bench -->",
    ""
  ].join("\n")

const conditions = ({ date, http, machine, seconds, versions }: Results): ReadonlyArray<string> => [
  machine.isPinned
    ? "Servers run on one core, the load generator on another."
    : "**Servers and load generator could not be pinned to separate cores**, so they affect each other.",
  `All servers run with \`node ${nodeFlags.join(" ")}\`.`,
  ...(http === undefined ? [] : rounds(http)),
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

const rounds = ({ options }: HttpResults): ReadonlyArray<string> => {
  const { caseWarmUp, processWarmUp, turn } = options
  return [
    `Each server is warmed up with ${thousands(processWarmUp.requests)} requests of the mix, or as many as it completes in ${processWarmUp.seconds} s, and before each`,
    `case with ${thousands(caseWarmUp.requests)} requests of the case, or ${caseWarmUp.seconds} s. Then servers take turns in ${options.rounds} rounds. A turn is ${thousands(turn.requests)} requests, a`,
    `quarter of that with one connection, or as many as a server completes in ${turn.seconds} s. Figures are the median of the`,
    "rounds, with the middle half in parentheses."
  ]
}

const verdict = ({ bound, figure, isMet }: Targets.Verdict): string =>
  figure === undefined
    ? `not measured (${bound})`
    : isMet
      ? `${figure} met (${bound})`
      : `**${figure} missed** (${bound})`

const verdicts = (results: Results): ReadonlyArray<string> => {
  const judged = Targets.targets.map((target) => ({ ...target, verdict: Targets.judge(results, target) }))
  const measured = judged.filter(({ verdict }) => verdict.figure !== undefined)
  const missed = measured.filter(({ verdict }) => !verdict.isMet).length
  return [
    "## Targets",
    "",
    `${measured.length} of ${judged.length} targets were measured: ${measured.length - missed} are met, ${missed} missed. All are judged on varied requests, over`,
    `${DEFAULT_CONNECTIONS} connections unless a target states another number.`,
    "",
    ...table(
      ["Target", ""],
      judged.map(({ what, ...target }) => [what, verdict(target.verdict)])
    )
  ]
}

const http = (
  results: Results,
  { cases: measured, servers, skipped }: HttpResults
): ReadonlyArray<string> => {
  const titleOf = ({ isOurs, name }: ServerEntry): string => (isOurs ? `**${name}**` : name)
  /** Renders a figure of each case and server; omits servers that have it in no case, and the section if none has. */
  const section = (
    title: string,
    show: (figures: ServerFigures) => string | undefined
  ): ReadonlyArray<string> => {
    const figure = (server: ServerEntry, name: string): string | undefined => {
      const figures = figuresOf(results, server.name, name)
      return figures && show(figures)
    }
    const shown = servers.filter((server) => measured.some(({ name }) => figure(server, name) !== undefined))
    if (shown.length === 0) return []
    const rows = measured.map(({ name }) => [name, ...shown.map((server) => figure(server, name) ?? "")])
    return [`### ${title}`, "", ...table(["Case", ...shown.map(titleOf)], rows)]
  }
  return [
    "## Servers",
    "",
    ...servers.map((server) => `- ${titleOf(server)}: ${server.what}`),
    ...skipped.map(({ name, reason }) => `- ${name}: **skipped**, ${reason}`),
    "",
    ...pictures.flatMap(({ file, title }) => [`![${title}](${file})`, ""]),
    ...section(`CPU time as a multiple of ${bare.name}`, ({ ratio }) => spread(ratio)),
    ...section("CPU time per request, in microseconds", ({ cpuMicros }) => spread(cpuMicros)),
    ...section(
      "CPU time of the database servers per request, in microseconds",
      ({ databaseMicros }) => databaseMicros && spread(databaseMicros)
    ),
    ...section("Requests per second", ({ perSecond }) => thousands(perSecond.median))
  ]
}

const latency = ({ latency }: Results): ReadonlyArray<string> =>
  latency === undefined
    ? []
    : [
        "## Latency at half of the maximum rate",
        "",
        `Requests are due at fixed times, at half of the server's own maximum rate, and latency is measured from the due time, in ${latency.options.rounds} rounds of ${latency.options.seconds} s.`,
        `The latency of ${bare.name} shows how much the machine, the load generator and Node contribute. In milliseconds:`,
        "",
        ...table(
          ["Server, workload", "Maximum per second", "p50", "p99"],
          latency.workloads.map(({ maximumPerSecond, p50, p99, server, workload }) => [
            `${server}, ${workload}`,
            thousands(maximumPerSecond),
            spread(p50),
            spread(p99)
          ])
        )
      ]

const drawPictures = ({
  cases,
  servers
}: HttpResults): ReadonlyArray<readonly [name: string, content: string]> => {
  // Only varied requests over the default number of connections.
  const shownCases = new Set([mix, ...operations].map(({ name }) => name))
  return pictures.map(({ file, isShown, title }) => {
    const groups = cases
      .filter(({ name }) => shownCases.has(name))
      .map(({ name, servers: figures }) => ({
        name,
        bars: servers.filter(isShown).flatMap(({ isOurs, name }) => {
          const found = figures.find(({ server }) => server === name)
          if (found === undefined) return []
          const { high, low, median } = found.cpuMicros
          return [{ label: name, value: median, low, high, isOurs }]
        })
      }))
    const show = (value: number): string => `${value.toFixed(value >= 10 ? 0 : 1)} µs`
    return [file, Bars.draw({ title: `${title} (lower is better)`, groups, show })] as const
  })
}
