/** Defines checks. A check is one law as data, independent of any test runner. */
import * as Effect from "effect/Effect"
import type * as fc from "fast-check"
import type { Level } from "../clauses/Clause.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Shape } from "../dimensions/Product.ts"
import type { Capability } from "../evaluation/Capability.ts"
import type { InterfaceName, Interfaces } from "../evaluation/Interfaces.ts"
import { type Failure, undecided } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Trial } from "../evaluation/Trial.ts"
import type { Open, Subject } from "../subjects/Subject.ts"

/** Number of random cases: at a port, where a case is cheap, and over HTTP, where a case costs requests. */
export interface Runs {
  readonly port: number
  readonly http: number
}

/**
 * A state of the subject that some laws need: getPet is not removed, or some list with a status filter has room for the
 * animals of the first checks, or of the whole run.
 */
export type InitialState = "getPet" | "room for the first checks" | "room for the whole run"

/** A check with the types of its interface and of its cases; `define` hides these types. */
export interface Definition<F extends InterfaceName, Case> {
  /** Frozen id; never reused for another law. */
  readonly id: string
  /** The law in one sentence. */
  readonly law: string
  readonly clauses: readonly [ClauseSlug, ...ReadonlyArray<ClauseSlug>]
  readonly level: Level
  /**
   * The standard that recommends the law, if the contract does not require it; at level `spec` a violation is then a
   * warning.
   */
  readonly advisedBy?: string
  readonly profile: Profile
  readonly on: F
  readonly needs?: ReadonlyArray<Capability>
  /**
   * States of the subject, at least one of which the law needs to be decided. A run may start too late for them, or
   * with too many animals.
   */
  readonly needsOneOf?: ReadonlyArray<InitialState>
  /**
   * Whether the law is about the animals that other checks created. The check then runs after all others, except those
   * of the profile `deprecation`, which move time to the removal of getPet.
   */
  readonly isClosing?: boolean
  /** Approximate number of requests over HTTP; 0 for a check of a port. */
  readonly requests: number
  /** Circumstances that must occur in at least one evaluation; otherwise the check is inconclusive. */
  readonly mustSee?: ReadonlyArray<string>
  /** The product from which the cases are drawn; the law records the cases that it decided (`Trial.tried`). */
  readonly product?: Shape
  /** Boundary cases, which are always tried first. */
  readonly examples: ReadonlyArray<Case>
  /** Random cases, which are shrunk if one fails. */
  readonly cases?: fc.Arbitrary<Case>
  readonly runs?: Runs
  /** Timeout of one evaluation in ms of real time; 30,000 by default. An evaluation that exceeds it is a violation. */
  readonly timeoutMs?: number
  /** Evaluates the law once: an effect, or a generator as for `Effect.gen`. */
  readonly holds: (
    opened: Interfaces[F],
    given: Case,
    trial: Trial
  ) => Effect.Effect<void, Failure> | LawGenerator
}

/** A generator that yields effects, as `Effect.gen` runs it. */
export type LawGenerator = Generator<Effect.Effect<unknown, Failure>, void>

/** A check, without the types of its interface and its cases. */
export interface Check extends Omit<Definition<InterfaceName, unknown>, "holds"> {
  /** Evaluates the law once against a subject; fails with `Undecided` if the subject lacks the interface. */
  readonly evaluate: (subject: Subject, given: unknown, trial: Trial) => Effect.Effect<void, Failure>
}

/** Turns a definition into a check. */
export const define = <F extends InterfaceName, Case>(definition: Definition<F, Case>): Check => {
  const { holds, ...rest } = definition
  return {
    ...rest,
    evaluate: (subject, given, trial) => {
      const open: Open<F> | undefined = subject.interfaces[definition.on]
      if (open === undefined) return undecided(`the subject has no ${definition.on}`)
      return Effect.scoped(
        Effect.flatMap(open(trial), (opened) => {
          // Safe: a case comes from this check's `examples` or `cases`, or from a replay token with its id and version.
          const law = holds(opened, given as Case, trial)
          return Effect.isEffect(law) ? law : Effect.gen(() => law)
        })
      )
    }
  }
}

/** The fields that the checks of a family may have in common. */
type Shared<F extends InterfaceName> = Partial<
  Omit<Definition<F, never>, "on" | "examples" | "cases"> & Pick<Definition<F, unknown>, "examples" | "cases">
> & { readonly on: F }

/** A definition without the fields of its family, which it may override. */
type Rest<F extends InterfaceName, Case, S> = Omit<Definition<F, Case>, keyof S> &
  Partial<Definition<F, Case>>

/** The type of the cases that a family shares; `unknown` if it shares none. */
type CaseOf<S> = S extends { readonly holds: (opened: never, given: infer Case, trial: never) => unknown }
  ? Case
  : S extends { readonly cases: fc.Arbitrary<infer Case> }
    ? Case
    : unknown

/** Returns a function that defines checks with shared fields, such as level, profile and interface. */
export const family =
  <const F extends InterfaceName, const S extends Shared<F>>(shared: S & Shared<F>) =>
  <Case extends CaseOf<S>>(definition: Rest<F, Case, S>): Check =>
    // Safe: `Rest` requires every field that `shared` does not have.
    define({ ...shared, ...definition } as Definition<F, Case>)
