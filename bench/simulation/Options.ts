/** Parses the command line of `npm run simulate`. */
import { parseArgs } from "node:util"
import { InvalidOptions } from "../Options.ts"
import { scenarios } from "./Scenarios.ts"
import { costs, defaults, type Failover, networks, type Settings } from "./Settings.ts"

/** A flag with one value. */
interface Flag {
  readonly value: string
  readonly what: string
  /** Returns the settings with this value, or `undefined` if the value is invalid. */
  readonly apply: (settings: Settings, text: string) => Settings | undefined
}

/** The names of the settings that are numbers. */
type NumericName = {
  [Name in keyof Settings]: Settings[Name] extends number ? Name : never
}[keyof Settings]

const numericFlag = (name: NumericName, min: number, max: number, isWhole: boolean, what: string): Flag => ({
  value: isWhole ? "N" : "X",
  what: `${what} (${defaults[name]})`,
  apply: (settings, text) => {
    const value = numberIn(text, min, max)
    return value === undefined || (isWhole && !Number.isInteger(value))
      ? undefined
      : { ...settings, [name]: value }
  }
})

const numberIn = (text: string, min: number, max: number): number | undefined => {
  const value = /^\d+(\.\d+)?(e\d+)?$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}

const namedFlag = <A>(
  known: Readonly<Record<string, A>>,
  what: string,
  apply: (settings: Settings, value: A) => Settings
): Flag => ({
  value: "NAME",
  what: `${what}: ${Object.keys(known).join(", ")}`,
  apply: (settings, text) => {
    const value = Object.hasOwn(known, text) ? known[text] : undefined
    return value === undefined ? undefined : apply(settings, value)
  }
})

const failoverOf = (text: string): Failover | undefined => {
  const [atMs, lostMs, awayMs, ...others] = text.split(",").map((part) => numberIn(part, 0, 1e9))
  return atMs === undefined || lostMs === undefined || awayMs === undefined || others.length > 0
    ? undefined
    : { atMs, lostMs, awayMs }
}

/** The flags of settings, in the order of the help. */
const flags = {
  nodes: numericFlag("nodes", 1, 10_000, true, "nodes"),
  stores: numericFlag("stores", 1, 1_000, true, "stores; the hash of a key selects its store"),
  rate: numericFlag("rate", 1, 1e7, false, "requests per second, to all nodes together"),
  seconds: numericFlag("seconds", 0.1, 1e5, false, "virtual seconds"),
  keys: numericFlag("keys", 1, 1e9, true, "keys that clients use"),
  exponent: numericFlag(
    "exponent",
    0,
    3,
    false,
    "Zipf exponent of the keys; with 0, all are equally frequent"
  ),
  hot: numericFlag("hot", 0, 1, false, "share of the requests with one additional key, on plan Business"),
  retries: numericFlag(
    "retries",
    0,
    1,
    false,
    "share of the denied requests that clients retry after Retry-After"
  ),
  store: namedFlag(
    costs,
    "costs of the store on one core; postgresql by default",
    (settings, { cores, ...cost }) => ({
      ...settings,
      cost: { ...cost, cores: settings.cost.cores * cores }
    })
  ),
  cores: {
    value: "N",
    what: "cores of each store (1)",
    apply: (settings, text) => {
      const cores = numberIn(text, 1, 1_000)
      return cores === undefined || !Number.isInteger(cores)
        ? undefined
        : { ...settings, cost: { ...settings.cost, cores } }
    }
  },
  network: namedFlag(networks, "delays between nodes and stores; zone by default", (settings, network) => ({
    ...settings,
    network
  })),
  "max-size": numericFlag("maxSize", 1, 10_000, true, "maximum number of members in a statement"),
  concurrency: numericFlag(
    "concurrency",
    1,
    1_000,
    true,
    "maximum number of concurrent statements per node and store"
  ),
  timeout: numericFlag("timeoutMs", 1, 1e6, true, "milliseconds until 503"),
  clock: namedFlag(
    { store: "store", nodes: "nodes" } as const,
    "the clock that the limits use; store by default",
    (settings, clock) => ({
      ...settings,
      clock
    })
  ),
  skew: numericFlag("skewMs", 0, 1e6, true, "maximum error of the nodes' clocks in milliseconds"),
  failover: {
    value: "AT,LOST,AWAY",
    what: "at AT ms, the first store loses LOST ms of counts, and is unavailable for AWAY ms",
    apply: (settings, text) => {
      const failover = failoverOf(text)
      return failover === undefined ? undefined : { ...settings, failover }
    }
  },
  seed: numericFlag("seed", 0, 2 ** 31, true, "seed of all random numbers")
} as const satisfies { readonly [name: string]: Flag }

export const help = `npm run simulate [-- OPTIONS]

Runs many nodes on shared stores in virtual time, with the core's limits and the adapters' batches, and reports the
results. The same options give the same report.

${Object.entries(flags)
  .map(([name, { value, what }]) => `  ${`--${name} ${value}`.padEnd(26)}${what}`)
  .join("\n")}
  --json                    prints the report as one line of JSON
  --scenario NAME           runs a scenario of the table in docs/scaling.md: ${scenarios.map(({ name }) => name).join(", ")}
  --all                     runs all scenarios
  --write                   runs all scenarios, and writes the table in docs/scaling.md
  --help

Exit codes: 0, 1 if a run without a failover admitted more than the limits allow, or if a request was batched incorrectly, 2 for
invalid options.
`

/** The runs that the command line selects. */
export type Task =
  | { readonly kind: "one"; readonly settings: Settings; readonly isJson: boolean }
  | { readonly kind: "scenarios"; readonly names: ReadonlyArray<string>; readonly isWritten: boolean }

/** Parses the command line; returns `undefined` for `--help`. */
export const parse = (args: ReadonlyArray<string>): Task | undefined => {
  const { all, help: isHelp, json: isJson, scenario, write, ...given } = valuesOf(args)
  if (isHelp) return undefined
  const hasSettings = Object.keys(given).length > 0
  if (all || write || scenario !== undefined) {
    if (hasSettings) throw new InvalidOptions("scenarios have their own options: pass no others")
    const names = scenarios.map(({ name }) => name)
    if (scenario !== undefined && !names.includes(scenario)) {
      throw new InvalidOptions(`--scenario: unknown name ${scenario}; the scenarios are ${names.join(", ")}`)
    }
    return {
      kind: "scenarios",
      names: scenario === undefined || write ? names : [scenario],
      isWritten: write === true
    }
  }
  return { kind: "one", settings: applyFlags(given), isJson: isJson === true }
}

/** Returns the settings for flags such as `--nodes 4 --rate 100`. */
export const settingsOf = (text: string): Settings => {
  const { all, help, json, scenario, write, ...given } = valuesOf(
    text.split(" ").filter((part) => part !== "")
  )
  return applyFlags(given)
}

const applyFlags = (given: Readonly<Record<string, unknown>>): Settings => {
  let settings = defaults
  for (const [name, flag] of Object.entries(flags)) {
    const text = given[name]
    if (typeof text !== "string") continue
    const next = flag.apply(settings, text)
    if (next === undefined) throw new InvalidOptions(`--${name}: invalid value ${text}`)
    settings = next
  }
  return settings
}

const strings = Object.fromEntries(Object.keys(flags).map((name) => [name, { type: "string" as const }]))

const valuesOf = (args: ReadonlyArray<string>) => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...strings,
        scenario: { type: "string" },
        all: { type: "boolean" },
        json: { type: "boolean" },
        write: { type: "boolean" },
        help: { type: "boolean" }
      }
    })
    return values
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error))
  }
}
