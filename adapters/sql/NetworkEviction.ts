/**
 * Bounds the number of stored networks, because any client can add one by sending a request without a key from a new
 * network. Above the maximum, the older half of each page of networks is deleted, page by page. That needs no index on
 * the time of use, which every request would update, and keeps recently used networks.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Caller from "../../core/limits/Caller.ts"
import type { SqlCall } from "./SqlCall.ts"
import * as SqlTable from "./SqlTable.ts"

/** Interval between counts of the rows; between two counts, only the inserts of this process are added. */
const RECOUNT_INTERVAL = "1 minute"

/** Fraction of the maximum that remains after an eviction, so that the next one is not due immediately. */
const LOW_WATER_MARK = 0.99

/** Number of rows that one statement reads; at most half of them, the older ones, are deleted. */
const PAGE = 1_000

export interface NetworkEviction {
  /** Adds the number of networks that were stored for the first time. */
  readonly add: (networks: number) => void
  /** Evicts whenever there are too many networks; a failure is logged, and the next round retries. */
  readonly forever: Effect.Effect<never>
}

/** Evicts the networks above `max` from a table that other processes may share. */
export const make = (sql: SqlClient.SqlClient, run: SqlCall["run"], max: number): NetworkEviction => {
  const isDue = Latch.makeUnsafe(true)
  let stored = 0
  let after: string = Caller.networks.from

  const add = (networks: number): void => {
    stored += networks
    if (stored > max) isDue.openUnsafe()
  }

  const evict = Effect.gen(function* () {
    stored = yield* run(count(sql))
    while (stored > max * LOW_WATER_MARK) {
      const page = yield* run(evictSome(sql, after, stored - Math.floor(max * LOW_WATER_MARK)))
      after = page.next
      // Counts again at the end of the table, because other processes may also evict networks.
      stored = after === Caller.networks.from ? yield* run(count(sql)) : stored - page.evicted
      // SQLite blocks this thread, so other fibers run between two pages.
      yield* Effect.yieldNow
    }
  })

  const round = Effect.gen(function* () {
    isDue.closeUnsafe()
    yield* Effect.catch(evict, (failure) => Effect.logWarning("networks could not be evicted", failure))
    yield* Effect.race(isDue.await, Effect.sleep(RECOUNT_INTERVAL))
  })

  return { add, forever: Effect.forever(round) }
}

const count = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql<{ readonly networks: unknown }>`
      SELECT count(*) AS networks FROM rate_limits
      WHERE key >= ${Caller.networks.from} AND key < ${Caller.networks.to}`,
    ([row]) => Number(row?.networks)
  )

interface Page {
  /** The key after which the next page starts. */
  readonly next: string
  readonly evicted: number
}

/** Deletes the older half of the page that starts after the key `after`, but at most `maxEvicted` networks. */
export const evictSome = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  after: string,
  maxEvicted: number
): Effect.fn.Return<Page, SqlError> {
  const rows = yield* sql<{ readonly key: string; readonly at: unknown }>`
    SELECT key, at FROM rate_limits WHERE key > ${after} AND key < ${Caller.networks.to} ORDER BY key LIMIT ${PAGE}`
  const next = rows.length < PAGE ? Caller.networks.from : (rows.at(-1)?.key ?? Caller.networks.from)
  const byAge = rows.map(({ at, key }) => ({ at: Number(at), key })).sort((a, b) => a.at - b.at)
  const oldest = byAge.slice(0, Math.min(Math.ceil(rows.length / 2), maxEvicted))
  const latest = oldest.at(-1)
  if (latest === undefined) return { next, evicted: 0 }
  // A network that was used after it was read is kept.
  const keys = oldest.map(({ key }) => key)
  yield* SqlTable.query(sql, `DELETE FROM rate_limits WHERE key IN (${SqlTable.texts(sql)}) AND at <= $2`, [
    JSON.stringify(keys),
    latest.at
  ])
  return { next, evicted: keys.length }
})
