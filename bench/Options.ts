/** Parses the command line of `npm run bench`. */
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Command from "./Command.ts"
import * as Servers from "./http/Servers.ts"
import * as Workload from "./http/Workload.ts"

const parts = [{ name: "http" }, { name: "latency" }, { name: "process" }] as const

/** The options of a run. */
export type Options = ReturnType<typeof parse>

const ROUNDS = 7

export const help = `npm run bench [-- OPTIONS]

  --only PARTS      only some of ${parts.map(({ name }) => name).join(", ")}; comma-separated
  --servers NAMES   only servers whose name contains one of these, next to ${Servers.bare.name} and ${Servers.reference.name}
  --cases NAMES     only cases whose name contains one of these, such as "mix" or "1 connection"
  --rounds N        rounds per case (default ${ROUNDS})
  --quick           short rounds, no process part: checks within two minutes that it works
  --render          measures nothing: renders the results of the last run
  --out DIR         writes the page there, even that of a partial run
  --help

Writes the results to data/bench/results.json and prints the page; a full run writes it to docs/performance and its
summary to README.md. The PostgreSQL server is the one in ANIMAL_STORE_TEST_POSTGRES, by default the one on
127.0.0.1:5432. A Redis server is started if redis-server is installed. npm run bench:pair compares two checkouts. Exit
codes: 0, 1 if a server fails, 2 for invalid options.`

export const documentation = fileURLToPath(new URL("../docs/performance", import.meta.url))

/** Parses the command line. */
export const parse = (args: Array<string>) => {
  const {
    values: { cases, only, out, quick: isQuick, render: isRendered, rounds: given, servers }
  } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      servers: { type: "string" },
      cases: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      render: { type: "boolean", default: false },
      out: { type: "string" }
    }
  })
  const chosen = Command.choose("only", parts, only).filter(
    ({ name }) => only !== undefined || !(isQuick && name === "process")
  )
  const chosenServers = new Set([
    Servers.bare,
    Servers.reference,
    ...Command.choose("servers", Servers.all, servers)
  ])
  const preset = isQuick ? 1 : ROUNDS
  const rounds = given === undefined ? preset : Command.count("rounds", given)
  const isFull =
    rounds >= ROUNDS &&
    !isQuick &&
    !isRendered &&
    [only, servers, cases].every((requested) => requested === undefined)
  return {
    parts: new Set(chosen.map(({ name }) => name)),
    isQuick,
    /** The bare server and the reference are among them. */
    servers: Servers.all.filter((server) => chosenServers.has(server)),
    cases: Command.choose("cases", Workload.cases, cases),
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
    isRendered,
    /** The directory to which the page is written; if `undefined`, it is only printed. */
    out: out ?? (isFull ? documentation : undefined)
  }
}
