/** The measured servers, in the order of the results. */
import type * as Databases from "../Databases.ts"

/** A server and how to start it. */
export interface Server {
  readonly name: string
  /** Its file among the peers, without suffix. */
  readonly file: string
  readonly arguments: ReadonlyArray<string>
  /** The databases that the server gets when it starts; `arguments` are used as they are without them. */
  readonly stores?: Stores
  /** Whether it is this project's. */
  readonly isOurs: boolean
  /** Whether it stores animals in a database; the others store them in memory. */
  readonly isDurable: boolean
  /** A short description. */
  readonly what: string
}

/** Where one of ours stores its data. */
export interface Stores {
  readonly database: Databases.Kind
  /** Where rate limits are stored, if not beside everything else. */
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

/** The server that the others are compared with. */
export const bare = peer(
  "Bare",
  "`node:http` with `optimizeEmptyRequests`, its fastest form; repeats recorded responses of AnimalStore memory and does not look at requests"
)

/** Ours as the targets mean it; the bare server repeats its responses. */
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
const IN_REDIS = ", limits in Redis"
export const SQLITE_REDIS = `${SQLITE}${IN_REDIS}`
export const POSTGRES_REDIS = `${POSTGRES}${IN_REDIS}`

const serversOwn = "whose own CPU time is reported apart"

/** All servers. */
export const all: ReadonlyArray<Server> = [
  bare,
  ...peers,
  reference,
  ours(SQLITE, { database: "sqlite" }, "this project in its own server, with a SQLite file"),
  ours(
    POSTGRES,
    { database: "postgresql" },
    `this project in its own server, with PostgreSQL, ${serversOwn}`
  ),
  ours(
    SQLITE_REDIS,
    { database: "sqlite", limits: "redis" },
    `the same with a SQLite file, and limits in Redis, ${serversOwn}`
  ),
  ours(
    POSTGRES_REDIS,
    { database: "postgresql", limits: "redis" },
    `the same with PostgreSQL, and limits in Redis, ${serversOwn}`
  ),
  {
    ...ours(
      "AnimalStore fetch",
      { database: "memory" },
      "this project as a `Request` to `Response` function on `@hono/node-server`, all data in memory"
    ),
    file: "AnimalStoreFetch"
  }
]

const kindsOf = ({ stores }: Server): ReadonlyArray<Databases.Kind> =>
  stores === undefined ? [] : [stores.database, ...(stores.limits === undefined ? [] : [stores.limits])]

/** Why a server cannot be measured; `undefined` if it can. */
export const missingFor = (server: Server, { missing }: Databases.RunDatabases): string | undefined =>
  kindsOf(server)
    .map((kind) => missing[kind])
    .find((reason) => reason !== undefined)

/** The server with empty databases of its own. */
export const withDatabases = async (server: Server, databases: Databases.RunDatabases): Promise<Server> => {
  const { stores } = server
  if (stores === undefined) return server
  const limits = stores.limits === undefined ? [] : ["", await databases.create(stores.limits)]
  return { ...server, arguments: [await databases.create(stores.database), ...limits] }
}

/** The processes of the database servers that a server uses, as far as they are known; `undefined` if it uses none. */
export const databaseProcesses = (
  server: Server,
  databases: Databases.RunDatabases
): ReadonlyArray<number> | undefined => {
  const kinds = kindsOf(server).filter((kind) => kind === "postgresql" || kind === "redis")
  return kinds.length === 0
    ? undefined
    : kinds.map((kind) => databases.process(kind)).filter((pid) => pid !== undefined)
}

/** The program of a server. */
export const peerModule = (file: string): URL => new URL(`./peers/${file}.ts`, import.meta.url)
