/** Fills the server's memory through a thousand connections: with small requests, large bodies, or unread responses. */
import type { HostileLoad } from "../HostileLoad.ts"
import * as Requests from "../Requests.ts"
import type { Database, Scenario } from "../Scenario.ts"
import * as Siege from "../Siege.ts"

const CONNECTIONS = 1_000

const scenario = (
  suffix: string,
  description: string,
  databases: ReadonlyArray<Database["name"]>,
  load: Pick<HostileLoad, "request" | "pipelined" | "reading">
): Scenario => ({
  name: `thousand-${suffix}`,
  description: `1,000 connections ${description}`,
  databases,
  run: ({ isQuick }, database) =>
    Siege.run(
      { load: () => ({ ...load, connections: CONNECTIONS, seconds: isQuick ? 3 : 60 }) },
      { isQuick },
      database
    )
})

export const thousandGets = scenario(
  "gets",
  "pipeline small GETs without a key and read",
  ["SQLite", "memory", "PostgreSQL"],
  { request: Requests.get("/v1/pets"), pipelined: 200, reading: "while sending" }
)

export const thousandPosts = scenario(
  "posts",
  "pipeline 60 kB POSTs without a key",
  ["SQLite", "memory", "PostgreSQL"],
  { request: Requests.post(60_000), pipelined: 1, reading: "while sending" }
)

export const thousandUnread = scenario(
  "unread",
  "pipeline GET /openapi.json and never read",
  ["SQLite", "memory"],
  { request: Requests.get("/openapi.json"), pipelined: 200, reading: "never" }
)
