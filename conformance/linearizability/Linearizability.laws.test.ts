import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Linearizability from "./Linearizability.ts"

/** More than a few calls need. */
const MAX_STATES = 250_000

type Operation<Input, Output> = Linearizability.Operation<Input, Output>
type Model<State, Input, Output> = Linearizability.Model<State, Input, Output>

type RegisterInput = { readonly write: number } | "read"

const register: Model<number, RegisterInput, number> = {
  initial: 0,
  step: (state, input, output) =>
    input === "read"
      ? output === undefined || output === state
        ? state
        : undefined
      : output === undefined || output === input.write
        ? input.write
        : undefined,
  key: String
}

type SetInput = { readonly add: number } | { readonly remove: number } | { readonly has: number }

/** Each call returns whether the element was in the set before. */
const set: Model<ReadonlyArray<number>, SetInput, boolean> = {
  initial: [],
  step: (state, input, output) => {
    const element = "add" in input ? input.add : "remove" in input ? input.remove : input.has
    const without = state.filter((member) => member !== element)
    if (output !== undefined && output !== without.length < state.length) return undefined
    return "add" in input ? [...without, element].sort() : "remove" in input ? without : state
  },
  key: (state) => state.join()
}

const element = fc.integer({ min: 1, max: 2 })

const registerInput: fc.Arbitrary<RegisterInput> = fc.oneof(
  fc.record({ write: element }),
  fc.constant("read" as const)
)

const setInput: fc.Arbitrary<SetInput> = fc.oneof(
  fc.record({ add: element }),
  fc.record({ remove: element }),
  fc.record({ has: element })
)

/** Generates calls with arbitrary outputs and times: some histories are linearizable, some are not. */
const anyHistory = <Input, Output>(
  input: fc.Arbitrary<Input>,
  output: fc.Arbitrary<Output>,
  maxLength: number
): fc.Arbitrary<ReadonlyArray<Operation<Input, Output>>> =>
  fc.array(
    fc
      .record({
        input,
        invokedAt: fc.nat(8),
        duration: fc.nat(4),
        output,
        isCompleted: fc.oneof(
          { weight: 4, arbitrary: fc.constant(true) },
          { weight: 1, arbitrary: fc.constant(false) }
        )
      })
      .map(({ input, invokedAt, isCompleted, duration, output }) => ({
        input,
        invokedAt,
        completed: isCompleted ? { at: invokedAt + duration, output } : undefined
      })),
    { maxLength }
  )

const registerHistory = (maxLength: number) => anyHistory(registerInput, fc.nat(2), maxLength)
const setHistory = (maxLength: number) => anyHistory(setInput, fc.boolean(), maxLength)

const precedes = (a: Operation<unknown, unknown>, b: Operation<unknown, unknown>): boolean =>
  a.completed !== undefined && a.completed.at < b.invokedAt

/** Returns the state after the calls in this order, or `undefined` if the model or their times forbid it. */
const replay = <State, Input, Output>(
  model: Model<State, Input, Output>,
  order: ReadonlyArray<Operation<Input, Output>>
): State | undefined => {
  const hasValidTimes = order.every((later, index) =>
    order.slice(0, index).every((earlier) => !precedes(later, earlier))
  )
  if (!hasValidTimes) return undefined
  return order.reduce<State | undefined>(
    (state, { completed, input }) =>
      state === undefined ? undefined : model.step(state, input, completed?.output),
    model.initial
  )
}

const permutations = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.length === 0
    ? [[]]
    : all.flatMap((first, index) => permutations(all.toSpliced(index, 1)).map((rest) => [first, ...rest]))

/** Returns every selection that contains all completed calls, and any of the calls with unknown outcome. */
const selections = <Input, Output>(
  history: ReadonlyArray<Operation<Input, Output>>
): ReadonlyArray<ReadonlyArray<Operation<Input, Output>>> => {
  const [first, ...rest] = history
  if (first === undefined) return [[]]
  const others = selections(rest)
  const chosen = others.map((selection) => [first, ...selection])
  return first.completed === undefined ? [...chosen, ...others] : chosen
}

/** Whether some selection has an order that the model and the times allow: the definition, by brute force. */
const isLinearizable = <State, Input, Output>(
  model: Model<State, Input, Output>,
  history: ReadonlyArray<Operation<Input, Output>>
): boolean =>
  selections(history).some((chosen) =>
    permutations(chosen).some((order) => replay(model, order) !== undefined)
  )

/** Fails unless the history without the stuck calls, and those that follow one of them, is linearizable. */
const expectNecessary = <State, Input, Output>(
  model: Model<State, Input, Output>,
  history: ReadonlyArray<Operation<Input, Output>>,
  stuck: ReadonlyArray<Operation<Input, Output>>
): void => {
  expect(stuck.length).toBeGreaterThan(0)
  const isBlocked = (call: Operation<Input, Output>): boolean =>
    stuck.includes(call) || stuck.some((other) => precedes(other, call))
  expect(
    isLinearizable(
      model,
      history.filter((call) => !isBlocked(call))
    )
  ).toBe(true)
}

