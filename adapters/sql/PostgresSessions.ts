/** Detects poolers that share the sessions of PostgreSQL between connections, such as PgBouncer in transaction mode. */
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"

/** Time for the statements on two connections through a pooler, in milliseconds. */
const TIMEOUT_MS = 1_000

/**
 * Returns whether `connection` keeps its session, and with it the prepared statements. `open` opens another connection
 * to the same address; it is used only behind a pooler. Also returns true if the other connection is refused or has to
 * wait: a pooler that shares sessions would serve it, because the first connection is idle.
 */
export const areKept = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection,
  open: Effect.Effect<PgConnection.PgConnection, SqlError, Scope.Scope>
): Effect.fn.Return<boolean, SqlError> {
  // A pooler announces an id of its own when it accepts a connection.
  if ((yield* serverProcessOf(connection)) === connection.processId) return true
  return yield* Effect.flatMap(open, (other) => haveOwnProcesses(connection, other)).pipe(
    Effect.scoped,
    Effect.timeout(TIMEOUT_MS),
    Effect.orElseSucceed(() => true)
  )
})

/** Whether each of two open connections always has the same process of the server, and not that of the other one. */
const haveOwnProcesses = Effect.fnUntraced(function* (
  one: PgConnection.PgConnection,
  other: PgConnection.PgConnection
): Effect.fn.Return<boolean, SqlError> {
  const processes = new Map<PgConnection.PgConnection, number>()
  // Irregular, because a pooler may assign its processes in turn.
  for (const connection of [one, other, one, one, other, other, other, one]) {
    const process = yield* serverProcessOf(connection)
    if ((processes.get(connection) ?? process) !== process) return false
    processes.set(connection, process)
  }
  return processes.get(one) !== processes.get(other)
})

const serverProcessOf = (connection: PgConnection.PgConnection): Effect.Effect<number, SqlError> =>
  Effect.map(connection.queryValues("SELECT pg_backend_pid()", [], false), ([row]) => Number(row?.[0]))
