/** The command line of the bench. */
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { postgresServer } from "./Databases.ts"
import type { LatencyOptions } from "./http/Latency.ts"
import type { RoundsOptions } from "./http/Rounds.ts"
import type { SoakOptions } from "./http/Soak.ts"

export const help = `npm run bench [-- OPTIONS]

  --only PARTS         http, latency, soak, process; several with commas
  --servers NAMES      only servers whose name contains one of these; Bare and AnimalStore memory always
  --operations NAMES   only operations whose name contains one of these
  --rounds N           rounds of each operation (default 30)
  --seconds N          seconds of each server in a round (default 0.1)
  --quick              few rounds, short warm-ups, without process: whether it works
  --out DIR            writes the results there, whatever was measured
  --compare            against the baseline; 1 when a ratio of ours is worse by more than 10 %; writes nothing
  --save-baseline      keeps this run as the baseline
  --help

A whole run writes docs/performance. PostgreSQL is the one that ANIMAL_STORE_TEST_POSTGRES names, by default one on
127.0.0.1:5432. Exit codes: 0, 1 for a worse ratio or a server that fails, 2 for options that cannot be meant.
`

export const parts = ["http", "latency", "soak", "process"] as const

export type Part = (typeof parts)[number]

/** A run, as asked for. */
export interface Options {
  readonly parts: ReadonlySet<Part>
  readonly isQuick: boolean
  /** Parts of names; empty for all. */
  readonly servers: ReadonlyArray<string>
  readonly operations: ReadonlyArray<string>
  readonly rounds: RoundsOptions
  readonly latency: LatencyOptions
  readonly soak: SoakOptions
  /** The folder that results are written to. */
  readonly out: URL | undefined
  readonly isCompared: boolean
  readonly savesBaseline: boolean
  readonly postgres: string
}

/** Options that cannot be meant. */
export class InvalidOptions extends Error {}

const CONNECTIONS = 64

/** Many and short: what else a machine does lasts for tenths of seconds, and so strikes all servers alike. */
const ROUNDS = 30
const ROUND_SECONDS = 0.1

export const documentation = new URL("../docs/performance/", import.meta.url)

/** Reads the command line; `undefined` when help is asked for. */
export const parse = (args: ReadonlyArray<string>): Options | undefined => {
  const values = valuesOf(args)
  if (values.help) return undefined
  const isQuick = values.quick
  const asked = listOf(values.only)
  const unknown = asked.filter((name) => !parts.some((part) => part === name))
  if (unknown.length > 0) throw new InvalidOptions(`--only: there is no ${unknown.join(", ")}`)
  const chosen = parts.filter((part) =>
    asked.length === 0 ? !(isQuick && part === "process") : asked.includes(part)
  )
  const servers = listOf(values.servers)
  const operations = listOf(values.operations)
  const rounds = whole("rounds", values.rounds, isQuick ? 2 : ROUNDS)
  const isWhole = rounds >= ROUNDS && !isQuick && servers.length === 0 && operations.length === 0
  if (values["save-baseline"] && !(isWhole && chosen.includes("http"))) {
    throw new InvalidOptions(
      `--save-baseline: a baseline has all servers and operations in ${ROUNDS} rounds or more, and is not quick`
    )
  }
  const writesDocumentation = isWhole && chosen.length === parts.length && !values.compare
  return {
    parts: new Set(chosen),
    isQuick,
    servers,
    operations,
    rounds: {
      rounds,
      seconds: positive("seconds", values.seconds, ROUND_SECONDS),
      warmUpSeconds: isQuick ? 0.3 : 1.2,
      connections: CONNECTIONS
    },
    latency: {
      rounds: isQuick ? 1 : 15,
      seconds: 1,
      maximumSeconds: isQuick ? 0.5 : 2,
      connections: CONNECTIONS
    },
    soak: { seconds: isQuick ? 5 : 120, everySeconds: isQuick ? 0.5 : 5, connections: CONNECTIONS },
    out:
      values.out === undefined
        ? writesDocumentation
          ? documentation
          : undefined
        : pathToFileURL(`${values.out}/`),
    isCompared: values.compare,
    savesBaseline: values["save-baseline"],
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
        operations: { type: "string" },
        rounds: { type: "string" },
        seconds: { type: "string" },
        out: { type: "string" },
        quick: { type: "boolean", default: false },
        compare: { type: "boolean", default: false },
        "save-baseline": { type: "boolean", default: false },
        help: { type: "boolean", default: false }
      }
    }).values
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error))
  }
}

const listOf = (text = ""): ReadonlyArray<string> =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

const positive = (name: string, text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text)
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidOptions(`--${name}: must be a number above 0`)
  return value
}

const whole = (name: string, text: string | undefined, otherwise: number): number => {
  const value = positive(name, text, otherwise)
  if (!Number.isInteger(value)) throw new InvalidOptions(`--${name}: must be a whole number`)
  return value
}

const contains = (name: string, part: string): boolean => name.toLowerCase().includes(part.toLowerCase())

/** Throws when one of the parts is in none of the names: what was meant would not be measured. */
export const expectKnown = (
  option: string,
  names: ReadonlyArray<string>,
  asked: ReadonlyArray<string>
): void => {
  const unknown = asked.filter((part) => !names.some((name) => contains(name, part)))
  if (unknown.length === 0) return
  throw new InvalidOptions(`${option}: there is no ${unknown.join(", ")}; there are ${names.join(", ")}`)
}

/** Those whose name contains one of the parts, all without parts. */
export const choose = <A extends { readonly name: string }>(
  from: ReadonlyArray<A>,
  asked: ReadonlyArray<string>
): ReadonlyArray<A> =>
  asked.length === 0 ? from : from.filter(({ name }) => asked.some((part) => contains(name, part)))
