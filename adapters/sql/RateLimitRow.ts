/** A rate-limit state as a row of `rate_limits`: all columns are integers far below 2⁵³. */
import type { State } from "../../core/limits/RateLimit.ts"

/** The columns of a state, in the order of `values`. */
export const columns = [
  "level",
  "at",
  "day",
  "used",
  "debt",
  "strikes",
  "strikes_from",
  "strike_at",
  "ban_level",
  "banned_until"
] as const

/** A row as drivers return it: number, bigint or text, as they please. */
export type RateLimitRow = { readonly [column in (typeof columns)[number]]: unknown }

/** The state in a row. */
export const toState = (row: RateLimitRow): State => stateOf(columns.map((column) => row[column]))

/** The state in the values of a row, in the order of `columns`. */
export const stateOf = ([
  level,
  at,
  day,
  used,
  debt,
  strikes,
  strikesFrom,
  strikeAt,
  banLevel,
  bannedUntil
]: ReadonlyArray<unknown>): State => ({
  level: Number(level),
  at: Number(at),
  day: Number(day),
  used: Number(used),
  debt: Number(debt),
  strikes: Number(strikes),
  strikesFrom: Number(strikesFrom),
  strikeAt: Number(strikeAt),
  banLevel: Number(banLevel),
  bannedUntil: Number(bannedUntil)
})

/** The values of a state's columns. */
export const values = (state: State): ReadonlyArray<number> => [
  state.level,
  state.at,
  state.day,
  state.used,
  state.debt,
  state.strikes,
  state.strikesFrom,
  state.strikeAt,
  state.banLevel,
  state.bannedUntil
]
