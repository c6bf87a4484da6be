/** Lists the measured servers, in the order of the results. A new peer is one file in `peers` and one entry here. */
import type * as Databases from "../Databases.ts"

/** What a server may promise its clients and operators, in the order of the page's table. */
export const promises = {
  durable: "creations are on disk",
  int64: "exact int64",
  day: "limits per day",
  restart: "counts survive a restart",
  exact: "exact over processes",
  denied: "denied requests are not counted",
  anonymous: "limits without a key",
  ban: "bans"
} as const

export type PromiseName = keyof typeof promises

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
  readonly keeps: ReadonlyArray<PromiseName>
}

/** The databases of a server. */
export interface Stores {
  readonly database: Databases.Kind
  /** Where requests are counted, if not in the database: `memory` is the process itself. */
  readonly limits?: Databases.Kind
}

const inMemory: Stores = { database: "memory" }

const peer = (
  name: string,
  file: string,
  stores: Stores,
  keeps: ReadonlyArray<PromiseName>,
  what: string
): Server => ({ name, file, stores, isOurs: false, keeps, what })

/** The server with which the others are compared. */
export const bare = peer(
  "Bare",
  "Bare",
  inMemory,
  [],
  "`node:http` with `optimizeEmptyRequests`, its fastest form; replays recorded responses of AnimalStore memory and ignores requests"
)

export const fastifyMemory = peer(
  "Fastify memory",
  "FastifyMemory",
  inMemory,
  [],
  "`fastify` with JSON schemas and `@fastify/rate-limit`, all data in memory"
)

const onSqlite = "`fastify` on `node:sqlite` with `synchronous = FULL`"

export const fastifySqlite = {
  process: peer(
    "Fastify SQLite, counts in the process",
    "FastifySqlite",
    { database: "sqlite", limits: "memory" },
    ["durable"],
    `${onSqlite}; \`@fastify/rate-limit\` in memory`
  ),
  file: peer(
    "Fastify SQLite, counts in the file",
    "FastifySqlite",
    { database: "sqlite" },
    ["durable", "day", "restart", "exact", "denied"],
    `${onSqlite}; one statement counts each request in the same file`
  )
}

const onPostgres = "`fastify` on `pg` with 10 connections and prepared statements"

export const fastifyPostgres = {
  process: peer(
    "Fastify PostgreSQL, counts in the process",
    "FastifyPostgres",
    { database: "postgresql", limits: "memory" },
    ["durable"],
    `${onPostgres}; \`@fastify/rate-limit\` in memory`
  ),
  redis: peer(
    "Fastify PostgreSQL, counts in Redis",
    "FastifyPostgres",
    { database: "postgresql", limits: "redis" },
    ["durable", "day", "restart", "exact"],
    `${onPostgres}; \`rate-limiter-flexible\` in Redis over \`ioredis\``
  ),
  database: peer(
    "Fastify PostgreSQL, counts in PostgreSQL",
    "FastifyPostgres",
    { database: "postgresql" },
    ["durable", "day", "restart", "exact"],
    `${onPostgres}; \`rate-limiter-flexible\` in the same database`
  )
}

const ours = (name: string, stores: Stores, what: string, file = "AnimalStore"): Server => ({
  name: `AnimalStore ${name}`,
  file,
  stores,
  isOurs: true,
  keeps: [
    ...(["day", "denied", "anonymous", "ban", "int64"] as const),
    ...(stores.database === "memory" ? [] : (["durable", "restart", "exact"] as const))
  ],
  what
})

/** The server of this project with the smallest CPU time; the bare server replays its responses. */
export const reference = ours("memory", inMemory, "this project in its own server, all data in memory")

export const sqlite = ours("SQLite", { database: "sqlite" }, "the same with a SQLite file")

export const postgres = ours("PostgreSQL", { database: "postgresql" }, "the same with PostgreSQL")

export const postgresAndRedis = ours(
  "PostgreSQL, limits in Redis",
  { database: "postgresql", limits: "redis" },
  "the same with PostgreSQL and limits in Redis"
)

export const fetch = ours(
  "fetch",
  inMemory,
  "this project as a `Request` to `Response` function on `@hono/node-server`, all data in memory",
  "AnimalStoreFetch"
)

/** All servers; those that are compared with each other are neighbours. */
export const all: ReadonlyArray<Server> = [
  bare,
  fastifyMemory,
  reference,
  fetch,
  ...Object.values(fastifySqlite),
  sqlite,
  ...Object.values(fastifyPostgres),
  postgresAndRedis,
  postgres
]

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
