/** Renders `docs/performance`, the page and its picture, and the part of the README that shows them. */
import { animals, callerCounts } from "../http/Catalogue.ts"
import { bare, nodeFlags, reference, type Server, all as servers } from "../http/Servers.ts"
import { DEFAULT_CONNECTIONS, MAX_CONNECTIONS, mix } from "../http/Workload.ts"
import * as Comparison from "./Comparison.ts"
import { replaceBetween, spread, table, thousands } from "./Markdown.ts"
import { figureOf, type HttpResults, type Results } from "./Results.ts"
import * as Targets from "./Targets.ts"

/** Returns the files of the directory: names with contents. */
export const files = (results: Results): ReadonlyArray<readonly [name: string, content: string]> => [
  ["README.md", render(results)],
  ...(results.http === undefined ? [] : [[Comparison.PICTURE, Comparison.draw(results)] as const])
]

const [BEGIN, END] = ["<!-- the rest of this section is written by npm run bench -->", "<!-- end -->"]

/** Returns the README of the project with the comparison in its section on performance. */
export const inReadme = (readme: string, results: Results): string =>
  replaceBetween(readme, BEGIN, END, Comparison.summary(results, "docs/performance/").join("\n").trim())

/** What the comparison shows, which does not depend on a run. */
const introduction: ReadonlyArray<string> = [
  "On each store, this project is compared with what a user would build instead: the same three operations with Fastify and the",
  "usual packages. A ratio below 1 means that this project takes less CPU time. The middle half of the rounds is in parentheses.",
  ""
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
  "npm run bench:pair -- ../before . --handling # compares `Service.handle` of both, without a host",
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
  "and for successful requests the body. Servers with a database cache a key for five seconds after its query.",
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
  "creations differ. AnimalStore counts requests without a valid key by address, and connections come from different loopback",
  "addresses where the platform supports this. Requests with status 400 have an invalid parameter or body. No two consecutive",
  "requests have the same key; those of a single operation also differ in their target or body.",
  "",
  `Each case has ${DEFAULT_CONNECTIONS} connections, each with one request in flight; “list 20” and “get” are also measured with 1 and`,
  `${MAX_CONNECTIONS} connections.`,
  "",
  "The figure is the CPU time, user and system, that the operating system counts for the process of the server with all its",
  "threads, divided by the number of requests: it includes garbage collection. Ratios are computed within each round.",
  `${bare.name} is \`node:http\` in its fastest form, which replays recorded responses of ${reference.name} with two header fields and`,
  "ignores requests.",
  "",
  "The CPU time of database servers is measured separately, as the operating system counts it for their processes, if they run on this",
  "machine. While a server with a database server is measured, the load generator yields its core when it waits.",
  "",
  "Some targets need figures that HTTP does not show: `Service.handle` called in a loop; the limits alone, in memory with up to a",
  "million callers and in Redis; `animal-store import` of 200,000 animals; and the start of the built command. Each of these",
  "measurements runs in its own process and is repeated. The time of `Service.handle` depends on the machine:",
  "`npm run bench:pair -- A B --handling` compares two checkouts.",
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
    ...introduction,
    ...Comparison.summary(results, ""),
    ...Comparison.details(results),
    ...verdicts(results),
    ...method,
    ...conditions(results),
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

const http = (results: Results, { cases: measured, skipped }: HttpResults): ReadonlyArray<string> => {
  const perSecond = (server: Server, name: string): string => {
    const figure = figureOf(results, server.name, name, "perSecond")
    return figure === undefined ? "" : thousands(figure.median)
  }
  return [
    "## Servers",
    "",
    ...servers.map((server) => `- ${Comparison.titleOf(server)}: ${server.what}`),
    ...skipped.map(({ name, reason }) => `- ${name}: **skipped**, ${reason}`),
    "",
    "### Requests per second",
    "",
    ...table(
      ["Case", ...servers.map(Comparison.titleOf)],
      measured.map(({ name }) => [name, ...servers.map((server) => perSecond(server, name))])
    )
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
