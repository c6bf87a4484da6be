/** A check: one law that a subject is held to, as data; nothing here knows a test runner. */
import * as Effect from "effect/Effect"
import type * as fc from "fast-check"
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Capability } from "../evaluation/Capability.ts"
import type { Face, Faces } from "../evaluation/Faces.ts"
import { type Failure, undecided } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Trial } from "../evaluation/Trial.ts"
import type { Open, Subject } from "../subjects/Subject.ts"

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
  /** Evaluates the law once: an effect, or a generator as for `Effect.gen`. */
  readonly holds: (face: Faces[F], given: Case, trial: Trial) => Effect.Effect<void, Failure> | LawGenerator
}

/** What `Effect.gen` runs: a program that yields effects. */
export type LawGenerator = Generator<Effect.Effect<unknown, Failure>, void>

/** A check, closed over the types of its face and its cases. */
export interface Check extends Omit<Definition<Face, unknown>, "holds"> {
  /** Evaluates the law once against a subject that has the face. */
  readonly evaluate: (subject: Subject, given: unknown, trial: Trial) => Effect.Effect<void, Failure>
}

/** Turns a definition into a check. */
export const define = <F extends Face, Case>(definition: Definition<F, Case>): Check => {
  const { holds, ...rest } = definition
  return {
    ...rest,
    evaluate: (subject, given, trial) => {
      const open: Open<F> | undefined = subject.faces[definition.on]
      if (open === undefined) return undecided(`the subject has no ${definition.on}`)
      return Effect.scoped(
        Effect.flatMap(open(trial), (face) => {
          // Sound: cases come from this check's `examples`, `cases`, or a replay token that names it and the version.
          const law = holds(face, given as Case, trial)
          return Effect.isEffect(law) ? law : Effect.gen(() => law)
        })
      )
    }
  }
}

/** What the checks of a family may share. */
type Shared<F extends Face> = Partial<
  Omit<Definition<F, never>, "on" | "examples" | "cases"> & Pick<Definition<F, unknown>, "examples" | "cases">
> & { readonly on: F }

/** A definition without what its family says; it may say otherwise. */
type Rest<F extends Face, Case, S> = Omit<Definition<F, Case>, keyof S> & Partial<Definition<F, Case>>

/** The cases of a family that shares them, or a law about them. */
type CaseOf<S> = S extends { readonly holds: (face: never, given: infer Case, trial: never) => unknown }
  ? Case
  : S extends { readonly cases: fc.Arbitrary<infer Case> }
    ? Case
    : unknown

/** Defines checks that have level, profile, face or other fields in common. */
export const family =
  <const F extends Face, const S extends Shared<F>>(shared: S & Shared<F>) =>
  <Case extends CaseOf<S>>(definition: Rest<F, Case, S>): Check =>
    // Sound: `Rest` demands every field that `shared` does not have.
    define({ ...shared, ...definition } as Definition<F, Case>)
