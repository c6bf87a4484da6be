import { identity } from "effect/Function"
import type * as SqlClient from "effect/sql/SqlClient"

/** The client as it is, whose transactions take no fiber, and one that is not known to be able to do that. */
export const clients: ReadonlyArray<{
  readonly name: string
  readonly of: (sql: SqlClient.SqlClient) => SqlClient.SqlClient
}> = [
  { name: "the client for Node's SQLite", of: identity },
  { name: "any other client", of: (sql) => new Proxy(sql, {}) }
]
