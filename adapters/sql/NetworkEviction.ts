/**
 * Keeps the number of stored networks bounded: anybody can make a store hold a state by sending a request without a key
 * from one more network. When there are too many, the older half of a page of them is deleted, then of the next page: no
 * index has to follow each request, and what was used lately stays.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Caller from "../../core/limits/Caller.ts"
import type { StoreCall } from "./StoreCall.ts"

/** Rows are counted so often; in between those are added up that this process inserts. */
const RECOUNT_EVERY = "1 minute"

/** The part of the maximum that is left after an eviction, so that the next one is not due at once. */
const LOW_WATER_MARK = 0.99

/** Rows looked at in one statement; of these at most half go, the older ones. */
const PAGE = 1_000

export interface NetworkEviction {
  /** To be called with the number of networks that were stored for the first time. */
  readonly added: (networks: number) => void
  /** Evicts when there are too many; a failure is logged and left to the next time. */
  readonly forever: Effect.Effect<never>
}

/** The eviction of all networks beyond `max`, on a table that other processes may share. */
export const make = (sql: SqlClient.SqlClient, run: StoreCall["run"], max: number): NetworkEviction => {
  const isDue = Latch.makeUnsafe(true)
  let stored = 0
  let after: string = Caller.networks.from

  const added = (networks: number): void => {
    stored += networks
    if (stored > max) isDue.openUnsafe()
  }

  const evict = Effect.gen(function* () {
    stored = yield* run(count(sql))
    while (stored > max * LOW_WATER_MARK) {
      const page = yield* run(evictSome(sql, after, stored - Math.floor(max * LOW_WATER_MARK)))
      after = page.next
      // Other processes may evict, too: at the end of the table their share shows.
      stored = after === Caller.networks.from ? yield* run(count(sql)) : stored - page.evicted
      // SQLite works in this thread, in which others are waiting.
      yield* Effect.yieldNow
    }
  })

  const round = Effect.gen(function* () {
    isDue.closeUnsafe()
    yield* Effect.catch(evict, (failure) => Effect.logWarning("networks could not be evicted", failure))
    yield* Effect.race(isDue.await, Effect.sleep(RECOUNT_EVERY))
  })

  return { added, forever: Effect.forever(round) }
}

const count = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql<{ readonly networks: unknown }>`
      SELECT count(*) AS networks FROM rate_limits
      WHERE key >= ${Caller.networks.from} AND key < ${Caller.networks.to}`,
    ([row]) => Number(row?.networks)
  )

interface Page {
  /** Where the next page begins. */
  readonly next: string
  readonly evicted: number
}

/** Evicts the older half of the networks after a name, at most so many of them. */
export const evictSome = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  after: string,
  most: number
): Effect.fn.Return<Page, SqlError> {
  const rows = yield* sql<{ readonly key: string; readonly at: unknown }>`
    SELECT key, at FROM rate_limits WHERE key > ${after} AND key < ${Caller.networks.to} ORDER BY key LIMIT ${PAGE}`
  const next = rows.length < PAGE ? Caller.networks.from : (rows.at(-1)?.key ?? Caller.networks.from)
  const byAge = rows.map(({ at, key }) => ({ at: Number(at), key })).sort((a, b) => a.at - b.at)
  const oldest = byAge.slice(0, Math.min(Math.ceil(rows.length / 2), most))
  const latest = oldest.at(-1)
  if (latest === undefined) return { next, evicted: 0 }
  // One that was used since it was read stays.
  const keys = oldest.map(({ key }) => key)
  yield* sql.onDialectOrElse({
    pg: () => sql`DELETE FROM rate_limits WHERE key = ANY(${keys}::text[]) AND at <= ${latest.at}`,
    orElse: () =>
      sql`DELETE FROM rate_limits WHERE key IN (SELECT value FROM json_each(${JSON.stringify(keys)})) AND at <= ${latest.at}`
  })
  return { next, evicted: keys.length }
})
