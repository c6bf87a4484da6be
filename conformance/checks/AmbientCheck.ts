/** A check of every exchange of a run. It sends no requests, and finds violations that no other law looks for. */

import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Violation } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Exchange } from "../http/Exchange.ts"

/**
 * Looks at one exchange. `previous` is the latest earlier one with the same key, if neither was sent while
 * another request was in flight; `history` has all earlier exchanges of that key.
 */
export type Look<A> = (
  exchange: Exchange,
  previous: Exchange | undefined,
  history: ReadonlyArray<Exchange>
) => A

export interface AmbientCheck {
  /** Frozen id; begins with `every.`, or with `history.` if the law compares exchanges of the whole run. */
  readonly id: string
  readonly law: string
  readonly clauses: readonly [ClauseSlug, ...ReadonlyArray<ClauseSlug>]
  readonly level: Level
  readonly advisedBy?: string
  /** The group whose requests the law is about; `core` when absent. */
  readonly profile?: Profile
  /** Whether the law applies to an exchange; without such an exchange the check is inconclusive. */
  readonly isAbout: Look<boolean>
  /** The violation in an exchange to which the law applies, if any. */
  readonly examine: Look<Violation | undefined>
  /** Why no exchange of such a run can be one to which the law applies; it is then not applicable, and not inconclusive. */
  readonly inapplicable?: (exchanges: ReadonlyArray<Exchange>) => string | undefined
  /** Present in a law that compares exchanges of the whole run: begins with an empty memory. */
  readonly begin?: () => Remembering
}

/** Looks at the exchanges of a run in order; `undefined` if the law does not apply to one. */
export type Remembering = (exchange: Exchange) => { readonly violation: Violation | undefined } | undefined

/** A law that compares exchanges of the whole run. */
export const overHistory = (
  check: Omit<AmbientCheck, "level" | "isAbout" | "examine"> & { readonly begin: () => Remembering }
): Omit<AmbientCheck, "level"> => ({
  ...check,
  // Of a single exchange, without memory.
  isAbout: (exchange) => check.begin()(exchange) !== undefined,
  examine: (exchange) => check.begin()(exchange)?.violation
})
