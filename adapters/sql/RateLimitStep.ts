/**
 * `RateLimit.step` within PostgreSQL, so that a request is counted in one round trip. It is the core's step line by
 * line, and a property compares the two state by state; what is said of the decision is computed by the core alone.
 */
import type { Policy } from "../../core/limits/RateLimit.ts"
import { columns } from "./RateLimitRow.ts"

/**
 * The state after a request at `now` (epoch ms), in the row that is given, with `admitted` and `decided_at`. Without
 * ban numbers nobody is banned. Integer division rounds down, since nothing here is negative.
 */
export const createFunction = `
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

const names = [...columns, "admitted", "decided_at"]

/** The server's time in epoch milliseconds, at the moment it is read. */
export const serverNow = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const now = `coalesce($2::bigint, ${serverNow})`

/**
 * Counts a request and returns the new row. The old values are read through the target row alone, and the clock within
 * the update: only there is the row locked, and nothing read before it is known to be the latest. A first request is
 * always admitted. The commit does not wait for the disk: what PostgreSQL itself may lose in a crash is the last
 * moments of counting (three times `wal_writer_delay`, 0.6 s), never a pet or a key.
 */
export const consume = `
INSERT INTO rate_limits AS held (key, ${names.join(", ")})
SELECT $1, ($3::bigint - 1) * 60000, clock.now, clock.now / 86400000, 1, 0, 0, 0, 0, 0, 0, true, clock.now
FROM (SELECT ${now} AS now) clock, set_config('synchronous_commit', 'off', true)
ON CONFLICT (key) DO UPDATE SET (${names.join(", ")}) = (
  SELECT ${names.map((name) => `after.${name}`).join(", ")}
  FROM rate_limit_step(held, ${now}, $3, $4, $5, $6, $7, $8, $9) after
)
RETURNING ${names.join(", ")}`

/** The parameters of `consume`; without `now` the database's clock counts, which all nodes share. */
export const parameters = (
  key: string,
  now: number | null,
  { ban, plan }: Policy
): ReadonlyArray<string | number | ReadonlyArray<bigint> | null> => [
  key,
  now,
  plan.perMinute,
  plan.perDay,
  ban?.strikes ?? null,
  ban?.withinMs ?? null,
  ban?.strikeIntervalMs ?? null,
  // The driver takes no array of which some numbers fit into 32 bits and others do not.
  ban?.durationsMs.map(BigInt) ?? null,
  ban?.cleanMs ?? null
]
