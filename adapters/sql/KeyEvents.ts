/** Writes and reads the table `key_events`: actions of administrators on keys, in the order of their transactions. */
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { actions, type KeyEvent } from "../../core/access/KeyEvent.ts"
import * as SqlScript from "./SqlScript.ts"

/** Returns the statements that record an event: none if it is `undefined`. */
export const insertion = (event: KeyEvent | undefined): SqlScript.Script =>
  event === undefined
    ? []
    : [
        SqlScript.insert("key_events", {
          at: event.at,
          actor: event.actor,
          key_id: event.keyId,
          action: event.action,
          changes: JSON.stringify(event.changes)
        })
      ]

interface Row {
  readonly at: unknown
  readonly actor: string
  readonly key_id: string
  readonly action: string
  readonly changes: string
}

/** Returns the events of the key `id`, or of all keys if `id` is `undefined`, oldest first. */
export const select = (
  sql: SqlClient.SqlClient,
  id: string | undefined
): Effect.Effect<ReadonlyArray<KeyEvent>, SqlError> =>
  Effect.map(
    id === undefined
      ? sql<Row>`SELECT at, actor, key_id, action, changes FROM key_events ORDER BY position`
      : sql<Row>`SELECT at, actor, key_id, action, changes FROM key_events WHERE key_id = ${id} ORDER BY position`,
    (rows) => rows.map(toEvent)
  )

const toEvent = ({ action: name, actor, at, changes, key_id }: Row): KeyEvent => {
  const action = actions.find((known) => known === name)
  if (action === undefined) throw new Error("a row has an unknown action")
  return { at: Number(at), actor, keyId: key_id, action, changes: JSON.parse(changes) }
}
