/** Adds the records of animals that were stored with an `Idempotency-Key`. The statements must never change. */

// `expires_at` is in epoch milliseconds.
export const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE idempotent_inserts (
     caller TEXT NOT NULL,
     key TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     pet_id INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     PRIMARY KEY (caller, key)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX idempotent_inserts_by_expiry ON idempotent_inserts (expires_at)"
]

export const postgres: ReadonlyArray<string> = [
  `CREATE TABLE idempotent_inserts (
     caller text COLLATE "C" NOT NULL,
     key text COLLATE "C" NOT NULL,
     fingerprint text NOT NULL,
     pet_id bigint NOT NULL,
     expires_at bigint NOT NULL,
     PRIMARY KEY (caller, key)
   )`,
  "CREATE INDEX idempotent_inserts_by_expiry ON idempotent_inserts (expires_at)"
]
