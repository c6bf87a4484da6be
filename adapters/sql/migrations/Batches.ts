/** Adds the function that counts several requests in one statement (PostgreSQL). The statements must never change. */

export const sqlite: ReadonlyArray<string> = []

export const postgres: ReadonlyArray<string> = [
  // Counts the requests in the arrays, and returns the row after each of them. Rows are locked in the order of their
  // keys, so that calls never deadlock, and requests with one key are counted in the order of the arrays. The clock is
  // read after the row is locked, unless `nows` contains a time. Each entry of `bans` is null or a 1-based index into
  // the arrays of ban policy numbers. The durations of all ban policies are concatenated; `ban_ends` contains the index
  // of the last duration of each policy. `max_lock_wait` is a value of lock_timeout. The commit does not wait for the
  // disk.
  `
CREATE FUNCTION rate_limit_steps_1(
  max_lock_wait text, keys text[], nows bigint[], per_minutes bigint[], per_days bigint[], bans bigint[],
  ban_strikes bigint[], ban_within_ms bigint[], ban_interval_ms bigint[], ban_clean_ms bigint[],
  ban_durations_ms bigint[], ban_ends bigint[]
) RETURNS TABLE (nth bigint, is_new boolean, state rate_limits) LANGUAGE plpgsql AS $$
DECLARE
  request record;
  held rate_limits;
  now_ms bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', max_lock_wait, true);
  FOR request IN
    SELECT r.*, lead(r.key) OVER (ORDER BY r.key COLLATE "C", r.nth) AS next_key
    FROM unnest(keys, nows, per_minutes, per_days, bans)
      WITH ORDINALITY AS r(key, now, per_minute, per_day, ban, nth)
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
        request.key, (request.per_minute - 1) * 60000, now_ms, now_ms / 86400000, 1, 0, 0, 0, 0, 0, 0, true, now_ms
      )
      ON CONFLICT (key) DO NOTHING
      RETURNING r.* INTO held;
      is_new := FOUND;
    END LOOP;
    IF NOT is_new THEN
      now_ms := coalesce(request.now, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
      held := rate_limit_step_2(
        held, now_ms, request.per_minute, request.per_day,
        ban_strikes[request.ban], ban_within_ms[request.ban], ban_interval_ms[request.ban],
        ban_durations_ms[coalesce(ban_ends[request.ban - 1], 0) + 1 : ban_ends[request.ban]],
        ban_clean_ms[request.ban]
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
