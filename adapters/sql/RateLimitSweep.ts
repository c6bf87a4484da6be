/** Forgets callers whose state decides like none at all, so that the table holds little more than those of two days. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitRow from "./RateLimitRow.ts"
import type { StoreCall } from "./StoreCall.ts"

/** Between rounds, and between the pages of one. */
const PAUSE = "1 minute"
const BREATH = "10 millis"

/** Rows looked at in one statement, and statements in one round: 20 000 rows a minute. */
const PAGE = 200
const PAGES = 100

/** Milliseconds a spent state is kept on: a request that is still on its way here was stamped a little earlier. */
const GRACE_MS = 60_000

/**
 * A round every minute, each where the one before ended, at the time that `clock` tells. A round that fails is logged and
 * left to the next.
 */
export const forever = (
  sql: SqlClient.SqlClient,
  ban: BanPolicy,
  run: StoreCall["run"],
  clock: Effect.Effect<number, SqlError> = Clock.currentTimeMillis
): Effect.Effect<never> => {
  let after = ""
  const round = Effect.gen(function* () {
    const now = yield* run(clock)
    for (let count = 0; count < PAGES; count++) {
      after = yield* run(sweepPage(sql, ban, now, after))
      if (after === "") return
      // SQLite works in this thread, in which others are waiting.
      yield* Effect.sleep(BREATH)
    }
  })
  const attempt = Effect.catch(round, (failure) =>
    Effect.logWarning("rate limits that are over could not be swept", failure)
  )
  return Effect.forever(Effect.andThen(Effect.sleep(PAUSE), attempt))
}

interface Row extends RateLimitRow.RateLimitRow {
  readonly key: string
}

/** Sweeps the rows with a key above `after`, up to a page of them; answers where to go on, "" for the beginning. */
export const sweepPage = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  ban: BanPolicy,
  now: number,
  after: string
): Effect.fn.Return<string, SqlError> {
  const rows = yield* sql<Row>`
    SELECT key, ${sql.literal(RateLimitRow.columns.join(", "))} FROM rate_limits
    WHERE key > ${after} ORDER BY key LIMIT ${PAGE}`
  const spent = rows.filter((row) => RateLimit.spentAt(RateLimitRow.toState(row), ban) + GRACE_MS <= now)
  if (spent.length > 0) yield* remove(sql, spent)
  return rows.length < PAGE ? "" : (rows.at(-1)?.key ?? "")
})

/** Removes rows that are still as they were read: a request in between may have changed any part of them. */
const remove = (sql: SqlClient.SqlClient, rows: ReadonlyArray<Row>): Effect.Effect<unknown, SqlError> => {
  const columns = ["key", ...RateLimitRow.columns]
  const versions = rows.map((row) => [row.key, ...RateLimitRow.values(RateLimitRow.toState(row))])
  return sql.onDialectOrElse({
    pg: () =>
      sql.unsafe(
        `DELETE FROM rate_limits WHERE (${columns.join(", ")}) IN (SELECT * FROM unnest(${columns
          .map((_, index) => (index === 0 ? "$1::text[]" : `$${index + 1}::bigint[]`))
          .join(", ")}))`,
        // The driver takes no array of which some numbers fit into 32 bits and others do not.
        columns.map((_, column) =>
          versions.map(({ [column]: value }) => (typeof value === "number" ? BigInt(value) : value))
        )
      ),
    orElse: () =>
      sql.unsafe(
        `DELETE FROM rate_limits WHERE (${columns.join(", ")}) IN (
           SELECT ${columns.map((_, index) => `value ->> ${index}`).join(", ")} FROM json_each(?))`,
        [JSON.stringify(versions)]
      )
  })
}
