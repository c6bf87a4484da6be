/** Creates the functions of the first schema that count requests in PostgreSQL, as `RateLimit.step` does. */

export const postgres: ReadonlyArray<string> = [
  // Returns the given row with the state after a request at `now` (epoch milliseconds), `admitted` and `decided_at`.
  // Without ban numbers, no caller is banned. Integer division rounds down, because no number here is negative.
  `
CREATE FUNCTION rate_limit_step(
  held rate_limits, now bigint, per_minute bigint, per_day bigint, cost bigint,
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
  is_day_used_up := held.used + cost > per_day;
  IF is_day_used_up THEN
    held.debt := greatest(held.debt - elapsed_ms / forgiven_every_ms, 0);
  ELSIF held.level = per_minute * minute_ms THEN
    held.debt := 0;
  END IF;
  IF held.level >= cost * minute_ms AND NOT is_day_used_up THEN
    held.level := held.level - cost * minute_ms;
    held.used := held.used + cost;
    held.debt := greatest(held.debt - cost, 0);
    held.admitted := true;
    RETURN held;
  END IF;

  most_slots := held.level / minute_ms +
    CASE WHEN is_day_used_up THEN greatest(per_minute, min_slots_of_day) ELSE per_minute END;
  IF held.debt + cost <= most_slots THEN
    held.debt := held.debt + cost;
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
END $$`,
  // Counts the requests in the arrays, and returns the row after each of them. Rows are locked in the order of their
  // keys, so that calls never deadlock, and requests with one key are counted in the order of the arrays. The clock is
  // read after the row is locked, unless `nows` contains a time. All ban numbers are of one ban policy; `ban_strikes` is
  // null for a caller that cannot be banned. `max_lock_wait` is a value of lock_timeout. The commit does not wait for
  // the disk.
  `
CREATE FUNCTION rate_limit_steps(
  max_lock_wait text, keys text[], nows bigint[], per_minutes bigint[], per_days bigint[], costs bigint[],
  ban_strikes bigint[], ban_within_ms bigint, ban_interval_ms bigint, ban_durations_ms bigint[], ban_clean_ms bigint
) RETURNS TABLE (nth bigint, is_new boolean, state rate_limits) LANGUAGE plpgsql AS $$
DECLARE
  request record;
  held rate_limits;
  now_ms bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', max_lock_wait, true);
  FOR request IN
    SELECT r.*, lead(r.key) OVER (ORDER BY r.key COLLATE "C", r.nth) AS next_key
    FROM unnest(keys, nows, per_minutes, per_days, costs, ban_strikes)
      WITH ORDINALITY AS r(key, now, per_minute, per_day, cost, ban_strikes, nth)
    ORDER BY r.key COLLATE "C", r.nth
  LOOP
    is_new := false;
    WHILE held.key IS DISTINCT FROM request.key LOOP
      SELECT r.* INTO held FROM rate_limits r WHERE r.key = request.key FOR NO KEY UPDATE;
      CONTINUE WHEN FOUND;
      now_ms := coalesce(request.now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
      INSERT INTO rate_limits AS r (
        key, level, at, day, used, debt, strikes, strikes_from, strike_at, ban_level, banned_until, admitted, decided_at
      )
      VALUES (
        request.key, (request.per_minute - request.cost) * 60000, now_ms, now_ms / 86400000, request.cost,
        0, 0, 0, 0, 0, 0, true, now_ms
      )
      ON CONFLICT (key) DO NOTHING
      RETURNING r.* INTO held;
      is_new := FOUND;
    END LOOP;
    IF NOT is_new THEN
      now_ms := coalesce(request.now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
      held := rate_limit_step(
        held, now_ms, request.per_minute, request.per_day, request.cost,
        request.ban_strikes, ban_within_ms, ban_interval_ms, ban_durations_ms, ban_clean_ms
      );
      IF request.next_key IS DISTINCT FROM held.key THEN
        UPDATE rate_limits r SET (
          level, at, day, used, debt, strikes, strikes_from, strike_at, ban_level, banned_until, admitted, decided_at
        ) = ROW (
          held.level, held.at, held.day, held.used, held.debt, held.strikes, held.strikes_from, held.strike_at,
          held.ban_level, held.banned_until, held.admitted, held.decided_at
        )
        WHERE r.key = held.key;
      END IF;
    END IF;
    nth := request.nth;
    state := held;
    RETURN NEXT;
  END LOOP;
END $$`
]
