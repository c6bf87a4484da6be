/** Lists the measured servers, in the order of the results. */
import type * as Databases from "../Databases.ts"

/** A server, and how it is started. */
export interface Server {
  readonly name: string
  /** Its file among the peers, without extension. */
  readonly file: string
  readonly arguments: ReadonlyArray<string>
  /** The databases that are created for the server before it starts; their addresses replace `arguments`. */
  readonly stores?: Stores
  /** Whether it is a server of this project. */
  readonly isOurs: boolean
  /** Whether it stores animals in a database; the others store them in memory. */
  readonly isDurable: boolean
  /** A short description. */
  readonly what: string
}

/** The databases of a server of this project. */
export interface Stores {
  readonly database: Databases.Kind
  /** The database of rate limits, if it is a separate one. */
  readonly limits?: Databases.Kind
}

const peer = (name: string, what: string): Server => ({
  name,
  file: name,
  arguments: [],
  isOurs: false,
  isDurable: false,
  what
})

const ours = (name: string, stores: Stores, what: string): Server => ({
  name,
  file: "AnimalStore",
  arguments: ["memory:"],
  stores,
  isOurs: true,
  isDurable: stores.database !== "memory",
  what
})

/** The server with which the others are compared. */
export const bare = peer(
  "Bare",
  "`node:http` with `optimizeEmptyRequests`, its fastest form; replays recorded responses of AnimalStore memory and ignores requests"
)

/** The server of this project to which most targets apply; the bare server replays its responses. */
export const reference = ours(
  "AnimalStore memory",
  { database: "memory" },
  "this project in its own server, all data in memory"
)

export const fastify = peer("Fastify", "`fastify` with JSON schemas and `@fastify/rate-limit`")

const peers: ReadonlyArray<Server> = [
  peer("Handwritten", "`node:http` and handwritten code for these operations, without a framework"),
  fastify,
  peer("Express", "`express` with `zod` and `express-rate-limit`"),
  peer("Hono", "`hono` on `@hono/node-server` with `zod` and `hono-rate-limiter`"),
  peer("HttpApi", "`HttpApi` of `effect` on `@effect/platform-node`")
]

export const SQLITE = "AnimalStore SQLite"
export const POSTGRES = "AnimalStore PostgreSQL"
export const FETCH = "AnimalStore fetch"
const IN_REDIS = ", limits in Redis"
export const SQLITE_REDIS = `${SQLITE}${IN_REDIS}`
export const POSTGRES_REDIS = `${POSTGRES}${IN_REDIS}`

const separateCpu = "whose own CPU time is reported separately"

/** All servers. */
export const all: ReadonlyArray<Server> = [
  bare,
  ...peers,
  reference,
  ours(SQLITE, { database: "sqlite" }, "this project in its own server, with a SQLite file"),
  ours(
    POSTGRES,
    { database: "postgresql" },
    `this project in its own server, with PostgreSQL, ${separateCpu}`
  ),
  ours(
    SQLITE_REDIS,
    { database: "sqlite", limits: "redis" },
    `the same with a SQLite file and limits in Redis, ${separateCpu}`
  ),
  ours(
    POSTGRES_REDIS,
    { database: "postgresql", limits: "redis" },
    `the same with PostgreSQL and limits in Redis, ${separateCpu}`
  ),
  {
    ...ours(
      FETCH,
      { database: "memory" },
      "this project as a `Request` to `Response` function on `@hono/node-server`, all data in memory"
    ),
    file: "AnimalStoreFetch"
  }
]

const kindsOf = ({ stores }: Server): ReadonlyArray<Databases.Kind> =>
  stores === undefined ? [] : [stores.database, ...(stores.limits === undefined ? [] : [stores.limits])]

/** Returns why a server cannot be measured, or `undefined` if it can. */
export const unavailableReason = (
  server: Server,
  { unavailable }: Databases.RunDatabases
): string | undefined =>
  kindsOf(server)
    .map((kind) => unavailable[kind])
    .find((reason) => reason !== undefined)

/** Creates empty databases for a server, and returns the server with their addresses. */
export const withDatabases = async (server: Server, databases: Databases.RunDatabases): Promise<Server> => {
  const { stores } = server
  if (stores === undefined) return server
  const limits = stores.limits === undefined ? [] : ["", await databases.create(stores.limits)]
  return { ...server, arguments: [await databases.create(stores.database), ...limits] }
}

/** Returns the known process ids of the database servers that a server uses, or `undefined` if it uses none. */
export const databaseProcesses = (
  server: Server,
  databases: Databases.RunDatabases
): ReadonlyArray<number> | undefined => {
  const kinds = kindsOf(server).filter((kind) => kind === "postgresql" || kind === "redis")
  return kinds.length === 0
    ? undefined
    : kinds.map((kind) => databases.pidOf(kind)).filter((pid) => pid !== undefined)
}

/**
 * The Node options of all servers. Without them, a server's CPU time varies between starts: V8 decides once where to
 * allocate objects, based on the objects that have survived until then. `animal-store serve` sets them itself.
 */
export const nodeFlags: ReadonlyArray<string> = ["--no-allocation-site-pretenuring"]

/** Returns the module of a server. */
export const peerModule = (file: string): URL => new URL(`./peers/${file}.ts`, import.meta.url)
