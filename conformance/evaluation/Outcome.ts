/** How an evaluation of a law ends when the law does not hold. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ClauseSlug } from "../clauses/Clauses.ts"

/** Longest text of a violation that a report shows, in UTF-16 units; a subject may send much longer texts. */
export const MAX_SHOWN = 2_000

/** The subject behaved as no conforming subject does. */
export class Violation extends Data.TaggedError("Violation")<{
  /** What a conforming subject returns, in terms of the domain. */
  readonly expected: string
  /** What this subject did. */
  readonly actual: string
  /**
   * The broken clause, if it is not one of the law's own: a step that the law depends on failed.
   */
  readonly clause?: ClauseSlug
}> {
  override get message(): string {
    return `expected ${this.expected}, got ${this.actual}`
  }
}

/** The law could not be decided, because the circumstances that it is about did not occur. */
export class Undecided extends Data.TaggedError("Undecided")<{
  /** The reason, and what would help. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** The law does not apply to this subject, which lacks something optional. */
export class Inapplicable extends Data.TaggedError("Inapplicable")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

/** Everything that a law may fail with; any other error is a bug of the suite. */
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