describe("Linearizability.check compared with a brute-force search", () => {
  const law = <State, Input, Output>(
    model: Model<State, Input, Output>,
    history: fc.Arbitrary<ReadonlyArray<Operation<Input, Output>>>
  ) => {
    const seen = { Linearizable: 0, Violation: 0, Unknown: 0 }
    fc.assert(
      fc.property(history, (history) => {
        const verdict = Linearizability.check(model, history, MAX_STATES)
        seen[verdict._tag]++
        expect(verdict._tag).toBe(isLinearizable(model, history) ? "Linearizable" : "Violation")
        if (verdict._tag === "Violation") expectNecessary(model, history, verdict.stuck)
      }),
      { numRuns: 1500 }
    )
    // Both verdicts must be frequent, or the law proves little.
    expect(seen.Linearizable).toBeGreaterThan(150)
    expect(seen.Violation).toBeGreaterThan(150)
  }

  it("gives the same verdict and stuck calls without which it is linearizable, for a register", () =>
    law(register, registerHistory(6)))

  it("gives the same verdict and stuck calls without which it is linearizable, for a set", () =>
    law(set, setHistory(6)))
})

describe("Linearizability.check of the history of a correct object", () => {
  interface SimulatedCall<Input> {
    readonly input: Input
    readonly before: number
    readonly after: number
    readonly outcome: "returned" | "timed out" | "never happened"
  }

  const simulatedCalls = <Input>(
    input: fc.Arbitrary<Input>
  ): fc.Arbitrary<ReadonlyArray<SimulatedCall<Input>>> =>
    fc.array(
      fc.record({
        input,
        before: fc.nat(40),
        after: fc.nat(40),
        outcome: fc.oneof(
          { weight: 6, arbitrary: fc.constant("returned" as const) },
          { weight: 1, arbitrary: fc.constantFrom("timed out" as const, "never happened" as const) }
        )
      }),
      { maxLength: 24 }
    )

  /** One call takes effect every 10 ms; it is invoked up to 40 ms earlier and returns up to 40 ms later. */
  const historyOf = <State, Input, Output>(
    model: Model<State, Input, Output>,
    outputOf: (state: State, input: Input) => Output,
    calls: ReadonlyArray<SimulatedCall<Input>>
  ): ReadonlyArray<Operation<Input, Output>> => {
    let state = model.initial
    return calls.map(({ after, before, outcome, input }, index) => {
      const at = 10 * index
      const output = outputOf(state, input)
      if (outcome !== "never happened") state = model.step(state, input, output) ?? state
      const completed = outcome === "returned" ? { at: at + after, output } : undefined
      return { input, invokedAt: at - before, completed }
    })
  }

  const law = <State, Input, Output>(
    model: Model<State, Input, Output>,
    input: fc.Arbitrary<Input>,
    outputOf: (state: State, input: Input) => Output
  ) =>
    fc.assert(
      fc.property(
        simulatedCalls(input).chain((calls) =>
          fc.shuffledSubarray([...historyOf(model, outputOf, calls)], { minLength: calls.length })
        ),
        (history) => {
          expect(Linearizability.check(model, history, MAX_STATES)._tag).toBe("Linearizable")
        }
      ),
      { numRuns: 300 }
    )

  it("accepts the history of a register", () =>
    law(register, registerInput, (state, input) => (input === "read" ? state : input.write)))

  it("accepts the history of a set", () =>
    law(set, setInput, (state, input) =>
      state.includes("add" in input ? input.add : "remove" in input ? input.remove : input.has)
    ))
})

describe("Linearizability.check", () => {
  const verdictOf = (history: ReadonlyArray<Operation<SetInput, boolean>>) =>
    Linearizability.check(set, history, MAX_STATES)._tag

  it("returns the same verdict with a budget as without one, or Unknown after exactly `maxStates` states", () =>
    fc.assert(
      fc.property(setHistory(12), fc.nat(40), (history, maxStates) => {
        const verdict = Linearizability.check(set, history, maxStates)
        expect(verdict).toEqual(
          verdict._tag === "Unknown"
            ? { _tag: "Unknown", explored: maxStates }
            : Linearizability.check(set, history, MAX_STATES)
        )
      })
    ))

  it("does not change the history, and does not depend on its order", () =>
    fc.assert(
      fc.property(
        setHistory(8).chain((history) =>
          fc.tuple(fc.constant(history), fc.shuffledSubarray([...history], { minLength: history.length }))
        ),
        ([history, shuffled]) => {
          const before = structuredClone(history)
          expect(verdictOf(history)).toBe(verdictOf(shuffled))
          expect(history).toEqual(before)
        }
      )
    ))
})
