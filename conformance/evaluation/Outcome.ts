/** Defines how a law can fail: with a violation, or with the reason why there is no verdict. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ClauseSlug } from "../clauses/Clauses.ts"

/** Maximum length of each text in a reported violation, in UTF-16 code units; a subject may send much longer texts. */
export const MAX_SHOWN = 2_000

/** The subject violates the law: a conforming subject behaves differently. */
export class Violation extends Data.TaggedError("Violation")<{
  /** What a conforming subject does, in terms of the domain. */
  readonly expected: string
  /** What this subject did. */
  readonly actual: string
  /** The clause that was violated in a step that the law depends on; absent if the law itself is violated. */
  readonly clause?: ClauseSlug
}> {
  override get message(): string {
    return `expected ${this.expected}, got ${this.actual}`
  }
}

/** The law could not be decided, because the situation that it covers did not occur. */
export class Undecided extends Data.TaggedError("Undecided")<{
  /** The reason, and what would help. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** The law does not apply to this subject, for example because the subject lacks an optional feature. */
export class Inapplicable extends Data.TaggedError("Inapplicable")<{
  readonly reason: string
  /** Whether only the time or the data of the subject is the reason, so that another run can decide the law. */
  readonly isPostponed?: true
}> {
  override get message(): string {
    return this.reason
  }
}

/** Every failure that a law may report; any other error is a bug in the suite. */
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

/** Fails with `Inapplicable`, because of a declaration or of a choice that the contract leaves to the subject. */
export const inapplicable = (reason: string): Effect.Effect<never, Inapplicable> =>
  Effect.fail(new Inapplicable({ reason }))

/** Fails with `Inapplicable`, because of the subject's time or data; another run can decide the law. */
export const postponed = (reason: string): Effect.Effect<never, Inapplicable> =>
  Effect.fail(new Inapplicable({ reason, isPostponed: true }))
