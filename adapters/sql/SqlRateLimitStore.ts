/** Implements `RateLimitStore` on a SQL database, with one row per caller. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import { make as makeRateLimitStore, RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as NetworkEviction from "./NetworkEviction.ts"
import * as PostgresRateLimits from "./PostgresRateLimits.ts"
import * as RateLimitGroup from "./RateLimitGroup.ts"
import * as RateLimitStep from "./RateLimitStep.ts"
import * as RateLimitSweep from "./RateLimitSweep.ts"
import * as SqlCall from "./SqlCall.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import * as SqliteWorkerCounting from "./SqliteWorkerCounting.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Options of `layer`. */
export type SqlRateLimitStoreOptions = Pick<SqlOptions, "timeoutMs" | "clock" | "maxAnonymousStates">

type Modify = RateLimitStore["Service"]["modify"]

type OnStored = PostgresRateLimits.OnStored

/**
 * Provides the store over the `SqlClient` in the context, after `Migrations.migrate`. It deletes spent states, and
 * states of networks above `maxAnonymousStates`.
 */
export const layer = (
  options: SqlRateLimitStoreOptions
): Layer.Layer<RateLimitStore, never, SqlClient.SqlClient> => Layer.effect(RateLimitStore, make(options))

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
  clock === "database" && sql.onDialectOrElse({ pg: () => true, orElse: () => false })

const make = Effect.fnUntraced(function* ({
  clock,
  maxAnonymousStates,
  timeoutMs
}: SqlRateLimitStoreOptions): Effect.fn.Return<
  RateLimitStore["Service"],
  never,
  Scope.Scope | SqlClient.SqlClient
> {
  const sql = yield* SqlClient.SqlClient
  const call = SqlCall.make(timeoutMs)
  const isServerTime = usesServerTime(sql, clock)
  yield* Effect.forkScoped(
    RateLimitSweep.forever(sql, yield* BanPolicy, call.run, isServerTime ? serverTime(sql) : undefined)
  )
  const eviction = NetworkEviction.make(sql, call.run, maxAnonymousStates)
  yield* Effect.forkScoped(eviction.forever)
  const countNetwork: OnStored = (caller) => {
    if (Caller.isNetwork(caller)) eviction.add(1)
  }
  const read = readStates(sql, call, isServerTime)
  const rehearse = Effect.asVoid(call.run(rehearsal(sql)))
  return yield* sql.onDialectOrElse({
    pg: () =>
      Effect.map(
        PostgresRateLimits.consumeMany(sql, call, { clock, timeoutMs }, countNetwork),
        (consumeMany): RateLimitStore["Service"] => ({
          modify: PostgresRateLimits.modify(sql, call, countNetwork),
          consume: (key, now, policy) => consumeMany(key, now, policy, 1),
          consumeMany,
          read,
          rehearse
        })
      ),
    orElse: () => {
      return SqliteWorkerClient.isSqliteWorkerClient(sql)
        ? Effect.map(consumeGrouped(sql, call, countNetwork), (consume) => ({
            modify: modifyAlone(sql, call, countNetwork),
            consume,
            read,
            rehearse
          }))
        : Effect.map(modifyGrouped(sql, call, countNetwork), (modify) =>
            makeRateLimitStore({ modify, read, rehearse })
          )
    }
  })
})

/** Tries to store a state, without storing one. */
const rehearsal = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    // Also fails if the functions that count are missing.
    pg: () => Effect.andThen(sql.unsafe(STORE_NONE), PostgresRateLimits.countNone(sql)),
    orElse: () => SqliteWorkerClient.rehearse(sql, STORE_ZEROS, [])
  })

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
  (
    sql: SqlClient.SqlClient,
    call: SqlCall.SqlCall,
    isServerTime: boolean
  ): NonNullable<RateLimitStore["Service"]["read"]> =>
  (keys, now) => {
    const query = sql.onDialectOrElse({
      pg: () =>
        sql.unsafe<Stored>(`SELECT key, ${columns} FROM rate_limits WHERE key = ANY($1::text[])`, [keys]),
      orElse: () =>
        sql.unsafe<Stored>(
          `SELECT key, ${columns} FROM rate_limits WHERE key IN (SELECT value FROM json_each(?))`,
          [JSON.stringify(keys)]
        )
    })
    return Effect.map(
      call.run(Effect.all([query, isServerTime ? serverTime(sql) : Effect.succeed(now)])),
      ([rows, at]) => ({ at, states: new Map(rows.map((row) => [row.key, RateLimitFields.toState(row)])) })
    )
  }

interface Stored extends RateLimitFields.RateLimitFields {
  readonly key: string
}

/** Creates `modify` for SQLite in this thread: the steps of all waiting calls share one transaction. */
const modifyGrouped = (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  onStored: OnStored
): Effect.Effect<Modify> => {
  const commit = function* (
    group: ReadonlyArray<RateLimitGroup.Modification<unknown>>
  ): WriteTransaction.Steps<ReadonlyArray<Exit.Exit<unknown>>> {
    const { absent, outcomes } = yield* RateLimitGroup.steps(group)
    for (const caller of absent) onStored(caller)
    return outcomes.map((outcome) =>
      "defect" in outcome ? Exit.die(outcome.defect) : Exit.succeed(outcome.result)
    )
  }

  return Effect.map(
    GroupCommit.make(sql, commit),
    (submit): Modify =>
      <A>(key: string, step: Step<A>) =>
        // The exits are in the order of the steps, so each has the type of its step's result.
        call.submit((done) => submit({ key, step }, done as (exit: Exit.Exit<unknown, SqlError>) => void))
  )
}

/**
 * Creates `modify` for SQLite in a worker thread: functions cannot be sent to the worker, so this thread computes the
 * step while the worker holds the transaction open.
 */
const modifyAlone =
  (sql: SqlClient.SqlClient, call: SqlCall.SqlCall, onStored: OnStored): Modify =>
  (key, step) =>
    Effect.flatMap(
      call.run(
        WriteTransaction.runSteps(sql, function* () {
          const { absent, outcomes } = yield* RateLimitGroup.steps([{ key, step }])
          for (const caller of absent) onStored(caller)
          return outcomes
        })
      ),
      ([outcome]) => {
        if (outcome === undefined) return Effect.die(new Error("a step has no outcome"))
        return "defect" in outcome ? Effect.die(outcome.defect) : Effect.succeed(outcome.result)
      }
    )

/** Creates `consume` for SQLite in a worker thread, where the core's step counts all waiting requests together. */
const consumeGrouped = (
  sql: SqliteWorkerClient.SqliteWorkerClient,
  call: SqlCall.SqlCall,
  onStored: OnStored
): Effect.Effect<RateLimitStore["Service"]["consume"]> =>
  Effect.map(
    sql.groups<SqliteWorkerCounting.Count, RateLimit.Verdict>({
      encode: SqliteWorkerCounting.encode,
      decode: (results, index, count) => {
        const { isNew, verdict } = SqliteWorkerCounting.decode(results, index, count)
        if (isNew) onStored(count.key)
        return verdict
      }
    }),
    (submit) => (key, now, policy) => call.submit((done) => submit({ key, now, policy }, done))
  )
