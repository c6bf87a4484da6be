/** Parses the command line of the benchmark. */
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { postgresServer } from "./Databases.ts"
import type { LatencyOptions } from "./http/Latency.ts"
import type { NodesOptions } from "./http/Nodes.ts"
import type { RoundsOptions } from "./http/Rounds.ts"
import type { SoakOptions } from "./http/Soak.ts"
import { DEFAULT_CONNECTIONS } from "./http/Workload.ts"

export const help = `npm run bench [-- OPTIONS]

  --only PARTS      http, latency, nodes, soak, process; comma-separated
  --servers NAMES   only servers whose name contains one of these; Bare and AnimalStore memory always run
  --cases NAMES     only cases whose name contains one of these, such as "mix" or "1 connection"
  --rounds N        rounds per case (default 5)
  --quick           short rounds, no process part: checks within two minutes that the benchmark works
  --out DIR         writes the results there, even those of a partial run
  --help

A full run writes to docs/performance. The PostgreSQL server is the one in ANIMAL_STORE_TEST_POSTGRES, by default the one on
127.0.0.1:5432. A Redis server is started if redis-server is installed. npm run bench:pair compares two checkouts. Exit
codes: 0, 1 if a server fails, 2 for invalid options.
`

export const parts = ["http", "latency", "nodes", "soak", "process"] as const

export type Part = (typeof parts)[number]

/** The options of a run. */
export interface Options {
  readonly parts: ReadonlySet<Part>
  readonly isQuick: boolean
  /** Substrings of server names; empty for all servers. `cases` selects cases in the same way. */
  readonly servers: ReadonlyArray<string>
  readonly cases: ReadonlyArray<string>
  readonly rounds: RoundsOptions
  readonly latency: LatencyOptions
  readonly nodes: NodesOptions
  readonly soak: SoakOptions
  /** The directory to which the results are written; if `undefined`, they are only printed. */
  readonly out: URL | undefined
  readonly postgres: string
}

/** The command line is invalid. */
export class InvalidOptions extends Error {}

const ROUNDS = 5

export const documentation = new URL("../docs/performance/", import.meta.url)

/** Parses the command line; returns `undefined` for `--help`. */
export const parse = (args: ReadonlyArray<string>): Options | undefined => {
  const values = valuesOf(args)
  if (values.help) return undefined
  const isQuick = values.quick
  const requested = listOf(values.only)
  const unknown = requested.filter((name) => !parts.some((part) => part === name))
  if (unknown.length > 0) throw new InvalidOptions(`--only: unknown part ${unknown.join(", ")}`)
  const chosen = parts.filter((part) =>
    requested.length === 0 ? !(isQuick && part === "process") : requested.includes(part)
  )
  const servers = listOf(values.servers)
  const cases = listOf(values.cases)
  const rounds = roundsOf(values.rounds) ?? (isQuick ? 1 : ROUNDS)
  const isFull =
    rounds >= ROUNDS &&
    !isQuick &&
    servers.length === 0 &&
    cases.length === 0 &&
    chosen.length === parts.length
  return {
    parts: new Set(chosen),
    isQuick,
    servers,
    cases,
    rounds: {
      rounds,
      requests: isQuick ? 500 : 2_000,
      seconds: isQuick ? 0.1 : 0.3,
      startRequests: isQuick ? 500 : 40_000,
      startSeconds: isQuick ? 0.1 : 4,
      warmUpRequests: isQuick ? 500 : 20_000,
      warmUpSeconds: isQuick ? 0.1 : 0.3
    },
    latency: {
      rounds: isQuick ? 1 : 3,
      seconds: isQuick ? 0.5 : 1,
      maximumSeconds: isQuick ? 0.5 : 2,
      connections: DEFAULT_CONNECTIONS
    },
    nodes: {
      nodes: isQuick ? [1, 2] : [1, 2, 4],
      keys: isQuick ? [1, 100] : [1, 100, 10_000],
      rounds: isQuick ? 1 : 2,
      seconds: isQuick ? 0.3 : 1
    },
    soak: { seconds: isQuick ? 5 : 30, intervalSeconds: isQuick ? 0.5 : 5, connections: DEFAULT_CONNECTIONS },
    out: values.out === undefined ? (isFull ? documentation : undefined) : pathToFileURL(`${values.out}/`),
    postgres: postgresServer
  }
}

const valuesOf = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: "string" },
        servers: { type: "string" },
        cases: { type: "string" },
        rounds: { type: "string" },
        out: { type: "string" },
        quick: { type: "boolean", default: false },
        help: { type: "boolean", default: false }
      }
    }).values
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error))
  }
}

/** Splits a comma-separated list of names. */
export const listOf = (text = ""): ReadonlyArray<string> =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

const roundsOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(Number.isInteger(value) && value > 0))
    throw new InvalidOptions("--rounds: must be a whole number above 0")
  return value
}

const contains = (name: string, part: string): boolean => name.toLowerCase().includes(part.toLowerCase())

/** Throws `InvalidOptions` unless each substring in `requested` is contained in a name; case-insensitive. */
export const expectKnown = (
  option: string,
  names: ReadonlyArray<string>,
  requested: ReadonlyArray<string>
): void => {
  const unknown = requested.filter((part) => !names.some((name) => contains(name, part)))
  if (unknown.length === 0) return
  throw new InvalidOptions(`${option}: unknown name ${unknown.join(", ")}; the names are ${names.join(", ")}`)
}

/** Returns the values whose name contains a substring in `requested` (case-insensitive), or all if `requested` is empty. */
export const choose = <A extends { readonly name: string }>(
  from: ReadonlyArray<A>,
  requested: ReadonlyArray<string>
): ReadonlyArray<A> =>
  requested.length === 0 ? from : from.filter(({ name }) => requested.some((part) => contains(name, part)))
