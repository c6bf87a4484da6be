/** Lists all clauses: the sentences of the contract, and our decisions on points that it leaves open. */
import * as Authentication from "./Authentication.ts"
import * as Bans from "./Bans.ts"
import type { Clause } from "./Clause.ts"
import * as Creation from "./Creation.ts"
import * as Errors from "./Errors.ts"
import * as Http from "./Http.ts"
import * as Lists from "./Lists.ts"
import * as RateLimits from "./RateLimits.ts"
import * as Resources from "./Resources.ts"
import * as Retrieval from "./Retrieval.ts"
import * as Stores from "./Stores.ts"

/**
 * All clauses, family by family. A slug is frozen: reports and checks cite it, so it is never renamed and never given
 * to another sentence.
 */
export const clauses = [
  ...Authentication.clauses,
  ...Resources.clauses,
  ...Lists.clauses,
  ...Creation.clauses,
  ...Retrieval.clauses,
  ...Errors.clauses,
  ...RateLimits.clauses,
  ...Bans.clauses,
  ...Http.clauses,
  ...Stores.clauses
]

/** The slug of one of the clauses. */
export type ClauseSlug = (typeof clauses)[number]["slug"]

/** The clauses by slug. The type of the key is `string`, so that user input can be looked up. */
export const bySlug: ReadonlyMap<string, Clause> = new Map(clauses.map((clause) => [clause.slug, clause]))
