import { identity } from "effect/Function"
import type * as SqlClient from "effect/sql/SqlClient"

/** Functions that return the given client itself, or a proxy of the client. */
export const clients: ReadonlyArray<{
  readonly name: string
  readonly of: (sql: SqlClient.SqlClient) => SqlClient.SqlClient
}> = [
  { name: "the client for Node's SQLite", of: identity },
  {
    name: "any other client",
    // Hides the property by which the client for Node's SQLite is recognized.
    of: (sql) =>
      new Proxy(sql, {
        has: (target, name) => !String(name).startsWith("~animal-store/sql/") && name in target
      })
  }
]
