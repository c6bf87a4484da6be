/** Defines what a port needs to be checked: a model that judges calls, and cases that make them. */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as fc from "fast-check"
import type { ClauseSlug } from "../clauses/Clauses.ts"
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

/** Judges the output of a call. If it is unknown, only the state after the call counts. Pure. */
export type Judge<State, Output> = (state: State, output: Output | undefined) => Judged<State>

/** A call with all its arguments. */
export interface Invocation<State, Output> {
  /** Describes the call for reports. */
  readonly did: string
  readonly make: Effect.Effect<Output, unknown>
  readonly judge: Judge<State, Output>
  /** For a call that may fail because the caller's function throws: describes how it ended. */
  readonly failed?: (exit: Exit.Exit<Output, unknown>) => Output
}

/** A call as data: its name, and arguments that may refer to earlier calls. */
export interface AnyCall {
  readonly do: string
}

/** A call of a client; `turns` is after how many turns of its fiber it is interrupted, null if it is not. */
export interface ClientCall<Call> {
  readonly call: Call
  readonly turns: number | null
}

/** Makes the calls of a client that is not interrupted. */
export const alone = <Call>(calls: ReadonlyArray<Call>): ReadonlyArray<ClientCall<Call>> =>
  calls.map((call) => ({ call, turns: null }))

/** Generators of the calls of a port. */
export interface Calls<Call> {
  /** Every call, even those of boundary cases only. */
  readonly any: fc.Arbitrary<Call>
  /** The calls of histories in sequence. */
  readonly call: fc.Arbitrary<Call>
  /** The calls that concurrent clients make. */
  readonly clientCall: fc.Arbitrary<Call>
  /** The calls that may be interrupted. */
  readonly interruptible: fc.Arbitrary<Call>
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

/** Turns the calls of one case into arguments of the port, such as the id of an animal that was inserted before. */
export interface Client<State, Call, Output> {
  /** Returns `undefined` if the store lacks the method; `isAlone` if no other call is in progress. */
  readonly begin: (call: Call, isAlone: boolean) => Invocation<State, Output> | undefined
  /** Returns the calls that show the whole contents of the store. */
  readonly closing: () => ReadonlyArray<Call>
}

/** Reasons why clauses are not decided, such as an optional method that a store lacks. */
export type Reasons = ReadonlyMap<ClauseSlug, string>

/** A port: its sequential behavior, which also explains concurrent calls, and the calls that show it. */
export interface Port<Tag, Service extends object, State, Call extends AnyCall, Output> {
  readonly name: string
  readonly tag: Context.Service<Tag, Service>
  readonly storeOf: (target: PortTarget) => Store<Tag> | undefined
  readonly clauses: { readonly interruption: ClauseSlug; readonly failsTyped: ClauseSlug }
  /** Whether a clause is about this port. */
  readonly owns: (clause: ClauseSlug) => boolean
  readonly initial: State
  /** Returns a key of a state: two states are equal if and only if their keys are. */
  readonly key: (state: State) => string
  /** Orders the outputs of many concurrent calls as if they had been made in sequence. */
  readonly rank: (output: Output) => number
  /** The clause that a call violates if it fails although the backend works. */
  readonly failing: { readonly [Name in Call["do"]]: ClauseSlug }
  /** The clause that calls violate if no order explains their results. */
  readonly concurrent: (calls: ReadonlyArray<Call>, reasons: Reasons) => ClauseSlug
  /** Formats an output; it may throw if a result has another type than the port promises. */
  readonly show: (output: Output) => string
  readonly client: (service: Service, reasons: Reasons) => Client<State, Call, Output>
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
