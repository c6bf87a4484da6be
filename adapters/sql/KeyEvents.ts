/** Writes and reads a table of events: actions of administrators on keys, in the order of their transactions. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { actions, type KeyEvent } from "../../core/access/KeyEvent.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"

/** Returns the statements that record an event: none if it is `undefined`. */
export const insertion = (table: string, event: KeyEvent | undefined): SqlScript.Script => {
  if (event === undefined) return []
  const { action, actor, at, changes, keyId } = event
  return [SqlScript.insert(table, { at, actor, key_id: keyId, action, changes: JSON.stringify(changes) })]
}

/** Returns the events of the key `id`, or of all keys if `id` is `undefined`, oldest first. */
export const select = (
  sql: SqlClient.SqlClient,
  table: string,
  id: string | undefined
): Effect.Effect<ReadonlyArray<KeyEvent>, SqlError> => {
  const [condition, parameters] = id === undefined ? ["", []] : ["WHERE key_id = $1", [id]]
  const statement = `SELECT at, actor, key_id, action, changes FROM ${table} ${condition} ORDER BY position`
  return Effect.map(SqlTable.query(sql, statement, parameters), (rows) => rows.map(eventOf))
}

const eventOf = ([at, actor, keyId, name, changes]: ReadonlyArray<unknown>): KeyEvent => {
  const action = actions.find((known) => known === name)
  if (action === undefined) throw new Error("a row has an unknown action")
  return {
    at: Number(at),
    actor: String(actor),
    keyId: String(keyId),
    action,
    changes: JSON.parse(String(changes))
  }
}
