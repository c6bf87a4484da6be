/** An attack, or a stop under load, and the figures that must stay within bounds. */
import type { Finding } from "./Finding.ts"

/** How a run was asked for. */
export interface Setting {
  /** Shorter and smaller, for CI: shows that the bounds hold for some seconds. */
  readonly isQuick: boolean
}

/** A kind of database. */
export interface Database {
  readonly name: "memory" | "SQLite" | "PostgreSQL"
  /** The address of a new, empty one. */
  readonly create: () => Promise<string>
}

export interface Scenario {
  /** By which it is chosen on the command line. */
  readonly name: string
  /** What is done, in a few words. */
  readonly description: string
  /** The databases it is run on, the most telling one first; it is skipped on one that cannot be reached. */
  readonly databases: ReadonlyArray<Database["name"]>
  readonly run: (setting: Setting, database: Database) => Promise<ReadonlyArray<Finding>>
}
