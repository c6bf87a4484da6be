/** Defines ambient checks. They send no requests: they examine every exchange of a run, whichever check sent it. */

import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Violation } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Exchange } from "../http/Exchange.ts"
import type { Finding } from "./Check.ts"

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
  /** What the law needs in the subject to be decided, one of these at least. */
  readonly finds?: ReadonlyArray<Finding>
  /** Whether the law applies to an exchange; without such an exchange the check is inconclusive. */
  readonly isAbout: Look<boolean>
  /** Returns the violation in an exchange to which the law applies, if there is one. */
  readonly examine: Look<Violation | undefined>
  /**
   * Returns the reason in the subject's time or data why the law cannot apply to any exchange of the run, if there is
   * one. If the law then applied to no exchange, the check is not applicable instead of inconclusive, but postponed.
   */
  readonly inapplicable?: (exchanges: ReadonlyArray<Exchange>) => string | undefined
  /** Starts the law without earlier exchanges; present only if the law compares exchanges of the whole run. */
  readonly begin?: () => Remembering
}

/** Examines the exchanges of a run one by one, in order; returns `undefined` if the law does not apply to one. */
export type Remembering = (exchange: Exchange) => { readonly violation: Violation | undefined } | undefined

/** Completes a check whose law compares exchanges of the whole run. */
export const overHistory = (
  check: Omit<AmbientCheck, "level" | "isAbout" | "examine"> & { readonly begin: () => Remembering }
): Omit<AmbientCheck, "level"> => ({
  ...check,
  // These two examine a single exchange, without earlier ones.
  isAbout: (exchange) => check.begin()(exchange) !== undefined,
  examine: (exchange) => check.begin()(exchange)?.violation
})
