/** A check of every exchange of a run: it costs no request, and sees what no law was looking for. */

import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Violation } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Exchange } from "../http/Exchange.ts"

/**
 * Looks at one exchange. `previous` is the latest earlier one with the same key, if neither was sent while
 * another request was under way; `history` is all of that key's before it.
 */
export type Look<A> = (
  exchange: Exchange,
  previous: Exchange | undefined,
  history: ReadonlyArray<Exchange>
) => A

export interface AmbientCheck {
  /** Frozen; begins with `every.`. */
  readonly id: string
  readonly law: string
  readonly clauses: readonly [ClauseSlug, ...ReadonlyArray<ClauseSlug>]
  readonly level: Level
  readonly advisedBy?: string
  /** The group whose traffic shows what it is about; `core` when absent. */
  readonly profile?: Profile
  /** Whether the law speaks about an exchange at all; a run without any such says nothing of the law. */
  readonly isAbout: Look<boolean>
  /** What is wrong with an exchange that the law is about, if anything. */
  readonly examine: Look<Violation | undefined>
}
