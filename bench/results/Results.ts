/** Defines the results of a run as they are stored in JSON, and reads them. */
import { readFileSync } from "node:fs"
import type { LatencyFigures, LatencyOptions } from "../http/Latency.ts"
import type { NodesFigures, NodesOptions } from "../http/Nodes.ts"
import type { CaseFigures, RoundsOptions } from "../http/Rounds.ts"
import type { SoakFigures } from "../http/Soak.ts"
import type { Figure } from "../process/Figure.ts"
import type { Machine } from "./Machine.ts"

/** The version of the format; it is increased when older results can no longer be read. */
export const SCHEMA = 3

/** A measured server. */
export interface ServerEntry {
  readonly name: string
  readonly what: string
  readonly isOurs: boolean
  readonly isDurable: boolean
}

/** A server that was not measured, and the reason. */
export interface Skipped {
  readonly name: string
  readonly reason: string
}

/** The figures of all servers over HTTP. */
export interface HttpResults {
  readonly options: RoundsOptions
  readonly servers: ReadonlyArray<ServerEntry>
  readonly skipped: ReadonlyArray<Skipped>
  readonly cases: ReadonlyArray<CaseFigures>
}

/** The figures of several nodes on one database. */
export interface NodesResults {
  readonly options: NodesOptions
  readonly figures: ReadonlyArray<NodesFigures>
  /** The reason for missing figures. */
  readonly skipped?: string | undefined
}

/** Latency at constant rates. */
export interface LatencyResults {
  readonly options: LatencyOptions
  readonly workloads: ReadonlyArray<LatencyFigures>
}

/** The figures of one section. */
export interface SectionResults {
  readonly section: string
  readonly figures: ReadonlyArray<Figure>
  /** The reason for missing figures. */
  readonly skipped?: string | undefined
}

/** One run; a part that was not measured is absent. */
export interface Results {
  readonly schema: typeof SCHEMA
  /** Time of its start, in ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly machine: Machine
  /** Versions, by the name of the package or database. */
  readonly versions: Readonly<Record<string, string>>
  /** Whether it was a quick run, which shows only that the benchmark works, not how fast a server is. */
  readonly isQuick: boolean
  readonly http?: HttpResults | undefined
  readonly latency?: LatencyResults | undefined
  readonly nodes?: NodesResults | undefined
  readonly soak?: SoakFigures | undefined
  readonly process?: ReadonlyArray<SectionResults> | undefined
}

/** Reads the results that a run wrote. */
export const read = (file: URL): Results => {
  const results: unknown = JSON.parse(readFileSync(file, "utf8"))
  const schema: unknown =
    typeof results === "object" && results !== null ? Reflect.get(results, "schema") : undefined
  if (schema !== SCHEMA)
    throw new Error(`the results have schema ${String(schema)}, not ${SCHEMA}: run the benchmark again`)
  // The cast is safe, because this program wrote the file with the same schema.
  return results as Results
}

/** Returns the figures of a server in a case, or `undefined` if they were not measured. */
export const figuresOf = ({ http }: Results, server: string, name: string) =>
  http?.cases.find((figures) => figures.name === name)?.servers.find((figures) => figures.server === server)

/** Returns a figure of a section, or `undefined` if it was not measured. */
export const processFigureOf = ({ process }: Results, group: string, name: string): Figure | undefined =>
  process?.flatMap(({ figures }) => figures).find((figure) => figure.group === group && figure.name === name)
