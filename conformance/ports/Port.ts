/** Defines what a port needs to be checked: its methods as calls that are drawn, made, and judged by a model. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
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

/** What a model says of a call: yields the laws that it decides, and returns the state after it. */
export type Ruling<State> = Generator<Law, State, void>

/** The result of a call. */
export interface Seen<State> {
  readonly shown: string
  /** Rules on the result, from the state before the call. */
  readonly judge: (state: State) => Ruling<State>
}

/** A call that is ready to be made. */
export interface Invocation<State> {
  /** Describes the call for reports. */
  readonly did: string
  readonly make: Effect.Effect<Seen<State>, unknown>
  /** The result of the call if it is interrupted; only the state after it counts. */
  readonly interrupted: Seen<State>
  /** What a failure means, if the call may fail because the caller's function throws. */
  readonly failure: Seen<State> | undefined
}

/**
 * Creates an invocation; `undefined` if the store lacks the method. `show` may throw if the output has another form. The
 * output that `judge` gets is `undefined` if it is unknown. Pure. `failure` is the output of a call that fails because
 * the caller's function throws.
 */
export const invocation = <State, Output>(
  make: Effect.Effect<Output, unknown> | undefined,
  options: {
    readonly did: string
    readonly show: (output: NoInfer<Output>) => string
    readonly judge: (state: State, output: NoInfer<Output> | undefined) => Ruling<State>
    readonly failure?: NoInfer<Output> | undefined
  }
): Invocation<State> | undefined => {
  const { did, failure, judge, show } = options
  const seen = (output: Output): Seen<State> => ({
    shown: show(output),
    judge: (state) => judge(state, output)
  })
  return (
    make && {
      did,
      make: Effect.map(make, seen),
      interrupted: { shown: "interrupted", judge: (state) => withoutLaws(judge(state, undefined)) },
      failure: failure && seen(failure)
    }
  )
}

function* withoutLaws<State>(ruling: Ruling<State>): Ruling<State> {
  for (;;) {
    const next = ruling.next()
    if (next.done === true) return next.value
  }
}

/** How a call ended that gets a function, and what the function received. */
export interface Ended<Input> {
  readonly ending: "the result" | "another result" | "Option.none" | "a failure"
  readonly received: Input | undefined
}

/** The end of a call whose function throws. */
export const failed = { ending: "a failure", received: undefined } as const satisfies Ended<unknown>

/** A call as data: the name of its kind, and arguments that may refer to earlier calls. */
export type Call = readonly [kind: string, args: unknown]

/** How calls of one kind are drawn. */
export interface Draws {
  readonly args: fc.Arbitrary<unknown>
  /** How often they are made in sequences, by clients, and to be interrupted. */
  readonly weights: { readonly alone?: number; readonly together?: number; readonly interrupted?: number }
}

/** A kind of call, such as a method with arguments of one form; `Session` is what a case remembers of earlier calls. */
export interface Kind<Session, State> extends Draws {
  /** The clause that the call violates if it fails although the backend works. */
  readonly clause: ClauseSlug
  /** Returns `undefined` if the call cannot be made; `isAlone` if no other call is in progress. */
  readonly begin: (session: Session, args: unknown, isAlone: boolean) => Invocation<State> | undefined
}

/** Creates the kinds of calls of one port. */
export const kinds =
  <Session, State>() =>
  <Args>(
    kind: Omit<Kind<Session, State>, "args" | "begin"> & {
      readonly args: fc.Arbitrary<Args>
      readonly begin: (session: Session, args: Args, isAlone: boolean) => Invocation<State> | undefined
    }
  ): Kind<Session, State> => ({
    ...kind,
    // The arguments were drawn, or written by hand and recognized.
    begin: (session, args, isAlone) => kind.begin(session, args as Args, isAlone)
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
