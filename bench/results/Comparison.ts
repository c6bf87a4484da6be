/** Compares this project's servers with what a user would build instead on the same store. */
import * as Servers from "../http/Servers.ts"
import type * as Spread from "../Spread.ts"
import * as Bars from "./Bars.ts"
import { spread, table } from "./Markdown.ts"
import { figureOf, type Results, ratioOf } from "./Results.ts"

/** A server of this project, and a peer on the same store. */
export interface Pair {
  readonly ours: Servers.Server
  readonly peer: Servers.Server
  /** The maximum CPU time of our server as a multiple of the peer's, by case. */
  readonly max: Readonly<Record<string, number>>
}

export const pairs: ReadonlyArray<Pair> = [
  { ours: Servers.reference, peer: Servers.bare, max: {} },
  {
    ours: Servers.reference,
    peer: Servers.fastifyMemory,
    max: { "list 20": 1.3, get: 1.1, create: 1.1, "401 no key": 1.2, 429: 1.1 }
  },
  {
    ours: Servers.sqlite,
    peer: Servers.fastifySqlite.process,
    max: { "list 20": 0.75, get: 1.2, create: 0.35, "401 no key": 1.6, 429: 1.5 }
  },
  {
    ours: Servers.sqlite,
    peer: Servers.fastifySqlite.file,
    max: { "list 20": 0.3, get: 0.2, create: 0.22 }
  },
  {
    ours: Servers.postgres,
    peer: Servers.fastifyPostgres.process,
    max: { "list 20": 0.85, get: 0.85, create: 0.7, "401 no key": 1.6 }
  },
  {
    ours: Servers.postgresAndRedis,
    peer: Servers.fastifyPostgres.redis,
    max: { "list 20": 0.7, get: 0.7, create: 0.7 }
  },
  {
    ours: Servers.postgres,
    peer: Servers.fastifyPostgres.database,
    max: { "list 20": 0.28, get: 0.24, create: 0.22 }
  }
]

const stores = Object.entries({ memory: "In memory", sqlite: "SQLite", postgresql: "PostgreSQL" }).map(
  ([database, name]) => ({
    name,
    servers: Servers.all.filter(({ stores }) => stores.database === database)
  })
)

/** The cases of the ratios, in the order of the columns. */
const cases = ["list 20", "get", "create", "401 no key", "401 unknown key", "429"]

/** The cases of the picture, one column for each. */
const drawnCases = ["list 20", "get", "create"]

/** The name of a server in tables. */
export const titleOf = ({ isOurs, name }: Servers.Server): string => (isOurs ? `**${name}**` : name)

/** Our CPU time as a multiple of each peer's. */
const ratios = (results: Results): ReadonlyArray<string> =>
  table(
    ["CPU time of Node, as a multiple", ...cases],
    pairs.map(({ ours, peer }) => [
      `${titleOf(ours)} / ${peer.name}`,
      ...cases.map((name) => {
        const ratio = ratioOf(results, ours.name, peer.name, name)
        return ratio === undefined ? "not measured" : spread(ratio)
      })
    ])
  )

const rounded = ({ median }: Spread.Spread): string => median.toFixed(median >= 10 ? 0 : 1)

/** The CPU time of a server, and beside it that of its database servers. */
const micros = (results: Results, server: string, name: string): string => {
  const [node, database] = (["cpuMicros", "databaseMicros"] as const).map((figure) =>
    figureOf(results, server, name, figure)
  )
  if (node === undefined) return "not measured"
  return database === undefined ? rounded(node) : `${rounded(node)} + ${rounded(database)}`
}

/** The picture and the ratios, for the README and for the page; `directory` is the directory of the picture. */
export const summary = (results: Results, directory: string): ReadonlyArray<string> => [
  `![CPU time per request on each store](${directory}${PICTURE})`,
  "",
  ...ratios(results)
]

/** The CPU times of all cases, and what each server promises. */
export const details = (results: Results): ReadonlyArray<string> => [
  "CPU time per request in microseconds: that of Node's process with all its threads, plus that of the database servers.",
  "",
  ...stores.flatMap(({ name, servers }) =>
    table(
      [name, ...servers.map(titleOf)],
      (results.http?.cases ?? []).map(({ name }) => [
        name,
        ...servers.map((server) => micros(results, server.name, name))
      ])
    )
  ),
  "What each server promises its clients and operators:",
  "",
  ...table(
    ["Server", ...Object.values(Servers.promises)],
    Servers.all
      .filter((server) => server !== Servers.bare)
      .map((server) => [
        titleOf(server),
        ...Object.keys(Servers.promises).map((name) =>
          server.keeps.some((kept) => kept === name) ? "yes" : "no"
        )
      ])
  )
]

export const PICTURE = "stores.svg"

/** Draws the CPU times of all compared servers. */
export const draw = (results: Results): string =>
  Bars.draw({
    title: "CPU time per request in µs (lower is better)",
    note: "Solid: Node. Light: the database server. Each store has its own scale.",
    columns: drawnCases,
    groups: stores.map(({ name, servers }) => ({
      name,
      rows: servers.map(({ isOurs, name }) => ({
        label: name,
        isOurs,
        bars: drawnCases.map((drawn) => {
          const node = figureOf(results, name, drawn, "cpuMicros")
          const database = figureOf(results, name, drawn, "databaseMicros")
          return node && { first: node, second: database?.median ?? 0, text: micros(results, name, drawn) }
        })
      }))
    }))
  })
