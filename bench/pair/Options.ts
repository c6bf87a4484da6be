/** Parses the command line of `bench:pair`. */
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import * as Workload from "../http/Workload.ts"
import { InvalidOptions } from "../Options.ts"

export const databases = ["memory", "sqlite", "postgresql"] as const

export type Database = (typeof databases)[number]

const workloads = [Workload.mix, ...Workload.operations]

export const help = `npm run bench:pair -- A B [OPTIONS]

Measures the servers of two checkouts of this project, A and B, in turn, and prints the CPU time per request of B as a
multiple of A's. Both need their dependencies installed. Comparing A with itself shows the noise of the machine.

  --databases NAMES   some of ${databases.join(", ")}; comma-separated (default all)
  --workloads NAMES   some of ${workloads.map(({ name }) => name).join(", ")} (default mix)
  --rounds N          pairs of turns (default 60)
  --starts N          number of times that both servers are started; each start has its own rounds (default 2)
  --requests N        requests in a turn (default 600)
  --connections N     connections, each with one request in flight (default 64)
  --metrics           collects metrics in B only; with the same checkout as A and B, this measures their CPU time
  --help

Columns: the median of the rounds' ratios, its 95% confidence interval, the middle half of the rounds, and the median CPU
time of A and of B. The CPU time of the PostgreSQL server itself is not included.
`

/** The options of a comparison. */
export interface Options {
  readonly checkouts: readonly [first: string, second: string]
  readonly databases: ReadonlyArray<Database>
  readonly workloads: ReadonlyArray<Workload.Workload>
  readonly rounds: number
  readonly starts: number
  readonly requests: number
  readonly connections: number
  /** Whether the second server collects metrics. */
  readonly isSecondMetered: boolean
}

/** Parses the command line; returns `undefined` for `--help`. */
export const parse = (args: ReadonlyArray<string>): Options | undefined => {
  const { positionals, values } = parseArguments(args)
  if (values.help) return undefined
  const [first, second, ...others] = positionals.map(checkoutOf)
  if (first === undefined || second === undefined || others.length > 0) {
    throw new InvalidOptions("the arguments must be the paths of two checkouts")
  }
  return {
    checkouts: [first, second],
    databases: parseNames("databases", databases, (name) => name, values.databases),
    workloads: parseNames("workloads", workloads, ({ name }) => name, values.workloads),
    rounds: parseCount("rounds", values.rounds),
    starts: parseCount("starts", values.starts),
    requests: parseCount("requests", values.requests),
    connections: parseCount("connections", values.connections),
    isSecondMetered: values.metrics
  }
}

const parseArguments = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        databases: { type: "string", default: databases.join(",") },
        workloads: { type: "string", default: Workload.mix.name },
        rounds: { type: "string", default: "60" },
        starts: { type: "string", default: "2" },
        requests: { type: "string", default: "600" },
        connections: { type: "string", default: "64" },
        metrics: { type: "boolean", default: false },
        help: { type: "boolean", default: false }
      }
    })
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error))
  }
}

const checkoutOf = (text: string): string => {
  const directory = path.resolve(text)
  if (!fs.existsSync(path.join(directory, "adapters/embed/index.ts"))) {
    throw new InvalidOptions(`${directory} is not a checkout of this project`)
  }
  return directory
}

const parseNames = <A>(
  option: string,
  all: ReadonlyArray<A>,
  nameOf: (value: A) => string,
  text: string
): ReadonlyArray<A> =>
  text.split(",").map((name) => {
    const found = all.find((value) => nameOf(value) === name.trim())
    if (found === undefined) {
      throw new InvalidOptions(
        `--${option}: unknown name ${name.trim()}; the names are ${all.map(nameOf).join(", ")}`
      )
    }
    return found
  })

const parseCount = (option: string, text: string): number => {
  const value = Number(text)
  if (!(Number.isInteger(value) && value > 0)) {
    throw new InvalidOptions(`--${option}: must be a whole number above 0`)
  }
  return value
}
