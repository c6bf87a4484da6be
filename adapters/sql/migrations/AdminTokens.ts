/** Adds the tokens of administrators. Never change the statements. */

export const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE admin_tokens (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL,
     hash TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER
   ) STRICT`
]

export const postgres: ReadonlyArray<string> = [
  `CREATE TABLE admin_tokens (
     position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL UNIQUE,
     name text NOT NULL,
     hash text NOT NULL UNIQUE,
     created_at bigint NOT NULL,
     expires_at bigint,
     revoked_at bigint
   )`
]
