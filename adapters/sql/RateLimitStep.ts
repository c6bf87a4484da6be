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
export const consume = `
INSERT INTO rate_limits AS held (key, ${names.join(", ")})
SELECT $2, ($4::bigint - $6::bigint) * 60000, clock.now, clock.now / 86400000, $6, 0, 0, 0, 0, 0, 0, true, clock.now
FROM (SELECT ${now} AS now) clock,
  set_config('synchronous_commit', 'off', true) commit, set_config('lock_timeout', $1, true) wait
ON CONFLICT (key) DO UPDATE SET (${names.join(", ")}) = (
  SELECT ${names.map((name) => `after.${name}`).join(", ")}
  FROM rate_limit_step(held, ${now}, $4, $5, $6, $7, $8, $9, $10, $11) after
)
RETURNING xmax = 0, admitted, ${results("held")}`

/** Returns the parameters of `consume`; `lockTimeout` is a value of the setting `lock_timeout`. */
export const parameters = (
  { cost, key, now, policy: { ban, plan } }: Request,
  lockTimeout: string
): ReadonlyArray<unknown> => [
  lockTimeout,
  key,
  now,
  plan.perMinute,
  plan.perDay,
  cost,
  ban?.strikes ?? null,
  ...banParameters(ban)
]

/** Counts requests that have the same ban policy, or none, like `consume`; `nth` is the position of a request, from 1. */
export const consumeAll = `
SELECT is_new, (state).admitted, ${results("(state)")}, nth::float8
FROM rate_limit_steps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

/** Returns the parameters of `consumeAll`. */
export const allParameters = (
  requests: ReadonlyArray<Request>,
  ban: BanPolicy | undefined,
  lockTimeout: string
): ReadonlyArray<unknown> => [
  lockTimeout,
  PostgresArray.text(requests.map(({ key }) => key)),
  PostgresArray.bigint(requests.map(({ now }) => now)),
  PostgresArray.bigint(requests.map(({ policy }) => policy.plan.perMinute)),
  PostgresArray.bigint(requests.map(({ policy }) => policy.plan.perDay)),
  PostgresArray.bigint(requests.map(({ cost }) => cost)),
  PostgresArray.bigint(requests.map(({ policy }) => policy.ban?.strikes ?? null)),
  ...banParameters(ban)
]

const banParameters = (ban: BanPolicy | undefined): ReadonlyArray<unknown> => [
  ban?.withinMs ?? null,
  ban?.strikeIntervalMs ?? null,
  PostgresArray.bigint(ban?.durationsMs ?? []),
  ban?.cleanMs ?? null
]

/** The index of `nth` in a result of `consumeAll`. */
export const NTH = 3 + fields.length

/** Decodes a result of `consume` or `consumeAll`. */
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
