/** The measured servers, in the order of the results. */
import type { RunDatabases } from "../Databases.ts"

/** A server and how to start it. */
export interface Server {
  readonly name: string
  /** Its file among the peers, without suffix. */
  readonly file: string
  readonly arguments: ReadonlyArray<string>
  /** Whether it is this project's. */
  readonly isOurs: boolean
  /** Whether it stores animals in a database; the others store them in memory. */
  readonly isDurable: boolean
  /** A short description. */
  readonly what: string
}

const peer = (name: string, what: string): Server => ({
  name,
  file: name,
  arguments: [],
  isOurs: false,
  isDurable: false,
  what
})

const ours = (name: string, database: string, what: string): Server => ({
  name,
  file: "AnimalStore",
  arguments: [database],
  isOurs: true,
  isDurable: database !== "memory:",
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
  "memory:",
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

/** The servers on these databases. */
export const all = ({ postgres, sqlite }: RunDatabases): ReadonlyArray<Server> => [
  bare,
  ...peers,
  reference,
  ours(SQLITE, `sqlite:${sqlite.filename}`, "this project in its own server, with a SQLite file"),
  ...("missing" in postgres
    ? []
    : [
        ours(
          POSTGRES,
          postgres.address,
          "this project in its own server, with PostgreSQL, whose own CPU time is not included"
        )
      ]),
  {
    ...ours(
      "AnimalStore fetch",
      "memory:",
      "this project as a `Request` to `Response` function on `@hono/node-server`, all data in memory"
    ),
    file: "AnimalStoreFetch"
  }
]

/** The program of a server. */
export const peerModule = (file: string): URL => new URL(`./peers/${file}.ts`, import.meta.url)
