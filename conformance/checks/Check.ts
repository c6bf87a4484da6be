/** A check: one law that a subject is held to, as data; nothing here knows a test runner. */
import * as Effect from "effect/Effect"
import type * as fc from "fast-check"
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Failure, undecided } from "../engine/Outcome.ts"
import type { Trial } from "../engine/Trial.ts"
import type { Open, Subject } from "../subjects/Subject.ts"
import type { Capability } from "./Capability.ts"
import type { Face, Faces } from "./Faces.ts"
import type { Profile } from "./Profile.ts"

/** How often a property is tried where trying is cheap, and where each try costs requests. */
export interface Runs {
  readonly port: number
  readonly http: number
}

/** A check with the type of its cases still known; `define` closes it. */
export interface Definition<F extends Face, Case> {
  /** Frozen; never reused for another law. */
  readonly id: string
  /** The law in one sentence. */
  readonly law: string
  readonly clauses: readonly [ClauseSlug, ...ReadonlyArray<ClauseSlug>]
  readonly level: Level
  /**
   * The standard that recommends it, for laws that the contract leaves open: at level `spec` a breach is then a warning.
   */
  readonly advisedBy?: string
  readonly profile: Profile
  readonly on: F
  readonly needs?: ReadonlyArray<Capability>
  /** Requests that it costs over HTTP, about; 0 for a check of a port. */
  readonly requests: number
  /** Circumstances that must have come about in some evaluation; else the check is inconclusive. */
  readonly mustSee?: ReadonlyArray<string>
  /** Boundaries, tried first and always. */
  readonly examples: ReadonlyArray<Case>
  /** Random cases, shrunk when one fails. */
  readonly cases?: fc.Arbitrary<Case>
  readonly runs?: Runs
  /** Most ms of real time that one evaluation may take before it is a violation; 30 000 by default. */
  readonly timeoutMs?: number
  readonly holds: (face: Faces[F], given: Case, trial: Trial) => Effect.Effect<void, Failure>
}

/** A check, closed over the types of its face and its cases. */
export interface Check extends Omit<Definition<Face, unknown>, "holds"> {
  /** Holds the law against a subject that offers the face, once. */
  readonly evaluate: (subject: Subject, given: unknown, trial: Trial) => Effect.Effect<void, Failure>
}

/** Closes a definition; its cases are nobody else's business: they go in as they came out. */
export const define = <F extends Face, Case>(definition: Definition<F, Case>): Check => {
  const { holds, ...rest } = definition
  return {
    ...rest,
    evaluate: (subject, given, trial) => {
      const open: Open<F> | undefined = subject.faces[definition.on]
      if (open === undefined) return undecided(`the subject has no ${definition.on}`)
      return Effect.scoped(
        // Sound: cases come from this check's `examples`, `cases`, or a replay token that names it and the version.
        Effect.flatMap(open(trial), (face) => holds(face, given as Case, trial))
      )
    }
  }
}
