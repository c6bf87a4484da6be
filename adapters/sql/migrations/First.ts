/** Creates the first schema. The statements must never change, because databases were created with them. */

// AUTOINCREMENT never assigns an id twice, even after the newest row was deleted.
export const sqlite: ReadonlyArray<string> = [
  `CREATE TABLE pets (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     name TEXT NOT NULL,
     category_id INTEGER NOT NULL,
     status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
   ) STRICT`,
  "CREATE INDEX pets_by_status ON pets (status, id)",
  `CREATE TABLE api_keys (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     plan TEXT NOT NULL,
     per_minute INTEGER NOT NULL,
     per_day INTEGER NOT NULL,
     label TEXT,
     created_at INTEGER NOT NULL,
     revoked_at INTEGER
   ) STRICT`,
  `CREATE TABLE api_key_secrets (
     hash TEXT PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES api_keys (id),
     position INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER
   ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX api_key_secrets_by_key ON api_key_secrets (key_id, position)",
  `CREATE TABLE rate_limits (
     key TEXT PRIMARY KEY,
     level INTEGER NOT NULL,
     at INTEGER NOT NULL,
     day INTEGER NOT NULL,
     used INTEGER NOT NULL,
     strikes INTEGER NOT NULL,
     strikes_from INTEGER NOT NULL,
     strike_at INTEGER NOT NULL,
     retry_at INTEGER NOT NULL,
     ban_level INTEGER NOT NULL,
     banned_until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"
]

// Pages of rate_limits keep free space, and the key is the only index, so updates rewrite no index (heap-only tuples).
export const postgres: ReadonlyArray<string> = [
  `CREATE TABLE pets (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name text NOT NULL,
     category_id bigint NOT NULL,
     status text NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
   )`,
  "CREATE INDEX pets_by_status ON pets (status, id)",
  `CREATE TABLE api_keys (
     position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL UNIQUE,
     plan text NOT NULL,
     per_minute bigint NOT NULL,
     per_day bigint NOT NULL,
     label text,
     created_at bigint NOT NULL,
     revoked_at bigint
   )`,
  `CREATE TABLE api_key_secrets (
     hash text COLLATE "C" PRIMARY KEY,
     key_id text NOT NULL REFERENCES api_keys (id),
     position bigint NOT NULL,
     created_at bigint NOT NULL,
     expires_at bigint
   )`,
  "CREATE INDEX api_key_secrets_by_key ON api_key_secrets (key_id, position)",
  `CREATE TABLE rate_limits (
     key text COLLATE "C" PRIMARY KEY,
     level bigint NOT NULL,
     at bigint NOT NULL,
     day bigint NOT NULL,
     used bigint NOT NULL,
     strikes bigint NOT NULL,
     strikes_from bigint NOT NULL,
     strike_at bigint NOT NULL,
     retry_at bigint NOT NULL,
     ban_level bigint NOT NULL,
     banned_until bigint NOT NULL,
     admitted boolean NOT NULL,
     decided_at bigint NOT NULL
   ) WITH (fillfactor = 70)`,
  "CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL)",
  `
CREATE FUNCTION rate_limit_step(
  held rate_limits, now bigint, per_minute bigint, per_day bigint,
  ban_strikes bigint, ban_within_ms bigint, ban_interval_ms bigint, ban_durations_ms bigint[], ban_clean_ms bigint
) RETURNS rate_limits LANGUAGE plpgsql AS $$
DECLARE
  minute_ms CONSTANT bigint := 60000;
  day_ms CONSTANT bigint := 86400000;
  last_ban CONSTANT bigint := cardinality(ban_durations_ms) - 1;
  wait_ms bigint := 0;
BEGIN
  held.decided_at := now;
  held.admitted := false;
  IF ban_strikes IS NOT NULL AND now < held.banned_until THEN
    RETURN held;
  END IF;

  held.level := least(held.level + least(greatest(now - held.at, 0), minute_ms) * per_minute, per_minute * minute_ms);
  held.at := greatest(held.at, now);
  IF now / day_ms > held.day THEN
    held.day := now / day_ms;
    held.used := 0;
  END IF;
  IF held.level >= minute_ms AND held.used < per_day THEN
    held.level := held.level - minute_ms;
    held.used := held.used + 1;
    held.admitted := true;
    RETURN held;
  END IF;

  IF ban_strikes IS NOT NULL AND now < held.retry_at AND abs(now - held.strike_at) >= ban_interval_ms THEN
    held.ban_level := greatest(
      held.ban_level - greatest(now - greatest(held.banned_until, held.strike_at), 0) / ban_clean_ms, 0);
    IF held.strikes = 0 OR now - held.strikes_from >= ban_within_ms THEN
      held.strikes := 0;
      held.strikes_from := now;
    END IF;
    held.strikes := held.strikes + 1;
    held.strike_at := now;
    IF held.strikes >= ban_strikes THEN
      held.banned_until := now + ban_durations_ms[least(held.ban_level, last_ban) + 1];
      held.ban_level := least(held.ban_level + 1, last_ban);
      held.strikes := 0;
      held.strikes_from := 0;
      wait_ms := held.banned_until - now;
    END IF;
  END IF;
  IF held.level < minute_ms THEN
    wait_ms := greatest(wait_ms, held.at + (minute_ms - held.level + per_minute - 1) / per_minute - now);
  END IF;
  IF held.used >= per_day THEN
    wait_ms := greatest(wait_ms, (held.day + 1) * day_ms - now);
  END IF;
  held.retry_at := now + 1000 * least(greatest((wait_ms + 999) / 1000, 1), 2147483);
  RETURN held;
END $$`
]
