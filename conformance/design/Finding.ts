/** Defines what a law of level design finds in an exchange. */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Break } from "../model/Exchange.ts"

/** A clause that an exchange decides: it holds or not. */
export interface Finding extends Break {
  readonly holds: boolean
}

export const finding = (
  clause: ClauseSlug,
  holds: boolean,
  expected: string,
  actual: string | number | undefined
): Finding => ({ clause, holds, expected, actual: String(actual ?? "none") })
