/** Defines what a port needs to be checked: a model that judges calls, and cases that make them. */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Calls } from "./Cases.ts"
import type { PortTarget, Store } from "./PortTarget.ts"

/** One sentence of a model: whether a result obeys a clause. */
export interface Law {
  readonly clause: ClauseSlug
  readonly holds: boolean
  readonly expected: () => string
}

export const law = (clause: ClauseSlug, holds: boolean, expected: () => string): Law => ({
  clause,
  holds,
  expected
})

/** What a model says of one call: the laws that it decides, and the state after it. */
export interface Judged<State> {
  readonly laws: ReadonlyArray<Law>
  readonly next: State
}

/** The contract of a port: its sequential behavior, which also explains concurrent calls. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /** Judges an output; without one, returns the state after the call took effect. Pure. */
  readonly step: (state: State, input: Input, output: Output | undefined) => Judged<State>
  /** Returns a key of a state: two states are equal if and only if their keys are. */
  readonly key: (state: State) => string
  /** Orders the outputs of many concurrent calls as if they had been made in sequence. */
  readonly rank: (input: Input, output: Output) => number
  /** The clause that a call violates if it fails although the backend works. */
  readonly failing: (input: Input) => ClauseSlug
  /** The clause that calls violate if no order explains their results. */
  readonly concurrent: (inputs: ReadonlyArray<Input>) => ClauseSlug
  readonly showInput: (input: Input) => string
  /** Formats an output; it may throw if a result has another type than the port promises. */
  readonly showOutput: (output: Output) => string
}

/** A call of a client; `turns` is after how many turns of its fiber it is interrupted, null if it is not. */
export interface ClientCall<Call> {
  readonly call: Call
  readonly turns: number | null
}

/** Calls on an empty store, as data: first in sequence, then by concurrent clients, then in sequence again. */
export interface Case<Call> {
  readonly calls: ReadonlyArray<Call>
  readonly clients: ReadonlyArray<ReadonlyArray<ClientCall<Call>>>
  /** A seed for the order in which the steps of the clients run; null for the order of the runtime. */
  readonly order: number | null
  readonly later: ReadonlyArray<Call>
  /** Whether the backend does not respond. */
  readonly isOutage: boolean
}

/** A call with all its arguments, and the effect that makes it. */
export interface Invocation<Input, Output> {
  readonly input: Input
  readonly make: Effect.Effect<Output, unknown>
}

/** A call that must fail, because the caller's function throws; `failed` describes whether it did. */
export interface Failing<Input, Output> {
  readonly input: Input
  readonly make: Effect.Effect<unknown, unknown>
  readonly failed: (exit: Exit.Exit<unknown, unknown>) => Output
}

/** Turns the calls of one case into arguments of the port, such as the id of an animal that was inserted before. */
export interface Client<Call, Input, Output> {
  /** Returns `undefined` if the store lacks the method; `isAlone` if no other call is in progress. */
  readonly begin: (
    call: Call,
    isAlone: boolean
  ) => Invocation<Input, Output> | Failing<Input, Output> | undefined
  /** Returns the calls that show the whole contents of the store. */
  readonly closing: () => ReadonlyArray<Call>
}

/** Reasons why clauses are not decided, such as an optional method that a store lacks. */
export type Reasons = ReadonlyMap<ClauseSlug, string>

export interface Port<Tag, Service extends object, State, Call, Input, Output> {
  readonly name: string
  /** What messages call the store. */
  readonly noun: string
  readonly tag: Context.Service<Tag, Service>
  readonly storeOf: (target: PortTarget) => Store<Tag> | undefined
  readonly clauses: { readonly interruption: ClauseSlug; readonly failsTyped: ClauseSlug }
  /** Whether a clause is about this port. */
  readonly owns: (clause: ClauseSlug) => boolean
  readonly model: Model<State, Input, Output>
  readonly client: (service: Service, reasons: Reasons) => Client<Call, Input, Output>
  /** Returns why clauses do not apply to a store, such as a method that it lacks, and why others cannot be decided. */
  readonly examine: (
    service: Service
  ) => Effect.Effect<{ readonly lacking: Reasons; readonly undecided: Reasons }, unknown>
  readonly calls: Calls<Call>
  /** Cases at boundaries, tried first. */
  readonly boundaries: ReadonlyArray<Partial<Case<Call>>>
  /** The calls to make while the backend does not respond. */
  readonly outage: ReadonlyArray<Call>
}
