/** Adds the records of imports, and of the copy that filled the database. The statements must never change. */

// `source` is sha256:HEX of a file, name:NAME of a stream, or in `copies` the SHA-256 of the cursor key of the source.
export const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE imports (
     source TEXT PRIMARY KEY,
     keep_ids INTEGER NOT NULL CHECK (keep_ids IN (0, 1)),
     bytes INTEGER NOT NULL,
     lines INTEGER NOT NULL,
     animals INTEGER NOT NULL,
     prefix TEXT NOT NULL,
     completed_at INTEGER
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE copies (
     source TEXT PRIMARY KEY,
     last_id INTEGER NOT NULL,
     completed_at INTEGER
   ) STRICT, WITHOUT ROWID`
]

export const postgres: ReadonlyArray<string> = [
  `CREATE TABLE imports (
     source text COLLATE "C" PRIMARY KEY,
     keep_ids bigint NOT NULL CHECK (keep_ids IN (0, 1)),
     bytes bigint NOT NULL,
     lines bigint NOT NULL,
     animals bigint NOT NULL,
     prefix text NOT NULL,
     completed_at bigint
   )`,
  `CREATE TABLE copies (
     source text COLLATE "C" PRIMARY KEY,
     last_id bigint NOT NULL,
     completed_at bigint
   )`
]
