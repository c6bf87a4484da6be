/**
 * `RateLimit.step` within PostgreSQL, so that a request is counted in one round trip: the function `rate_limit_step_2`,
 * which the migration `Slots` creates. It is the core's step line by line, and a property compares the two state by
 * state; the verdict is computed by the core alone.
 */
import type { Policy } from "../../core/limits/RateLimit.ts"
import { columns } from "./RateLimitRow.ts"

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
  FROM rate_limit_step_2(held, ${now}, $3, $4, $5, $6, $7, $8, $9) after
)
RETURNING ${names.join(", ")}, xmax = 0 AS is_new`

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
