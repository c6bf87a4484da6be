/**
 * Calls the implementation of `RateLimit.step` in PostgreSQL, which counts requests in one round trip: the functions in
 * `migrations/CountingFunctions.ts`. They follow the core's step line by line, and a law compares the two state by state.
 * Only the core computes verdicts.
 */
import type { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import * as PostgresArray from "./PostgresArray.ts"

/** A request to count. */
export interface Request {
  readonly key: string
  /** Epoch milliseconds; `null` uses the database's clock, which all nodes share. */
  readonly now: number | null
  readonly policy: RateLimit.Policy
  /** Number of requests as which the request counts. */
  readonly cost: number
}

/** The outcome of a request. */
export interface Counted {
  readonly verdict: RateLimit.Verdict
  /** Whether the caller had no row before. */
  readonly isNew: boolean
}

const fields = RateLimitFields.names
const names = [...fields, "admitted", "decided_at"]

/** The SQL expression for the server's current time in epoch milliseconds. */
export const serverNow = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

const now = `coalesce($3::bigint, ${serverNow})`

/** Returns the columns that `countedOf` decodes: integers below 2⁵³, as floats, which the driver reads faster. */
const results = (row: string): string =>
  ["decided_at", ...fields].map((name) => `${row}.${name}::float8`).join(", ")

/**
 * Counts a request and returns its row. The update itself reads the old values and the clock, because both are current
 * only while the row is locked. A first request is always admitted. The commit does not wait for the disk: a crash of
 * PostgreSQL can lose the counts of the last 0.6 s (three times `wal_writer_delay`), but never an animal or a key.
 */
const consume = `
INSERT INTO rate_limits AS held (key, ${names.join(", ")})
SELECT $2, ($4::bigint - $6::bigint) * 60000, clock.now, clock.now / 86400000, $6, 0, 0, 0, 0, 0, 0, true, clock.now
FROM (SELECT ${now} AS now) clock,
  set_config('synchronous_commit', 'off', true) commit, set_config('lock_timeout', $1, true) wait
ON CONFLICT (key) DO UPDATE SET (${names.join(", ")}) = (
  SELECT ${names.map((name) => `after.${name}`).join(", ")}
  FROM rate_limit_step(held, ${now}, $4, $5, $6, $7, $8, $9, $10, $11) after
)
RETURNING xmax = 0, admitted, ${results("held")}, 1::float8`

/** Counts requests that have the same ban policy, or none, like `consume`; `nth` is the position of a request, from 1. */
const consumeAll = `
SELECT is_new, (state).admitted, ${results("(state)")}, nth::float8
FROM rate_limit_steps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

/**
 * Returns the statement that counts requests with the same ban policy, or none, and its parameters; `lockTimeout` is a
 * value of the setting `lock_timeout`.
 */
export const statementFor = (
  requests: ReadonlyArray<Request>,
  ban: BanPolicy | undefined,
  lockTimeout: string
): readonly [statement: string, parameters: ReadonlyArray<unknown>] => {
  const only = requests.length === 1 ? requests[0] : undefined
  const bigint = (valueOf: (request: Request) => number | null): unknown =>
    only === undefined ? PostgresArray.bigint(requests.map(valueOf)) : valueOf(only)
  return [
    only === undefined ? consumeAll : consume,
    [
      lockTimeout,
      only === undefined ? PostgresArray.text(requests.map(({ key }) => key)) : only.key,
      bigint(({ now }) => now),
      bigint(({ policy }) => policy.plan.perMinute),
      bigint(({ policy }) => policy.plan.perDay),
      bigint(({ cost }) => cost),
      bigint(({ policy }) => policy.ban?.strikes ?? null),
      ban?.withinMs ?? null,
      ban?.strikeIntervalMs ?? null,
      PostgresArray.bigint(ban?.durationsMs ?? []),
      ban?.cleanMs ?? null
    ]
  ]
}

/** The index of `nth` in a result. */
export const NTH = 3 + fields.length

/** Decodes a result. */
export const countedOf = (
  result: ReadonlyArray<unknown> | undefined,
  { cost, policy }: Pick<Request, "cost" | "policy">
): Counted => {
  if (result === undefined) throw new Error("a request was not counted")
  const [isNew, admitted, decidedAt, ...values] = result
  const state = RateLimitFields.stateOf(values)
  return {
    isNew: isNew === true,
    verdict: RateLimit.verdictOf(admitted === true, state, Number(decidedAt), policy, cost)
  }
}
