/** Adds the account and the metadata of keys. The statements must never change. */

// `metadata` is JSON text; `text` rather than `jsonb`, so that both dialects return exactly what was stored.
export const sqlite: ReadonlyArray<string> = [
  "ALTER TABLE api_keys ADD COLUMN account TEXT",
  "ALTER TABLE api_keys ADD COLUMN metadata TEXT"
]

export const postgres: ReadonlyArray<string> = [
  "ALTER TABLE api_keys ADD COLUMN account text, ADD COLUMN metadata text"
]
