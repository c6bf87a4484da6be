/** Defines scenarios: attacks, or shutdowns under load, with bounds that the measurements must meet. */
import type { Finding } from "./Finding.ts"

/** The options of a run. */
export interface RunOptions {
  /**
   * Whether to run for a shorter time with less load, as in CI. A quick run shows only that the bounds hold for a few
   * seconds.
   */
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
  readonly description: string
  /** The databases on which the scenario runs, the most important one first; an unreachable database is skipped. */
  readonly databases: ReadonlyArray<Database["name"]>
  readonly run: (options: RunOptions, database: Database) => Promise<ReadonlyArray<Finding>>
}
