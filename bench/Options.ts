/** Parses the command line of `npm run bench`. */
import { fileURLToPath } from "node:url"
import * as Command from "./Command.ts"
import * as Servers from "./http/Servers.ts"
import * as Workload from "./http/Workload.ts"

const parts = [{ name: "http" }, { name: "latency" }, { name: "process" }] as const

/** The options of a run. */
export type Options = ReturnType<typeof parse>

const ROUNDS = 5

const always = `${Servers.bare.name} and ${Servers.reference.name}`

const options: Command.Options = {
  only: Command.text("PARTS", `only some of ${parts.map(({ name }) => name).join(", ")}; comma-separated`),
  servers: Command.text("NAMES", `only servers whose name contains one of these, next to ${always}`),
  cases: Command.text(
    "NAMES",
    'only cases whose name contains one of these, such as "mix" or "1 connection"'
  ),
  rounds: Command.text("N", `rounds per case (default ${ROUNDS})`),
  quick: Command.flag("short rounds, no process part: checks within two minutes that it works"),
  render: Command.flag("measures nothing: renders the results of the last run"),
  out: Command.text("DIR", "writes the page there, even that of a partial run")
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

/** Parses the command line. */
export const parse = (args: ReadonlyArray<string>) => {
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
    /** The bare server and the reference are among them. */
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
    /** Whether the last results are rendered instead of new ones. */
    isRendered: given.has("render"),
    /** The directory to which the page is written; if `undefined`, it is only printed. */
    out: given.text("out") ?? (isFull && !given.has("render") ? documentation : undefined)
  }
}
