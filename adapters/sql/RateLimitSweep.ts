/**
 * Deletes two kinds of states, page by page in the order of their keys: states that give the same verdicts as an absent
 * state, so that the table contains little more than the states of two days; and states of networks above a maximum,
 * because any client can add one by sending a request without a key from a new network. The older half of each page of
 * networks is deleted. That needs no index on the time of use, which every request would update, and keeps recently used
 * networks.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlTable from "./SqlTable.ts"

/**
 * Pauses between rounds, and between the pages of a round. The networks are counted in each round; between two counts,
 * only the inserts of this process are added.
 */
const ROUND_PAUSE = "1 minute"
const PAGE_PAUSE = "10 millis"

/** Maximum number of pages per round: at most 20,000 rows per minute. */
const PAGES = 100

/** Milliseconds for which a spent state remains stored, because a request in flight may have an earlier timestamp. */
const GRACE_MS = 60_000

/** Fraction of the maximum that remains after an eviction, so that the next one is not due immediately. */
const LOW_WATER_MARK = 0.99

/**
 * Deletes spent states in a round every minute, with the time that `clock` returns. Each round continues where the
 * previous one ended. A failed round is logged, and the next round retries.
 */
export const forever = (
  sql: SqlClient.SqlClient,
  ban: BanPolicy,
  run: SqlCall["run"],
  clock: Effect.Effect<number, SqlError> = Clock.currentTimeMillis
): Effect.Effect<never> => {
  let after = everyone.keys.from
  const round = Effect.gen(function* () {
    const now = yield* run(clock)
    for (let count = 0; count < PAGES; count++) {
      after = (yield* run(sweepPage(sql, ban, now, after))).next
      if (after === everyone.keys.from) return
      // SQLite blocks this thread, so other fibers run between two pages.
      yield* Effect.sleep(PAGE_PAUSE)
    }
  })
  const attempt = Effect.catch(round, (failure) =>
    Effect.logWarning("expired rate limits could not be deleted", failure)
  )
  return Effect.forever(Effect.andThen(Effect.sleep(ROUND_PAUSE), attempt))
}

/**
 * Evicts the networks above `max` from a table that other processes may share: `forever` whenever there are too many; a
 * failure is logged, and the next round retries. `add` adds the number of networks that were stored for the first time.
 */
export const eviction = (sql: SqlClient.SqlClient, run: SqlCall["run"], max: number) => {
  const isDue = Latch.makeUnsafe(true)
  let stored = 0
  let after = networks.keys.from

  const evict = Effect.gen(function* () {
    stored = yield* run(count(sql))
    while (stored > max * LOW_WATER_MARK) {
      const page = yield* run(evictSome(sql, after, stored - Math.floor(max * LOW_WATER_MARK)))
      after = page.next
      // Counts again at the end of the table, because other processes may also evict networks.
      stored = after === networks.keys.from ? yield* run(count(sql)) : stored - page.deleted
      // SQLite blocks this thread, so other fibers run between two pages.
      yield* Effect.yieldNow
    }
  })
  const round = Effect.gen(function* () {
    isDue.closeUnsafe()
    yield* Effect.catch(evict, (failure) => Effect.logWarning("networks could not be evicted", failure))
    yield* Effect.race(isDue.await, Effect.sleep(ROUND_PAUSE))
  })
  return {
    add: (count: number): void => {
      stored += count
      if (stored > max) isDue.openUnsafe()
    },
    forever: Effect.forever(round)
  }
}

const count = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql<{ readonly networks: unknown }>`
      SELECT count(*) AS networks FROM rate_limits
      WHERE key >= ${networks.keys.from} AND key < ${networks.keys.to}`,
    ([row]) => Number(row?.networks)
  )

/** Deletes the states in the page that starts after the key `after` which are spent at the time `now`. */
export const sweepPage = (sql: SqlClient.SqlClient, ban: BanPolicy, now: number, after: string) =>
  deleteFrom(sql, everyone, after, (page) =>
    page.filter(([, ...values]) => RateLimit.spentAt(RateLimitFields.stateOf(values), ban) + GRACE_MS <= now)
  )

/** Deletes the older half of the page that starts after the key `after`, but at most `maxEvicted` networks. */
export const evictSome = (sql: SqlClient.SqlClient, after: string, maxEvicted: number) =>
  deleteFrom(sql, networks, after, (page) =>
    page
      .toSorted(([, left = 0], [, right = 0]) => left - right)
      .slice(0, Math.min(Math.ceil(page.length / 2), maxEvicted))
  )

/** The pages of a job: the range of their keys, the columns that are read besides the key, and their size in rows. */
interface Pages {
  readonly keys: { readonly from: string; readonly to: string }
  readonly columns: ReadonlyArray<string>
  readonly size: number
}

// The end of the range sorts after every key.
const everyone: Pages = { keys: { from: "", to: "\u{10ffff}" }, columns: RateLimitFields.names, size: 200 }
const networks: Pages = { keys: Caller.networks, columns: ["at"], size: 1_000 }

/** A key and the values of the columns. */
type Row = readonly [key: string, ...values: ReadonlyArray<number>]

/**
 * Deletes the chosen rows of the page that starts after the key `after`, unless they have changed since they were read.
 * Returns their number, and the key after which the next page starts.
 */
const deleteFrom = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { columns, keys, size }: Pages,
  after: string,
  choose: (page: ReadonlyArray<Row>) => ReadonlyArray<Row>
): Effect.fn.Return<{ readonly next: string; readonly deleted: number }, SqlError> {
  const rows = yield* sql`
    SELECT key, ${sql.literal(columns.join(", "))} FROM rate_limits
    WHERE key > ${after} AND key < ${keys.to} ORDER BY key LIMIT ${size}`.values
  const page = rows.map(([key, ...values]): Row => [String(key), ...values.map(Number)])
  const chosen = choose(page)
  if (chosen.length > 0) yield* sql.unsafe(removal(sql, columns), [JSON.stringify(chosen)])
  return { next: page.length < size ? keys.from : (page.at(-1)?.[0] ?? keys.from), deleted: chosen.length }
})

/** A request may have changed any of the columns in between. */
const removal = (sql: SqlClient.SqlClient, columns: ReadonlyArray<string>): string => {
  const { type, versions } = SqlTable.isPostgres(sql)
    ? { type: "bigint", versions: "json_array_elements($1::json)" }
    : { type: "integer", versions: "json_each(?)" }
  const values = columns.map((_, index) => `CAST(value ->> ${index + 1} AS ${type})`)
  return `DELETE FROM rate_limits WHERE (key, ${columns.join(", ")}) IN (
    SELECT value ->> 0, ${values.join(", ")} FROM ${versions})`
}
