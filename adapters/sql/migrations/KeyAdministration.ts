/** Adds the expiry and last use of keys, and the record of administrators' actions. Never change the statements. */

// `key_events` does not reference api_keys, because the record of a key must outlive its row.

export const sqlite: ReadonlyArray<string> = [
  "ALTER TABLE api_keys ADD COLUMN expires_at INTEGER",
  "ALTER TABLE api_keys ADD COLUMN last_seen_day INTEGER",
  `CREATE TABLE key_events (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     actor TEXT NOT NULL,
     key_id TEXT NOT NULL,
     action TEXT NOT NULL,
     changes TEXT NOT NULL
   ) STRICT`,
  "CREATE INDEX key_events_by_key ON key_events (key_id, position)"
]

export const postgres: ReadonlyArray<string> = [
  "ALTER TABLE api_keys ADD COLUMN expires_at bigint, ADD COLUMN last_seen_day bigint",
  `CREATE TABLE key_events (
     position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     at bigint NOT NULL,
     actor text NOT NULL,
     key_id text NOT NULL,
     action text NOT NULL,
     changes text NOT NULL
   )`,
  "CREATE INDEX key_events_by_key ON key_events (key_id, position)"
]
