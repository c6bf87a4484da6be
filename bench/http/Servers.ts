/** Lists the measured servers, in the order of the results. A new peer is one file in `peers` and one entry here. */
import type * as Databases from "../Databases.ts"

/** A server, and how it is started. */
export interface Server {
  readonly name: string
  /** Its file among the peers, without extension. */
  readonly file: string
  /** The databases that are created for it before it starts; their addresses are its arguments. */
  readonly stores: Stores
  /** Whether it is a server of this project. */
  readonly isOurs: boolean
  /** A short description. */
  readonly what: string
}

/** The databases of a server. */
export interface Stores {
  readonly database: Databases.Kind
  /** The database of rate limits, if it is a separate one. */
  readonly limits?: Databases.Kind
}

const inMemory: Stores = { database: "memory" }

const peer = (name: string, what: string, stores = inMemory): Server => ({
  name,
  file: name,
  stores,
  isOurs: false,
  what
})

const ours = (name: string, stores: Stores, what: string, file = "AnimalStore"): Server => ({
  name,
  file,
  stores,
  isOurs: true,
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
  inMemory,
  "this project in its own server, all data in memory"
)

export const fastify = peer("Fastify", "`fastify` with JSON schemas and `@fastify/rate-limit`")

export const SQLITE = "AnimalStore SQLite"
export const POSTGRES = "AnimalStore PostgreSQL"
export const FETCH = "AnimalStore fetch"

const separateCpu = "whose own CPU time is reported separately"

/** All servers. */
export const all: ReadonlyArray<Server> = [
  bare,
  peer("Handwritten", "`node:http` and handwritten code for these operations, without a framework"),
  fastify,
  peer("Express", "`express` with `zod` and `express-rate-limit`"),
  peer("Hono", "`hono` on `@hono/node-server` with `zod` and `hono-rate-limiter`"),
  peer("HttpApi", "`HttpApi` of `effect` on `@effect/platform-node`"),
  reference,
  ours(SQLITE, { database: "sqlite" }, "this project in its own server, with a SQLite file"),
  ours(
    POSTGRES,
    { database: "postgresql" },
    `this project in its own server, with PostgreSQL, ${separateCpu}`
  ),
  ours(
    `${SQLITE}, limits in Redis`,
    { database: "sqlite", limits: "redis" },
    `the same with a SQLite file and limits in Redis, ${separateCpu}`
  ),
  ours(
    `${POSTGRES}, limits in Redis`,
    { database: "postgresql", limits: "redis" },
    `the same with PostgreSQL and limits in Redis, ${separateCpu}`
  ),
  ours(
    FETCH,
    inMemory,
    "this project as a `Request` to `Response` function on `@hono/node-server`, all data in memory",
    "AnimalStoreFetch"
  )
]

/** Whether a server stores animals in a database, not in memory. */
export const isDurable = ({ stores }: Server): boolean => stores.database !== "memory"

const kindsOf = ({ stores: { database, limits } }: Server): ReadonlyArray<Databases.Kind> =>
  limits === undefined ? [database] : [database, limits]

/** Returns why a server cannot be measured, or `undefined` if it can. */
export const unavailableReason = (server: Server, { unavailable }: Databases.Databases): string | undefined =>
  kindsOf(server)
    .map((kind) => unavailable[kind])
    .find((reason) => reason !== undefined)

/** Creates the databases of a server, and returns their addresses. */
export const createDatabases = (
  server: Server,
  databases: Databases.Databases
): Promise<ReadonlyArray<string>> => Promise.all(kindsOf(server).map(databases.create))

/** Returns the known process ids of the database servers that a server uses, or `undefined` if it uses none. */
export const databaseProcesses = (
  server: Server,
  databases: Databases.Databases
): ReadonlyArray<number> | undefined => {
  const kinds = kindsOf(server).filter((kind) => kind === "postgresql" || kind === "redis")
  return kinds.length === 0 ? undefined : kinds.map(databases.pidOf).filter((pid) => pid !== undefined)
}

/**
 * The Node options of all servers. Without them, a server's CPU time varies between starts: V8 decides once where to
 * allocate objects, based on the objects that have survived until then. `animal-store serve` sets them itself.
 */
export const nodeFlags: ReadonlyArray<string> = ["--no-allocation-site-pretenuring"]
