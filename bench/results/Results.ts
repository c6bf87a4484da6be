/** What a run found, as it is kept in JSON. */
import { readFileSync } from "node:fs"
import type { LatencyFigures, LatencyOptions } from "../http/Latency.ts"
import type { OperationFigures, RoundsOptions } from "../http/Rounds.ts"
import type { SoakFigures } from "../http/Soak.ts"
import type { Figure } from "../process/Figure.ts"
import type { Machine } from "./Machine.ts"

/** Raised when results of before can no longer be read. */
export const SCHEMA = 1

/** A measured server. */
export interface ServerEntry {
  readonly name: string
  readonly what: string
  readonly isOurs: boolean
  readonly isDurable: boolean
}

/** A server that was not measured, and why. */
export interface Skipped {
  readonly name: string
  readonly reason: string
}

/** What all servers took. */
export interface HttpResults {
  readonly options: RoundsOptions
  readonly servers: ReadonlyArray<ServerEntry>
  readonly skipped: ReadonlyArray<Skipped>
  readonly operations: ReadonlyArray<OperationFigures>
}

/** Ours at a constant rate. */
export interface LatencyResults {
  readonly options: LatencyOptions
  readonly operations: ReadonlyArray<LatencyFigures>
}

/** What one section found within its process. */
export interface SectionResults {
  readonly section: string
  readonly figures: ReadonlyArray<Figure>
  /** Why there are no figures, where there are none. */
  readonly skipped?: string | undefined
}

/** One run; a part that was not measured is absent. */
export interface Results {
  readonly schema: typeof SCHEMA
  /** When it began, in ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly machine: Machine
  /** Versions by name of the package; those of databases by their names. */
  readonly versions: Readonly<Record<string, string>>
  /** Whether it was cut short: good to try the bench, not to judge a server. */
  readonly isQuick: boolean
  readonly http?: HttpResults | undefined
  readonly latency?: LatencyResults | undefined
  readonly soak?: SoakFigures | undefined
  readonly process?: ReadonlyArray<SectionResults> | undefined
}

/** Results from a file that a run wrote. */
export const read = (file: URL): Results => {
  const results: unknown = JSON.parse(readFileSync(file, "utf8"))
  const schema: unknown =
    typeof results === "object" && results !== null ? Reflect.get(results, "schema") : undefined
  if (schema !== SCHEMA)
    throw new Error(`the results have schema ${String(schema)}, not ${SCHEMA}: measure them again`)
  // Written by this program under the same schema.
  return results as Results
}

/** The figures of an operation at a server, if both were measured. */
export const figuresOf = ({ http }: Results, server: string, operation: string) =>
  http?.operations
    .find((figures) => figures.operation === operation)
    ?.servers.find((figures) => figures.server === server)

/** A figure from within a process, if it was measured. */
export const processFigureOf = ({ process }: Results, group: string, name: string): Figure | undefined =>
  process?.flatMap(({ figures }) => figures).find((figure) => figure.group === group && figure.name === name)
