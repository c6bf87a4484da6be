/** Parses the command line of the attack. */
import { parseArgs } from "node:util"
import { InvalidOptions, listOf } from "../Options.ts"
import type { Database } from "./Scenario.ts"

export const help = `npm run attack [-- OPTIONS]

  --only NAMES        only scenarios whose name contains one of these; comma-separated
  --databases NAMES   memory, SQLite, PostgreSQL; by default all databases of a scenario, with --quick the first
  --quick             shorter and smaller, for CI: about two minutes on two idle cores; scenarios that have not started
                      after ten minutes fail; a failure that machine load may have caused is retried once
  --list              lists the scenarios
  --write             writes the table in docs/security.md; only allowed for a run of all scenarios
  --help

The PostgreSQL server is the one in ANIMAL_STORE_TEST_POSTGRES, by default the one on 127.0.0.1:5432. The load goes
only to the loopback address. Exit codes: 0, 1 if a bound is exceeded, 2 for invalid options.
`

export interface Options {
  /** Substrings of scenario names; empty for all scenarios. */
  readonly only: ReadonlyArray<string>
  readonly databases: ReadonlyArray<Database["name"]>
  readonly isQuick: boolean
  readonly isListing: boolean
  readonly isWritten: boolean
}

const databases = ["memory", "SQLite", "PostgreSQL"] as const

/** Parses the command line; returns `undefined` for `--help`. */
export const parse = (args: ReadonlyArray<string>, names: ReadonlyArray<string>): Options | undefined => {
  const values = valuesOf(args)
  if (values.help) return undefined
  const only = listOf(values.only)
  const unknown = only.filter((part) => !names.some((name) => name.includes(part)))
  if (unknown.length > 0) {
    throw new InvalidOptions(
      `--only: unknown name ${unknown.join(", ")}; the scenarios are ${names.join(", ")}`
    )
  }
  const chosen = listOf(values.databases).map(databaseOf)
  if (values.write && (only.length > 0 || chosen.length > 0)) {
    throw new InvalidOptions("--write: only a run of all scenarios can be written")
  }
  return {
    only,
    databases: chosen,
    isQuick: values.quick,
    isListing: values.list,
    isWritten: values.write
  }
}

const databaseOf = (text: string): Database["name"] => {
  const name = databases.find((candidate) => candidate.toLowerCase() === text.toLowerCase())
  if (name === undefined) throw new InvalidOptions(`--databases: unknown name ${text}`)
  return name
}

const valuesOf = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: "string" },
        databases: { type: "string" },
        quick: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        help: { type: "boolean", default: false }
      }
    }).values
  } catch (error) {
    throw new InvalidOptions(error instanceof Error ? error.message : String(error))
  }
}
