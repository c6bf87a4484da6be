/** Stores the key that signs cursors in the database, so that all nodes share it and it survives restarts. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as SqlClient from "effect/sql/SqlClient"
import { DatabaseUnusable, opening } from "./DatabaseUnusable.ts"
import * as SqlScript from "./SqlScript.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

const NAME = "cursor_key"
const BYTES = 32

/** Reads the key; the first call for a database creates it. */
export const get: Effect.Effect<
  Uint8Array,
  DatabaseUnusable,
  SecureRandom.SecureRandom | SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* (yield* SecureRandom.SecureRandom).randomBytes(BYTES)
  const [insert, values] = SqlScript.insert("settings", { name: NAME, value: Hex.encode(random) })
  yield* WriteTransaction.execute(sql, [[`${insert} ON CONFLICT (name) DO NOTHING`, values]])
  const [stored] = yield* sql<{ readonly value: string }>`SELECT value FROM settings WHERE name = ${NAME}`
  return yield* Effect.fromResult(Hex.decode(stored?.value ?? ""))
}).pipe(
  Effect.catchTag("EncodingError", (cause) =>
    Effect.fail(new DatabaseUnusable({ reason: `the setting ${NAME} is not hexadecimal`, cause }))
  ),
  opening
)
