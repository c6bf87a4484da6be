/** A rate-limit state as a row of `rate_limits`: all columns are integers far below 2⁵³. */
import type { State } from "../../core/limits/RateLimit.ts"

/** The columns of a state, in the order of `values`. */
export const columns = [
  "level",
  "at",
  "day",
  "used",
  "strikes",
  "strikes_from",
  "strike_at",
  "retry_at",
  "ban_level",
  "banned_until"
] as const

/** A row as drivers return it: number, bigint or text, as they please. */
export type RateLimitRow = { readonly [column in (typeof columns)[number]]: unknown }

/** The state in a row. */
export const toState = (row: RateLimitRow): State => ({
  level: Number(row.level),
  at: Number(row.at),
  day: Number(row.day),
  used: Number(row.used),
  strikes: Number(row.strikes),
  strikesFrom: Number(row.strikes_from),
  strikeAt: Number(row.strike_at),
  retryAt: Number(row.retry_at),
  banLevel: Number(row.ban_level),
  bannedUntil: Number(row.banned_until)
})

/** The state in the values of a row, in the order of `columns`. */
export const stateOf = (values: ReadonlyArray<unknown>): State => {
  const [level, at, day, used, strikes, strikes_from, strike_at, retry_at, ban_level, banned_until] = values
  return toState({
    level,
    at,
    day,
    used,
    strikes,
    strikes_from,
    strike_at,
    retry_at,
    ban_level,
    banned_until
  })
}

/** The values of a state's columns. */
export const values = (state: State): ReadonlyArray<number> => [
  state.level,
  state.at,
  state.day,
  state.used,
  state.strikes,
  state.strikesFrom,
  state.strikeAt,
  state.retryAt,
  state.banLevel,
  state.bannedUntil
]
