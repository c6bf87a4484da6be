/** `RateLimitStore` in a database: one row per caller. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as Caller from "../../core/limits/Caller.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as NetworkEviction from "./NetworkEviction.ts"
import * as RateLimitStep from "./RateLimitStep.ts"
import * as RateLimitSweep from "./RateLimitSweep.ts"
import * as SqlCall from "./SqlCall.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import type * as WriteTransaction from "./WriteTransaction.ts"

/** Options of `layer`. */
export type SqlRateLimitStoreOptions = Pick<SqlOptions, "timeoutMs" | "clock" | "maxAnonymousStates">

type Modify = RateLimitStore["Service"]["modify"]

/** Callback for each caller whose state is stored for the first time. */
type OnStored = (caller: string) => void

/**
 * The store over the `SqlClient` in the context, after `Migrations.migrate`. It deletes spent states, and states of
 * networks above `maxAnonymousStates`.
 */
export const layer = (
  options: SqlRateLimitStoreOptions
): Layer.Layer<RateLimitStore, never, SqlClient.SqlClient> => Layer.effect(RateLimitStore, make(options))

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
  const isServerTime = clock === "database" && sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  yield* Effect.forkScoped(
    RateLimitSweep.forever(sql, yield* BanPolicy, call.run, isServerTime ? serverTime(sql) : undefined)
  )
  const eviction = NetworkEviction.make(sql, call.run, maxAnonymousStates)
  yield* Effect.forkScoped(eviction.forever)
  const isStored: OnStored = (caller) => {
    if (Caller.isNetwork(caller)) eviction.added(1)
  }
  return yield* sql.onDialectOrElse({
    pg: () =>
      Effect.succeed({
        modify: modifyLocked(sql, call, isStored),
        consume: consume(sql, call, clock, isStored),
        read: readStates(sql, call, isServerTime)
      }),
    orElse: () =>
      Effect.map(modifyGrouped(sql, call, isStored), (modify) => ({
        modify,
        read: readStates(sql, call, isServerTime)
      }))
  })
})

/** PostgreSQL's clock in epoch milliseconds: a node whose clock is ahead must not delete states that still count. */
const serverTime = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.map(sql.unsafe<{ readonly now: unknown }>(`SELECT ${RateLimitStep.serverNow} AS now`), ([row]) =>
    Number(row?.now)
  )

const columns = RateLimitFields.names.join(", ")

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

interface Counted extends RateLimitFields.RateLimitFields {
  readonly admitted: boolean
  readonly decided_at: unknown
  readonly is_new: boolean
}

/** PostgreSQL: counts a request in one statement. */
const consume =
  (
    sql: SqlClient.SqlClient,
    call: SqlCall.SqlCall,
    clock: SqlRateLimitStoreOptions["clock"],
    onStored: OnStored
  ) =>
  (key: string, now: number, policy: RateLimit.Policy) =>
    Effect.map(
      call.run(
        sql.unsafe<Counted>(
          RateLimitStep.consume,
          RateLimitStep.parameters(key, clock === "service" ? now : null, policy)
        )
      ),
      ([row]) => {
        if (row === undefined) throw new Error("an upsert returned no row")
        if (row.is_new) onStored(key)
        return RateLimit.verdictOf(row.admitted, RateLimitFields.toState(row), Number(row.decided_at), policy)
      }
    )

/** PostgreSQL: locks the row, which is inserted if it is absent, while this process computes the step. */
const modifyLocked = (sql: SqlClient.SqlClient, call: SqlCall.SqlCall, onStored: OnStored): Modify => {
  const zeros = RateLimitFields.names.map(() => "0").join(", ")
  const lock = `
    INSERT INTO rate_limits AS held (key, ${columns}, admitted, decided_at)
    SELECT $1, ${zeros}, false, 0 FROM set_config('synchronous_commit', 'off', true)
    ON CONFLICT (key) DO UPDATE SET key = held.key
    RETURNING ${columns}, xmax = 0 AS is_new`
  const replace = `
    UPDATE rate_limits SET (${columns}) = (${RateLimitFields.names.map((_, index) => `$${index + 2}::bigint`).join(", ")})
    WHERE key = $1`
  return <A>(key: string, step: Step<A>) =>
    call.run(
      sql.withTransaction(
        Effect.flatMap(
          sql.unsafe<RateLimitFields.RateLimitFields & { readonly is_new: boolean }>(lock, [key]),
          ([row]) => {
            const isNew = row === undefined || row.is_new
            if (isNew) onStored(key)
            const before = isNew ? undefined : RateLimitFields.toState(row)
            const [result, after] = step(before)
            return Effect.as(sql.unsafe(replace, [key, ...RateLimitFields.valuesOf(after)]), result)
          }
        )
      )
    )
}

interface Modification {
  readonly key: string
  readonly step: Step<unknown>
}

/** SQLite: this process computes the steps of all waiting calls in one transaction. */
const modifyGrouped = (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  onStored: OnStored
): Effect.Effect<Modify> => {
  const read = `SELECT ${columns} FROM rate_limits WHERE key = ?`
  const write = `REPLACE INTO rate_limits (key, ${columns}) VALUES (?, ${RateLimitFields.names.map(() => "?").join(", ")})`

  const commit = function* (
    group: ReadonlyArray<Modification>
  ): WriteTransaction.Steps<ReadonlyArray<Exit.Exit<unknown>>> {
    const states = new Map<string, RateLimit.State | undefined>()
    const changed = new Set<string>()
    const exits: Array<Exit.Exit<unknown>> = []
    for (const { key, step } of group) {
      if (!states.has(key)) {
        const [row] = yield [read, [key]]
        if (row === undefined) onStored(key)
        states.set(key, row === undefined ? undefined : RateLimitFields.stateOf(row))
      }
      try {
        const before = states.get(key)
        const [result, after] = step(before)
        if (after !== before) {
          states.set(key, after)
          changed.add(key)
        }
        exits.push(Exit.succeed(result))
      } catch (defect) {
        exits.push(Exit.die(defect))
      }
    }
    for (const key of changed) {
      const state = states.get(key)
      if (state !== undefined) yield [write, [key, ...RateLimitFields.valuesOf(state)]]
    }
    return exits
  }

  return Effect.map(
    GroupCommit.make(sql, commit),
    (submit): Modify =>
      <A>(key: string, step: Step<A>) =>
        // The exits of a group are in the order of its steps.
        call.submit((done) => submit({ key, step }, done as (exit: Exit.Exit<unknown, SqlError>) => void))
  )
}
