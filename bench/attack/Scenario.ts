/** Defines scenarios: attacks, or stops under load, whose figures must stay within bounds. */
import type { Finding } from "./Finding.ts"

/** The options of a run. */
export interface Setting {
  /** Whether the run is shorter and smaller, for CI: it shows only that no bound is exceeded for some seconds. */
  readonly isQuick: boolean
}

/** A kind of database. */
export interface Database {
  readonly name: "memory" | "SQLite" | "PostgreSQL"
  /** Creates an empty database and returns its address. */
  readonly create: () => Promise<string>
}

export interface Scenario {
  /** The name on the command line. */
  readonly name: string
  /** A short description. */
  readonly description: string
  /** The databases on which the scenario runs, the most important one first; an unreachable database is skipped. */
  readonly databases: ReadonlyArray<Database["name"]>
  readonly run: (setting: Setting, database: Database) => Promise<ReadonlyArray<Finding>>
}
