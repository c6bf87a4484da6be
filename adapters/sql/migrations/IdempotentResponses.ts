/** Adds the responses of operations that run once for each `Idempotency-Key`. The statements must never change. */

// `result` is null while the operation runs. Times are in epoch milliseconds.
export const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE idempotent_responses (
     caller TEXT NOT NULL,
     key TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     claimed_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     result TEXT,
     PRIMARY KEY (caller, key)
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX idempotent_responses_by_expiry ON idempotent_responses (expires_at)"
]

export const postgres: ReadonlyArray<string> = [
  `CREATE TABLE idempotent_responses (
     caller text COLLATE "C" NOT NULL,
     key text COLLATE "C" NOT NULL,
     fingerprint text NOT NULL,
     claimed_at bigint NOT NULL,
     expires_at bigint NOT NULL,
     result text,
     PRIMARY KEY (caller, key)
   )`,
  "CREATE INDEX idempotent_responses_by_expiry ON idempotent_responses (expires_at)"
]
