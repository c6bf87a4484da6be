/** Implements `RateLimitStore` on a SQL database, with one row per caller. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import { RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as PostgresRateLimits from "./PostgresRateLimits.ts"
import * as RateLimitStep from "./RateLimitStep.ts"
import * as RateLimitSweep from "./RateLimitSweep.ts"
import * as SqlCall from "./SqlCall.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

type Store = RateLimitStore["Service"]

type OnStored = PostgresRateLimits.OnStored

/** Provides a store for reading only: other methods are defects. Deletes nothing. */
export const reading = ({
  timeoutMs
}: Pick<SqlOptions, "timeoutMs">): Layer.Layer<RateLimitStore, never, SqlClient.SqlClient> =>
  Layer.effect(
    RateLimitStore,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      modify: () => readOnly,
      consume: () => readOnly,
      read: readStates(sql, SqlCall.make(timeoutMs), usesServerTime(sql, "database"))
    }))
  )

const readOnly = Effect.die(new Error("the rate limits are opened for reading only"))

const usesServerTime = (sql: SqlClient.SqlClient, clock: SqlOptions["clock"]): boolean =>
  clock === "database" && SqlTable.isPostgres(sql)

/**
 * Creates the store over a client, after `Migrations.migrate`. Until the scope closes, it deletes spent states, and
 * states of networks above `maxAnonymousStates`.
 */
export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  { clock, maxAnonymousStates, timeoutMs }: Omit<SqlOptions, "keyCacheMs">
): Effect.fn.Return<Store, never, Scope.Scope> {
  const isServerTime = usesServerTime(sql, clock)
  yield* Effect.forkScoped(
    RateLimitSweep.forever(sql, yield* BanPolicy, call.run, isServerTime ? serverTime(sql) : undefined)
  )
  const eviction = RateLimitSweep.eviction(sql, call.run, maxAnonymousStates)
  yield* Effect.forkScoped(eviction.forever)
  const countNetwork: OnStored = (caller) => {
    if (Caller.isNetwork(caller)) eviction.add(1)
  }
  const read = readStates(sql, call, isServerTime)
  const rehearse = Effect.asVoid(call.run(rehearsal(sql)))
  const consumeMany = SqlTable.isPostgres(sql)
    ? yield* PostgresRateLimits.consumeMany(sql, call, { clock, timeoutMs }, countNetwork)
    : countGrouped(sql, call, countNetwork)
  return {
    modify: replaceState(sql, call, countNetwork),
    consume: (key, now, policy) => consumeMany(key, now, policy, 1),
    consumeMany,
    read,
    rehearse
  }
})

const rehearsal = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  SqlTable.isPostgres(sql)
    ? // Also fails if the functions that count are missing.
      Effect.andThen(sql.unsafe(STORE_NONE), PostgresRateLimits.countNone(sql))
    : WriteTransaction.rehearse(sql, STORE_ZEROS, [])

const columns = RateLimitFields.names.join(", ")

/** Stores no row, but fails without the privileges to insert and to update. */
const STORE_NONE = `INSERT INTO rate_limits SELECT * FROM rate_limits WHERE false
  ON CONFLICT (key) DO UPDATE SET key = excluded.key`

const STORE_ZEROS = `INSERT OR REPLACE INTO rate_limits (key, ${columns})
  VALUES ('readiness', ${RateLimitFields.names.map(() => "0").join(", ")})`

/** Returns PostgreSQL's time in epoch milliseconds: a node whose clock is ahead must not delete unspent states. */
const serverTime = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.map(sql.unsafe<{ readonly now: unknown }>(`SELECT ${RateLimitStep.serverNow} AS now`), ([row]) =>
    Number(row?.now)
  )

/** Reads states of callers, and the server's clock if limits use it. */
const readStates =
  (sql: SqlClient.SqlClient, call: SqlCall.SqlCall, isServerTime: boolean): NonNullable<Store["read"]> =>
  (keys, now) => {
    const query = SqlTable.query(
      sql,
      `SELECT key, ${columns} FROM rate_limits WHERE key IN (${SqlTable.texts(sql)})`,
      [JSON.stringify(keys)]
    )
    return Effect.map(
      call.run(Effect.all([query, isServerTime ? serverTime(sql) : Effect.succeed(now)])),
      ([rows, at]) => ({
        at,
        states: new Map(rows.map(([key, ...values]) => [String(key), RateLimitFields.stateOf(values)]))
      })
    )
  }

const READ = `SELECT ${columns} FROM rate_limits WHERE key = $1`
const INSERT = `INSERT INTO rate_limits (key, ${columns})
  VALUES ($1, ${RateLimitFields.names.map((_, index) => `$${index + 2}`).join(", ")})
  ON CONFLICT (key) DO NOTHING RETURNING key`
const UPDATE = `UPDATE rate_limits
  SET ${RateLimitFields.names.map((name, index) => `${name} = $${index + 2}`).join(", ")} WHERE key = $1`

/** Creates `modify`: computes the step in this thread, and starts again if the state has changed in the meantime. */
const replaceState = (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  onStored: OnStored
): Store["modify"] => {
  const readLocked = SqlTable.isPostgres(sql) ? `${READ} FOR UPDATE` : READ
  const attempt = <A>(key: string, step: Step<A>): Effect.Effect<A, SqlError> =>
    Effect.gen(function* () {
      const before = yield* SqlTable.query(sql, READ, [key])
      const [row] = before
      const [result, after] = step(row && RateLimitFields.stateOf(row))
      const values = [key, ...RateLimitFields.valuesOf(after)]
      const { isComplete } = yield* WriteTransaction.execute(
        sql,
        row === undefined
          ? [[INSERT, values, [[key]]]]
          : [
              [readLocked, [key], before],
              [UPDATE, values]
            ]
      )
      if (!isComplete) return yield* attempt(key, step)
      if (row === undefined) onStored(key)
      return result
    })
  // One at a time, so that only requests and other processes can make a step start again.
  const steps = Semaphore.makeUnsafe(1)
  return (key, step) => call.run(steps.withPermit(attempt(key, step)))
}

/** Creates `consumeMany` for SQLite, where the core's step counts all waiting requests in one transaction. */
const countGrouped = (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  onStored: OnStored
): NonNullable<Store["consumeMany"]> => {
  const count = WriteTransaction.inQueue(sql, call, "counts")
  return (key, now, policy, cost) => {
    const { ban, plan } = policy
    return Effect.map(count([key, now, plan.perMinute, plan.perDay, ban, cost]), (row) => {
      const { isNew, verdict } = RateLimitStep.countedOf(row, { policy, cost })
      if (isNew) onStored(key)
      return verdict
    })
  }
}
