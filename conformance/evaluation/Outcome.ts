/** How one evaluation of a law ends when it does not simply hold. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ClauseSlug } from "../clauses/Clauses.ts"

/** Longest text of a violation that a report shows, in UTF-16 units: what a subject sent may be much longer. */
export const MAX_SHOWN = 2_000

/** The subject did what no conforming one does. */
export class Violation extends Data.TaggedError("Violation")<{
  /** What a conforming subject returns, in words of the domain. */
  readonly expected: string
  /** What this one did. */
  readonly actual: string
  /**
   * The clause that is broken, where it is none of those that the law is about: what the law needs first did not work.
   */
  readonly clause?: ClauseSlug
}> {
  override get message(): string {
    return `expected ${this.expected}, got ${this.actual}`
  }
}

/** Nothing can be said: the circumstances that the law speaks about did not come about. */
export class Undecided extends Data.TaggedError("Undecided")<{
  /** Why, and what would help. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** The law does not speak about this subject: it lacks what nobody has to have. */
export class Inapplicable extends Data.TaggedError("Inapplicable")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** Everything a law may fail with; anything else is a fault of the suite. */
export type Failure = Violation | Undecided | Inapplicable

/** Fails with a `Violation` unless `holds`. */
export const expect = (
  holds: boolean,
  expected: string,
  actual: string,
  clause?: ClauseSlug
): Effect.Effect<void, Violation> =>
  holds
    ? Effect.void
    : Effect.fail(new Violation({ expected, actual, ...(clause === undefined ? {} : { clause }) }))

/** Fails with `Undecided`. */
export const undecided = (reason: string): Effect.Effect<never, Undecided> =>
  Effect.fail(new Undecided({ reason }))

/** Fails with `Inapplicable`. */
export const inapplicable = (reason: string): Effect.Effect<never, Inapplicable> =>
  Effect.fail(new Inapplicable({ reason }))
