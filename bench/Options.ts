/** Parses the command line of `npm run bench`. */
import { fileURLToPath } from "node:url"
import * as Command from "./Command.ts"
import type { LatencyOptions } from "./http/Latency.ts"
import type { RoundsOptions } from "./http/Rounds.ts"
import * as Servers from "./http/Servers.ts"
import type { SoakOptions } from "./http/Soak.ts"
import * as Workload from "./http/Workload.ts"

const parts = [{ name: "http" }, { name: "latency" }, { name: "soak" }, { name: "process" }] as const

export type Part = (typeof parts)[number]["name"]

/** The options of a run. */
export interface Options {
  readonly parts: ReadonlySet<Part>
  readonly isQuick: boolean
  /** The servers to measure; the bare server and the reference are among them. */
  readonly servers: ReadonlyArray<Servers.Server>
  readonly cases: ReadonlyArray<Workload.Case>
  readonly rounds: RoundsOptions
  readonly latency: LatencyOptions
  readonly soak: SoakOptions
  /** Whether the last results are rendered instead of new ones. */
  readonly isRendered: boolean
  /** The directory to which the page is written; if `undefined`, it is only printed. */
  readonly out: string | undefined
}

const ROUNDS = 5

const options: Command.Options = {
  only: {
    type: "string",
    value: "PARTS",
    what: `only some of ${parts.map(({ name }) => name).join(", ")}; comma-separated`
  },
  servers: {
    type: "string",
    value: "NAMES",
    what: "only servers whose name contains one of these; Bare and AnimalStore memory always run"
  },
  cases: {
    type: "string",
    value: "NAMES",
    what: 'only cases whose name contains one of these, such as "mix" or "1 connection"'
  },
  rounds: { type: "string", value: "N", what: `rounds per case (default ${ROUNDS})` },
  quick: {
    type: "boolean",
    what: "short rounds, no process part: checks within two minutes that it works"
  },
  render: { type: "boolean", what: "measures nothing: renders the results of the last run" },
  out: { type: "string", value: "DIR", what: "writes the page there, even that of a partial run" }
}

export const help = Command.help(
  "npm run bench [-- OPTIONS]",
  options,
  `Writes the results to data/bench/results.json and prints the page; a full run writes it to docs/performance. The PostgreSQL
server is the one in ANIMAL_STORE_TEST_POSTGRES, by default the one on 127.0.0.1:5432. A Redis server is started if
redis-server is installed. npm run bench:pair compares two checkouts. Exit codes: 0, 1 if a server fails, 2 for invalid
options.`
)

export const documentation = fileURLToPath(new URL("../docs/performance", import.meta.url))

export const parse = (args: ReadonlyArray<string>): Options => {
  const given = Command.parse(args, options)
  const isQuick = given.has("quick")
  const [only, servers, cases] = ["only", "servers", "cases"].map((name) => Command.listOf(given.text(name)))
  const chosen = Command.choose("only", parts, only ?? []).filter(
    ({ name }) => only?.length !== 0 || !(isQuick && name === "process")
  )
  const chosenServers = new Set([
    Servers.bare,
    Servers.reference,
    ...Command.choose("servers", Servers.all, servers ?? [])
  ])
  const preset = isQuick ? 1 : ROUNDS
  const rounds = given.text("rounds") === undefined ? preset : given.count("rounds")
  const isFull =
    rounds >= ROUNDS && !isQuick && [only, servers, cases].every((requested) => requested?.length === 0)
  return {
    parts: new Set(chosen.map(({ name }) => name)),
    isQuick,
    servers: Servers.all.filter((server) => chosenServers.has(server)),
    cases: Command.choose("cases", Workload.cases, cases ?? []),
    rounds: {
      rounds,
      processWarmUp: isQuick ? { requests: 500, seconds: 0.1 } : { requests: 40_000, seconds: 4 },
      caseWarmUp: isQuick ? { requests: 500, seconds: 0.1 } : { requests: 20_000, seconds: 0.3 },
      turn: isQuick ? { requests: 500, seconds: 0.1 } : { requests: 2_000, seconds: 0.3 }
    },
    latency: isQuick
      ? { rounds: 1, seconds: 0.5, maximumSeconds: 0.5 }
      : { rounds: 3, seconds: 1, maximumSeconds: 2 },
    soak: isQuick ? { seconds: 5, intervalSeconds: 0.5 } : { seconds: 30, intervalSeconds: 5 },
    isRendered: given.has("render"),
    out: given.text("out") ?? (isFull && !given.has("render") ? documentation : undefined)
  }
}
