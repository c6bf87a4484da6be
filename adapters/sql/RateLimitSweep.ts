/**
 * Deletes states that give the same verdicts as an absent state, so that the table contains little more than the states
 * of two days.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlTable from "./SqlTable.ts"

/** Pauses between rounds, and between the pages of a round. */
const ROUND_PAUSE = "1 minute"
const PAGE_PAUSE = "10 millis"

/** Number of rows per statement, and maximum number of statements per round: at most 20,000 rows per minute. */
const PAGE = 200
const PAGES = 100

/** Milliseconds for which a spent state remains stored, because a request in flight may have an earlier timestamp. */
const GRACE_MS = 60_000

/**
 * Runs a round every minute, with the time that `clock` returns. Each round continues where the previous one ended. A
 * failed round is logged, and the next round retries.
 */
export const forever = (
  sql: SqlClient.SqlClient,
  ban: BanPolicy,
  run: SqlCall["run"],
  clock: Effect.Effect<number, SqlError> = Clock.currentTimeMillis
): Effect.Effect<never> => {
  let after = ""
  const round = Effect.gen(function* () {
    const now = yield* run(clock)
    for (let count = 0; count < PAGES; count++) {
      after = yield* run(sweepPage(sql, ban, now, after))
      if (after === "") return
      // SQLite blocks this thread, so other fibers run between two pages.
      yield* Effect.sleep(PAGE_PAUSE)
    }
  })
  const attempt = Effect.catch(round, (failure) =>
    Effect.logWarning("expired rate limits could not be deleted", failure)
  )
  return Effect.forever(Effect.andThen(Effect.sleep(ROUND_PAUSE), attempt))
}

interface Row extends RateLimitFields.RateLimitFields {
  readonly key: string
}

/**
 * Deletes the spent states in the page of rows after the key `after`. Returns the key after which the next page starts,
 * or "" if the next page is the first one.
 */
export const sweepPage = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  ban: BanPolicy,
  now: number,
  after: string
): Effect.fn.Return<string, SqlError> {
  const rows = yield* sql<Row>`
    SELECT key, ${sql.literal(RateLimitFields.names.join(", "))} FROM rate_limits
    WHERE key > ${after} ORDER BY key LIMIT ${PAGE}`
  const spent = rows
    .map((row) => ({ key: row.key, state: RateLimitFields.toState(row) }))
    .filter(({ state }) => RateLimit.spentAt(state, ban) + GRACE_MS <= now)
  if (spent.length > 0) {
    const versions = spent.map(({ key, state }) => [key, ...RateLimitFields.valuesOf(state)])
    yield* sql.unsafe(removal(sql), [JSON.stringify(versions)])
  }
  return rows.length < PAGE ? "" : (rows.at(-1)?.key ?? "")
})

/** Deletes rows that have not changed since they were read: a request may have changed any column in between. */
const removal = (sql: SqlClient.SqlClient): string => {
  const { type, versions } = SqlTable.isPostgres(sql)
    ? { type: "bigint", versions: "json_array_elements($1::json)" }
    : { type: "integer", versions: "json_each(?)" }
  const values = RateLimitFields.names.map((_, index) => `CAST(value ->> ${index + 1} AS ${type})`)
  return `DELETE FROM rate_limits WHERE (key, ${RateLimitFields.names.join(", ")}) IN (
    SELECT value ->> 0, ${values.join(", ")} FROM ${versions})`
}
