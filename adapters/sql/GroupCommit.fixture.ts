import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type * as GroupCommit from "./GroupCommit.ts"

/** Submits writes by effects, which withdraw them when they are interrupted. */
export const waiting =
  <Write, A>(submit: GroupCommit.Submit<Write, A>) =>
  (write: Write): Effect.Effect<A, SqlError> =>
    Effect.callback((resume) => Effect.sync(submit(write, resume)))

/** The client as it is, whose transactions take no fiber, and one that is not known to be able to do that. */
export const clients: ReadonlyArray<{
  readonly name: string
  readonly of: (sql: SqlClient.SqlClient) => SqlClient.SqlClient
}> = [
  { name: "the client for Node's SQLite", of: identity },
  { name: "any other client", of: (sql) => new Proxy(sql, {}) }
]
