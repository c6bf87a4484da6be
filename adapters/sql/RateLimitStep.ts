/**
 * `RateLimit.step` in PostgreSQL, which counts a request in one round trip: the function `rate_limit_step_2`, created by
 * the migration `Slots`. It follows the core's step line by line, and a property compares the two state by state. Only
 * the core computes verdicts.
 */
import type { Policy } from "../../core/limits/RateLimit.ts"
import { names as columns } from "../storage/RateLimitFields.ts"

const names = [...columns, "admitted", "decided_at"]

/** The server's current time in epoch milliseconds. */
export const serverNow = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const now = `coalesce($2::bigint, ${serverNow})`

/**
 * Counts a request and returns the new row. The update reads the old values from its target row and reads the clock
 * itself: only there is the row locked, so only there are the values current. A first request is always admitted. The
 * commit does not wait for the disk: a crash of PostgreSQL can lose the last counts (three times `wal_writer_delay`,
 * 0.6 s), never a pet or a key.
 */
export const consume = `
INSERT INTO rate_limits AS held (key, ${names.join(", ")})
SELECT $1, ($3::bigint - 1) * 60000, clock.now, clock.now / 86400000, 1, 0, 0, 0, 0, 0, 0, true, clock.now
FROM (SELECT ${now} AS now) clock, set_config('synchronous_commit', 'off', true)
ON CONFLICT (key) DO UPDATE SET (${names.join(", ")}) = (
  SELECT ${names.map((name) => `after.${name}`).join(", ")}
  FROM rate_limit_step_2(held, ${now}, $3, $4, $5, $6, $7, $8, $9) after
)
RETURNING ${names.join(", ")}, xmax = 0 AS is_new`

/** The parameters of `consume`; without `now` the database's clock is used, which all nodes share. */
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
  // The driver rejects arrays that mix 32-bit numbers with larger ones.
  ban?.durationsMs.map(BigInt) ?? null,
  ban?.cleanMs ?? null
]
