/**
 * Replaces the column `retry_at` with `debt`, the number of announced slots that are not yet used (`Debt`). The
 * statements must never change.
 */

export const sqlite: ReadonlyArray<string> = [
  "ALTER TABLE rate_limits ADD COLUMN debt INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE rate_limits DROP COLUMN retry_at"
]

export const postgres: ReadonlyArray<string> = [
  "DROP FUNCTION rate_limit_step",
  "ALTER TABLE rate_limits ADD COLUMN debt bigint NOT NULL DEFAULT 0, DROP COLUMN retry_at",
  // Returns the given row with the state after a request at `now` (epoch milliseconds), `admitted` and `decided_at`.
  // Without ban numbers, no caller is banned. Integer division rounds down, because no number here is negative.
  `
CREATE FUNCTION rate_limit_step_2(
  held rate_limits, now bigint, per_minute bigint, per_day bigint,
  ban_strikes bigint, ban_within_ms bigint, ban_interval_ms bigint, ban_durations_ms bigint[], ban_clean_ms bigint
) RETURNS rate_limits LANGUAGE plpgsql AS $$
DECLARE
  minute_ms CONSTANT bigint := 60000;
  day_ms CONSTANT bigint := 86400000;
  max_lead_ms CONSTANT bigint := 60000;
  forgiven_every_ms CONSTANT bigint := 2000;
  min_slots_of_day CONSTANT bigint := 8;
  last_ban CONSTANT bigint := cardinality(ban_durations_ms) - 1;
  lead_ms CONSTANT bigint := held.at - now - max_lead_ms;
  elapsed_ms bigint;
  is_day_used_up boolean;
  most_slots bigint;
BEGIN
  held.decided_at := now;
  held.admitted := false;
  IF lead_ms > 0 THEN
    held.at := held.at - lead_ms;
    IF held.strikes_from > 0 THEN held.strikes_from := greatest(held.strikes_from - lead_ms, 1); END IF;
    IF held.strike_at > 0 THEN held.strike_at := greatest(held.strike_at - lead_ms, 1); END IF;
    IF held.banned_until > 0 THEN held.banned_until := greatest(held.banned_until - lead_ms, 1); END IF;
  END IF;
  held.day := least(held.day, (now + max_lead_ms) / day_ms);
  IF ban_strikes IS NOT NULL AND now < held.banned_until THEN
    RETURN held;
  END IF;

  elapsed_ms := greatest(now - held.at, 0);
  held.level := least(held.level + least(elapsed_ms, minute_ms) * per_minute, per_minute * minute_ms);
  held.at := greatest(held.at, now);
  IF now / day_ms > held.day THEN
    held.day := now / day_ms;
    held.used := 0;
  END IF;
  is_day_used_up := held.used >= per_day;
  IF is_day_used_up THEN
    held.debt := greatest(held.debt - elapsed_ms / forgiven_every_ms, 0);
  ELSIF held.level = per_minute * minute_ms THEN
    held.debt := 0;
  END IF;
  IF held.level >= minute_ms AND NOT is_day_used_up THEN
    held.level := held.level - minute_ms;
    held.used := held.used + 1;
    held.debt := greatest(held.debt - 1, 0);
    held.admitted := true;
    RETURN held;
  END IF;

  most_slots := held.level / minute_ms +
    CASE WHEN is_day_used_up THEN greatest(per_minute, min_slots_of_day) ELSE per_minute END;
  IF held.debt < most_slots THEN
    held.debt := held.debt + 1;
    RETURN held;
  END IF;
  held.debt := most_slots;
  IF ban_strikes IS NOT NULL AND abs(now - held.strike_at) >= ban_interval_ms THEN
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
    END IF;
  END IF;
  RETURN held;
END $$`
]
