/** Defines subjects: implementations under test. */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Capability } from "../evaluation/Capability.ts"
import type { InterfaceName, Interfaces } from "../evaluation/Interfaces.ts"
import type { Failure } from "../evaluation/Outcome.ts"
import type { Profile } from "../evaluation/Profile.ts"
import type { Step, Trial } from "../evaluation/Trial.ts"
import type { Exchange } from "../http/Exchange.ts"
import type { Budget } from "./Budget.ts"

/** Opens an interface for one evaluation; its resources are closed with the scope. */
export type Open<F extends InterfaceName> = (
  trial: Trial
) => Effect.Effect<Interfaces[F], Failure, Scope.Scope>

/** A law and the steps that violated it. */
export interface FailingCase {
  readonly check: string
  readonly law: string
  readonly expected: string
  readonly actual: string
  readonly steps: ReadonlyArray<Step>
  /** The mark in the names of the animals that the case creates. */
  readonly token?: string | undefined
}

/** An implementation under test. Programs get one from `Conformance`; the members marked internal are for the suite. */
export interface Subject {
  /** The name in reports. */
  readonly name: string
  readonly kind: "port" | "http"
  /**
   * Limits of a run; absent for ports.
   *
   * @internal
   */
  readonly budget?: Budget
  /** @internal */
  readonly interfaces: { readonly [F in InterfaceName]?: Open<F> }
  readonly capabilities: ReadonlySet<Capability>
  /**
   * Returns the reason why a check does not apply, by the subject's declarations; `undefined` if it applies.
   *
   * @internal
   */
  readonly notApplicable?: (check: {
    readonly profile: Profile
    readonly needs?: ReadonlyArray<Capability>
  }) => string | undefined
  /**
   * The exchanges so far, for the checks of every exchange; empty for ports.
   *
   * @internal
   */
  readonly exchanges: ReadonlyArray<Exchange>
  /**
   * Returns a failing case as a shell script; absent without a network.
   *
   * @internal
   */
  readonly script?: (failing: FailingCase) => string | undefined
  /**
   * Redacts keys in a text; absent without keys.
   *
   * @internal
   */
  readonly redact?: (text: string) => string
  /**
   * Scheme, host and port of its address; absent without a network.
   *
   * @internal
   */
  readonly origin?: string
  /**
   * Path of the base address; absent for ports.
   *
   * @internal
   */
  readonly basePath?: string
  /**
   * Returns the time spent waiting for limits so far, in milliseconds.
   *
   * @internal
   */
  readonly waitedMs?: () => number
}
