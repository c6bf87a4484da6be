/** Defines ambient checks. They send no requests: they examine every exchange of a run, whichever check sent it. */

import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Violation } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Exchange } from "../http/Exchange.ts"
import type { InitialState } from "./Check.ts"

/**
 * Examines one exchange. `history` has all earlier exchanges with the same key, and `previous` is the latest of them.
 * `previous` is `undefined` if one of the two overlapped another request, or if a request with a credential that a law
 * created was sent between them.
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
  /** The profile with the requests that the law is about; `core` if absent. */
  readonly profile?: Profile
  /** States of the subject, at least one of which the law needs to be decided. */
  readonly needsOneOf?: ReadonlyArray<InitialState>
  /** Whether the law applies to an exchange; without such an exchange the check is inconclusive. */
  readonly isAbout: Look<boolean>
  /** Returns the violation in an exchange to which the law applies, if there is one. */
  readonly examine: Look<Violation | undefined>
  /**
   * Returns the reason, if any, why the subject's time or data keep the law from applying to any exchange of the run. A
   * check whose law applied to no exchange is then not applicable, and postponed, instead of inconclusive.
   */
  readonly inapplicable?: (exchanges: ReadonlyArray<Exchange>) => string | undefined
  /** Starts an evaluation without earlier exchanges; present only if the law compares exchanges of the whole run. */
  readonly begin?: () => HistoryLaw
}

/** Examines the exchanges of a run in sequence; returns `undefined` for an exchange to which the law does not apply. */
export type HistoryLaw = (exchange: Exchange) => { readonly violation: Violation | undefined } | undefined

/** Completes a check whose law compares exchanges of the whole run. */
export const overHistory = (
  check: Omit<AmbientCheck, "level" | "isAbout" | "examine"> & { readonly begin: () => HistoryLaw }
): Omit<AmbientCheck, "level"> => ({
  ...check,
  // These two examine a single exchange, without earlier ones.
  isAbout: (exchange) => check.begin()(exchange) !== undefined,
  examine: (exchange) => check.begin()(exchange)?.violation
})
