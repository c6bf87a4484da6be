/** Defines what a port needs to be checked: its methods as calls that are drawn, made, and judged by a model. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Drawn, Fields } from "./Arbitraries.ts"
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

/** The result of a call. */
export interface Seen<State> {
  readonly shown: string
  readonly judge: (state: State) => Judged<State>
}

/** A call that is ready to be made. */
export interface Invocation<State> {
  /** Describes the call for reports. */
  readonly did: string
  readonly make: Effect.Effect<Seen<State>, unknown>
  /** What a failure means, if the call may fail because the caller's function throws. */
  readonly failure: Seen<State> | undefined
  /** Returns the state after the call if its result is unknown. */
  readonly assume: (state: State) => State
}

/**
 * Creates an invocation; `undefined` if the store lacks the method. `show` may throw if the output has another form;
 * `failure` is the output of a call that fails because the caller's function throws.
 */
export const invocation = <State, Output>(
  did: string,
  make: Effect.Effect<Output, unknown> | undefined,
  show: (output: Output) => string,
  judge: Judge<State, Output>,
  failure?: Output
): Invocation<State> | undefined => {
  const seen = (output: Output): Seen<State> => ({
    shown: show(output),
    judge: (state) => judge(state, output)
  })
  return (
    make && {
      did,
      make: Effect.map(make, seen),
      failure: failure && seen(failure),
      assume: (state) => judge(state, undefined).next
    }
  )
}

/** A call as data: the name of its kind, and arguments that may refer to earlier calls. */
export interface Call {
  readonly do: string
  readonly [argument: string]: unknown
}

/** How calls of one kind are drawn: their arguments, and how often in sequences, by clients, and to be interrupted. */
export interface Draws {
  readonly args: Fields
  readonly weights: { readonly alone?: number; readonly together?: number; readonly interrupted?: number }
  /** Whether the call may end as usual although the backend does not respond. */
  readonly isLocal?: true
}

/** A kind of call, such as a method with arguments of one form; `Session` is what a case remembers of earlier calls. */
export interface Kind<Session, State> extends Draws {
  /** The clause that the call violates if it fails although the backend works. */
  readonly clause: ClauseSlug
  /** Returns `undefined` if the call cannot be made; `isAlone` if no other call is in progress. */
  readonly begin: (session: Session, call: Call, isAlone: boolean) => Invocation<State> | undefined
}

/** Creates the kinds of calls of one port. */
export const kinds =
  <Session, State>() =>
  <Args extends Fields>(
    kind: Omit<Kind<Session, State>, "args" | "begin"> & {
      readonly args: Args
      readonly begin: (session: Session, call: Drawn<Args>, isAlone: boolean) => Invocation<State> | undefined
    }
  ): Kind<Session, State> => ({
    ...kind,
    // A call of this kind has these arguments, whether it was drawn, or written by hand and recognized.
    begin: (session, call, isAlone) => kind.begin(session, call as Drawn<Args>, isAlone)
  })

/** A call of a client; `turns` is after how many turns of its fiber it is interrupted, null if it is not. */
export interface ClientCall {
  readonly call: Call
  readonly turns: number | null
}

/** Calls on an empty store, as data: first in sequence, then by concurrent clients. */
export interface Case {
  readonly calls: ReadonlyArray<Call>
  readonly clients: ReadonlyArray<ReadonlyArray<ClientCall>>
  /** A seed for the order in which the steps of the clients run; null for the order of the runtime. */
  readonly order: number | null
  /** Whether the backend does not respond. */
  readonly isOutage: boolean
}

/** Reasons why clauses are not decided, such as an optional method that a store lacks. */
export type Reasons = ReadonlyMap<ClauseSlug, string>

/** A port: its sequential behavior, which also explains concurrent calls, and the calls that show it. */
export interface Port<Tag, Service extends object, Session, State> {
  readonly name: "pets" | "limits-store" | "keys-store"
  readonly tag: Context.Service<Tag, Service>
  readonly storeOf: (target: PortTarget) => Store<Tag> | undefined
  /** Clauses about this port with another prefix than its name. */
  readonly alsoOwns?: ReadonlyArray<ClauseSlug>
  readonly initial: State
  /** Returns a key of a state: two states are equal if and only if their keys are. */
  readonly key: (state: State) => string
  readonly kinds: { readonly [name: string]: Kind<Session, State> }
  /** The clause that calls of these kinds violate if no order explains their results. */
  readonly concurrent: (kinds: ReadonlySet<string>) => ClauseSlug
  readonly open: (service: Service, reasons: Reasons) => Session
  /** Returns the calls that show the whole contents of the store. */
  readonly closing: (session: Session) => ReadonlyArray<Call>
  /** The clauses of optional methods. */
  readonly optional: { readonly [method: string]: ClauseSlug }
  /** Returns why clauses cannot be decided on a store. */
  readonly examine?: (service: Service) => Effect.Effect<Reasons, unknown>
  /** Cases that draws do not reach. */
  readonly scenarios?: ReadonlyArray<Partial<Case>>
}
