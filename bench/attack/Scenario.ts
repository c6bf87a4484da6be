/** An attack, or a stop under load, and the figures that must stay within bounds. */
import type { Finding } from "./Finding.ts"

/** The options of a run. */
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
  /** Its name on the command line. */
  readonly name: string
  /** A short description. */
  readonly description: string
  /** Its databases, the most important one first; an unreachable database is skipped. */
  readonly databases: ReadonlyArray<Database["name"]>
  readonly run: (setting: Setting, database: Database) => Promise<ReadonlyArray<Finding>>
}
