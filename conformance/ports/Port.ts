/** Defines what a port needs to be checked: its methods as calls that are drawn, made, and judged by a model. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as fc from "fast-check"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { PortTarget, Store } from "./PortTarget.ts"

/** Decides whether a result obeys a clause; after the first clause that it violates, nothing is decided. */
export type Expect = (clause: ClauseSlug, holds: boolean, expected: () => string) => void

/** The result of a call. */
export interface Seen<State> {
  readonly shown: string
  /** Judges the result, and returns the state after the call. Pure. */
  readonly judge: (before: State, expect: Expect) => State
}

/** A call that is ready to be made. */
export interface Call<State> {
  /** Describes the call for reports. */
  readonly did: string
  readonly make: Effect.Effect<Seen<State>, unknown>
  /** Returns the state after the call took effect, if its result is unknown because it was interrupted. */
  readonly interrupted: (before: State) => State
}

/** Creates a call. `show` may throw if the output has another form; `judge` gets `undefined` if the output is unknown. */
export const call = <State, Output>(
  make: () => Effect.Effect<Output, unknown> | undefined,
  options: {
    readonly did: string
    readonly show: (output: NoInfer<Output>) => string
    readonly judge: (before: State, expect: Expect, output: NoInfer<Output> | undefined) => State
  }
): Call<State> => {
  const { did, judge, show } = options
  return {
    did,
    // What the method throws is a defect, too.
    make: Effect.map(
      Effect.suspend(() => make() ?? Effect.die(new Error("no such method"))),
      (output) => ({
        shown: show(output),
        judge: (before, expect) => judge(before, expect, output)
      })
    ),
    interrupted: (before) => judge(before, () => undefined, undefined)
  }
}

/** How a call of `withFunction` ended. */
export const [THE_RESULT, A_FAILURE] = ["the result", "a failure"]

/**
 * Calls a method with a function whose result the method returns; if the function throws, the method must fail. Returns
 * how the call ended, and what the function received.
 */
export const withFunction = <Input, Output extends readonly [result: unknown, ...rest: Array<unknown>]>(
  method: (change: (input: Input) => Output) => Effect.Effect<unknown, unknown>,
  change: (input: Input) => Output
): Effect.Effect<{ readonly ending: string; readonly received: Input | undefined }, unknown> => {
  let received: Input | undefined
  let output: Output | undefined
  let hasThrown = false
  const made = method((input) => {
    received = input
    hasThrown = true
    output = change(input)
    hasThrown = false
    return output
  })
  // The function may throw while the call is interrupted, which is not a defect of the method either.
  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.exit(restore(made)), (exit) => {
      if (hasThrown && Exit.isFailure(exit)) return Effect.succeed({ ending: A_FAILURE, received })
      const isResult = (got: unknown): boolean => output !== undefined && Object.is(got, output[0])
      return Exit.map(exit, (got) => ({ ending: isResult(got) ? THE_RESULT : String(got), received }))
    })
  )
}

/**
 * Prepares a call: `Session` is what a case remembers of earlier calls; `isAlone` is whether no other call is in
 * progress.
 */
export type Begin<Session, State> = (session: Session, isAlone: boolean) => Call<State>

/** A kind of call, such as a method with arguments of one form. */
export interface Kind<Session, State> {
  readonly draw: fc.Arbitrary<Begin<Session, State>>
  /** How often they are made, compared to other kinds. */
  readonly weight: number
  /** The clause that the call violates if it fails although the backend works. */
  readonly clause: ClauseSlug
  /** The clause that concurrent calls of only this kind violate if no order explains their results; absent if none are made. */
  readonly together?: ClauseSlug
  /** The optional method that it calls. */
  readonly method?: string | undefined
}

/** A call of a case. */
export interface Drawn<Session, State> {
  /** The name of its kind. */
  readonly kind: string
  readonly begin: Begin<Session, State>
  /** After how many turns of its fiber it is interrupted, if it is one of concurrent calls. */
  readonly turns?: number | undefined
}

/** Calls on an empty store: first in sequence, then by concurrent clients. */
export interface Case<Session, State> {
  readonly calls: ReadonlyArray<Drawn<Session, State>>
  readonly clients: ReadonlyArray<ReadonlyArray<Drawn<Session, State>>>
  /** A seed for the order in which the steps of the clients run; null for the order of the runtime. */
  readonly order: number | null
}

/** A port: its sequential behavior, which also explains concurrent calls, and the calls that show it. */
export interface Port<Tag, Service extends object, Session, State> {
  readonly name: "pets" | "limits-store" | "keys-store"
  readonly tag: Context.Service<Tag, Service>
  readonly storeOf: (target: PortTarget) => Store<Tag> | undefined
  readonly initial: State
  /** Returns a key of a state: two states are equal if and only if their keys are. */
  readonly key: (state: State) => string
  readonly kinds: { readonly [name: string]: Kind<Session, State> }
  /** The clause that concurrent calls of several kinds violate if no order explains their results. */
  readonly together: ClauseSlug
  readonly open: (service: Service) => Session
  /** Returns the calls that show the whole contents of the store. */
  readonly closing: (session: Session) => ReadonlyArray<Drawn<Session, State>>
  /** Returns why clauses cannot be decided on a store; calls for them are not made. */
  readonly examine?: (service: Service) => Effect.Effect<ReadonlyMap<ClauseSlug, string>, unknown>
  /** Sequences of calls that other draws seldom or never contain; each run has one of each. */
  readonly scenarios: ReadonlyArray<fc.Arbitrary<ReadonlyArray<Drawn<Session, State>>>>
}
