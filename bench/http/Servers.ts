/** Every server that is measured, in the order in which results show them. */
import type { RunDatabases } from "../Databases.ts"

/** A server and how to start it. */
export interface Server {
  readonly name: string
  /** Its file among the peers, without suffix. */
  readonly file: string
  readonly arguments: ReadonlyArray<string>
  /** Whether it is this project's. */
  readonly isOurs: boolean
  /** Whether it keeps animals in a database; the others keep them in memory. */
  readonly isDurable: boolean
  /** In a few words. */
  readonly what: string
}

/** What the others are compared with. */
export const bare: Server = {
  name: "Bare",
  file: "Bare",
  arguments: [],
  isOurs: false,
  isDurable: false,
  what: "`node:http` in its fastest form, with `optimizeEmptyRequests`, that answers fixed bytes, whatever is asked"
}

/** The same as most would write it. */
export const bareByDefault: Server = {
  ...bare,
  name: "Bare, Node's defaults",
  arguments: ["defaults"],
  what: "the same without `optimizeEmptyRequests`, as `node:http` is by default"
}

/** Ours as the targets mean it; the bare server repeats its answers. */
export const reference: Server = {
  name: "AnimalStore memory",
  file: "AnimalStore",
  arguments: ["memory:"],
  isOurs: true,
  isDurable: false,
  what: "ours in its own server, everything in memory"
}

const peers: ReadonlyArray<Server> = [
  {
    name: "Handwritten",
    file: "Handwritten",
    arguments: [],
    isOurs: false,
    isDurable: false,
    what: "`node:http` and what one would write by hand for these operations"
  },
  {
    name: "Fastify",
    file: "Fastify",
    arguments: [],
    isOurs: false,
    isDurable: false,
    what: "`fastify` with JSON schemas and `@fastify/rate-limit`"
  },
  {
    name: "Express",
    file: "Express",
    arguments: [],
    isOurs: false,
    isDurable: false,
    what: "`express` with `zod` and `express-rate-limit`"
  },
  {
    name: "Hono",
    file: "Hono",
    arguments: [],
    isOurs: false,
    isDurable: false,
    what: "`hono` on `@hono/node-server` with `zod` and `hono-rate-limiter`"
  },
  {
    name: "HttpApi",
    file: "HttpApi",
    arguments: [],
    isOurs: false,
    isDurable: false,
    what: "`HttpApi` of `effect` on `@effect/platform-node`"
  }
]

/** What ours is called on PostgreSQL, also where it has to be skipped. */
export const POSTGRES = "AnimalStore PostgreSQL"

/** All of them, on these databases. */
export const all = ({ postgres, sqlite }: RunDatabases): ReadonlyArray<Server> => [
  bare,
  bareByDefault,
  ...peers,
  reference,
  {
    name: "AnimalStore SQLite",
    file: "AnimalStore",
    arguments: [`sqlite:${sqlite.filename}`],
    isOurs: true,
    isDurable: true,
    what: "ours in its own server, with a SQLite file"
  },
  ...("missing" in postgres
    ? []
    : [
        {
          name: POSTGRES,
          file: "AnimalStore",
          arguments: [postgres.address],
          isOurs: true,
          isDurable: true,
          what: "ours in its own server, with PostgreSQL, whose own CPU time is not counted"
        }
      ]),
  {
    name: "AnimalStore fetch",
    file: "AnimalStoreFetch",
    arguments: [],
    isOurs: true,
    isDurable: false,
    what: "ours as a `Request` to `Response` function, everything in memory"
  }
]

/** Where the program of a server is. */
export const peerModule = (file: string): URL => new URL(`./peers/${file}.ts`, import.meta.url)
