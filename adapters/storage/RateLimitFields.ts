/**
 * Encodes rate-limit states as named fields, for stores with one value per name, such as columns of a row or fields of
 * a hash.
 */
import type { State } from "../../core/limits/RateLimit.ts"

/** The names of the fields; all values are integers far below 2⁵³. */
export const names = [
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

/** Decodes a state from values in the order of `names`, as a driver returns them: numbers, bigints or text. */
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

/** Encodes a state as values in the order of `names`. */
export const valuesOf = (state: State): ReadonlyArray<number> => [
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
