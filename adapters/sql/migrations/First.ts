/** Creates the schema of version 0.1.0. Once that is released, the statements never change. */
import * as CountingFunctions from "./CountingFunctions.ts"

/** What the dialects write differently. */
interface Dialect {
  readonly integer: string
  /** A number that is never assigned twice, even after the newest row was deleted. */
  readonly serial: string
  /** Text that is ordered by its bytes. */
  readonly bytewise: string
  /** Follows the columns of a table. */
  readonly rows: string
  /** Follows the columns of a table whose rows are found by its primary key. */
  readonly rowsByKey: string
}

// Times are in epoch milliseconds, days in days since the epoch.
const tables = ({ bytewise, integer, rows, rowsByKey, serial }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE pets (
     id ${serial},
     name TEXT NOT NULL,
     category_id ${integer} NOT NULL,
     status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
   ) ${rows}`,
  "CREATE INDEX pets_by_status ON pets (status, id)",

  `CREATE TABLE rate_limits (
     key ${bytewise} PRIMARY KEY,
     level ${integer} NOT NULL,
     at ${integer} NOT NULL,
     day ${integer} NOT NULL,
     used ${integer} NOT NULL,
     debt ${integer} NOT NULL,
     strikes ${integer} NOT NULL,
     strikes_from ${integer} NOT NULL,
     strike_at ${integer} NOT NULL,
     ban_level ${integer} NOT NULL,
     banned_until ${integer} NOT NULL
   ) ${rowsByKey}`,

  // The animals that were stored with an Idempotency-Key.
  `CREATE TABLE idempotent_inserts (
     caller ${bytewise} NOT NULL,
     key ${bytewise} NOT NULL,
     fingerprint TEXT NOT NULL,
     pet_id ${integer} NOT NULL,
     expires_at ${integer} NOT NULL,
     PRIMARY KEY (caller, key)
   ) ${rowsByKey}`,
  "CREATE INDEX idempotent_inserts_by_expiry ON idempotent_inserts (expires_at)",

  // The responses of operations that run once for each Idempotency-Key; `result` is null while the operation runs.
  `CREATE TABLE idempotent_responses (
     caller ${bytewise} NOT NULL,
     key ${bytewise} NOT NULL,
     fingerprint TEXT NOT NULL,
     claimed_at ${integer} NOT NULL,
     expires_at ${integer} NOT NULL,
     result TEXT,
     PRIMARY KEY (caller, key)
   ) ${rowsByKey}`,
  "CREATE INDEX idempotent_responses_by_expiry ON idempotent_responses (expires_at)",

  // `source` is sha256:HEX of a file, name:NAME of a stream, or in `copies` the SHA-256 of the cursor key of the source.
  `CREATE TABLE imports (
     source ${bytewise} PRIMARY KEY,
     keep_ids ${integer} NOT NULL CHECK (keep_ids IN (0, 1)),
     bytes ${integer} NOT NULL,
     lines ${integer} NOT NULL,
     animals ${integer} NOT NULL,
     prefix TEXT NOT NULL,
     completed_at ${integer}
   ) ${rowsByKey}`,
  `CREATE TABLE copies (
     source ${bytewise} PRIMARY KEY,
     completed_at ${integer}
   ) ${rowsByKey}`,

  `CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) ${rowsByKey}`
]

/** The tables of a store of keys. */
const keyTables = (
  { bytewise, integer, rows, rowsByKey, serial }: Dialect,
  keys: string,
  secrets: string,
  events: string
): ReadonlyArray<string> => [
  // `metadata` is JSON; as text rather than `jsonb`, so that both dialects return exactly what was stored.
  `CREATE TABLE ${keys} (
     position ${serial},
     id TEXT NOT NULL UNIQUE,
     plan TEXT NOT NULL,
     per_minute ${integer} NOT NULL,
     per_day ${integer} NOT NULL,
     label TEXT,
     account TEXT,
     metadata TEXT,
     created_at ${integer} NOT NULL,
     expires_at ${integer},
     revoked_at ${integer},
     last_seen_day ${integer}
   ) ${rows}`,
  `CREATE TABLE ${secrets} (
     hash ${bytewise} PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES ${keys} (id),
     position ${integer} NOT NULL,
     created_at ${integer} NOT NULL,
     expires_at ${integer}
   ) ${rowsByKey}`,
  `CREATE INDEX ${secrets}_by_key ON ${secrets} (key_id, position)`,

  // Does not reference the keys, because the record of a key must outlive its row.
  `CREATE TABLE ${events} (
     position ${serial},
     at ${integer} NOT NULL,
     actor TEXT NOT NULL,
     key_id TEXT NOT NULL,
     action TEXT NOT NULL,
     changes TEXT NOT NULL
   ) ${rows}`,
  `CREATE INDEX ${events}_by_key ON ${events} (key_id, position)`
]

const schema = (dialect: Dialect): ReadonlyArray<string> => [
  ...tables(dialect),
  ...keyTables(dialect, "api_keys", "api_key_secrets", "key_events"),
  ...keyTables(dialect, "admin_tokens", "admin_token_secrets", "admin_token_events")
]

export const sqlite: ReadonlyArray<string> = schema({
  integer: "INTEGER",
  serial: "INTEGER PRIMARY KEY AUTOINCREMENT",
  bytewise: "TEXT",
  rows: "STRICT",
  rowsByKey: "STRICT, WITHOUT ROWID"
})

export const postgres: ReadonlyArray<string> = [
  ...schema({
    integer: "bigint",
    serial: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    bytewise: 'text COLLATE "C"',
    rows: "",
    rowsByKey: ""
  }),
  // The result of the last count, which only PostgreSQL computes. Pages keep free space, and the key is the only index,
  // so updates rewrite no index (heap-only tuples).
  `ALTER TABLE rate_limits
     ADD COLUMN admitted boolean NOT NULL DEFAULT false,
     ADD COLUMN decided_at bigint NOT NULL DEFAULT 0,
     SET (fillfactor = 70)`,
  ...CountingFunctions.postgres
]
