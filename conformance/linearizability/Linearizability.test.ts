import { describe, expect, it } from "vitest"
import * as Linearizability from "./Linearizability.ts"

type Input = { readonly write: number } | "read"
type Output = "ok" | number | null
type Operation = Linearizability.Operation<Input, Output>

/** A register that is initially empty. */
const register: Linearizability.Model<number | null, Input, Output> = {
  initial: null,
  step: (state, input, output) =>
    input !== "read" ? input.write : output === undefined || output === state ? state : undefined,
  key: String
}

const read = (invokedAt: number, at: number, output: Output): Operation => ({
  input: "read",
  invokedAt,
  completed: { at, output }
})

const write = (invokedAt: number, at: number | undefined, value: number): Operation => ({
  input: { write: value },
  invokedAt,
  completed: at === undefined ? undefined : { at, output: "ok" }
})

const MAX_STATES = 1_000

const check = (...history: ReadonlyArray<Operation>) => Linearizability.check(register, history, MAX_STATES)

describe("Linearizability.check of a register with a write that timed out", () => {
  const timedOut = write(0, undefined, 1)

  it("does not report the write as stuck, because the model allows it", () => {
    const stale = read(2, 3, null)
    expect(check(write(0, 1, 2), timedOut, stale)).toEqual({ _tag: "Violation", stuck: [stale] })
  })

  it("visits no extra states for calls of unknown outcome that change nothing", () => {
    const idle = Array.from(
      { length: 64 },
      (): Operation => ({ input: "read", invokedAt: 0, completed: undefined })
    )
    const history = [...idle, write(1, 2, 1), read(3, 4, 2)]
    expect(Linearizability.check(register, history, 1)._tag).toBe("Violation")
  })
})

describe("Linearizability.check of a counter", () => {
  /** Increments that return the previous value. */
  const counter: Linearizability.Model<number, "increment", number> = {
    initial: 0,
    step: (state, _, output) => (output === undefined || output === state ? state + 1 : undefined),
    key: String
  }
  const increment = (invokedAt: number, at: number, output: number) => ({
    input: "increment" as const,
    invokedAt,
    completed: { at, output }
  })

  it("rejects a lost update", () => {
    const [first, second] = [increment(0, 5, 0), increment(1, 6, 0)]
    expect(Linearizability.check(counter, [first, second], MAX_STATES)).toEqual({
      _tag: "Violation",
      stuck: [second]
    })
  })

  it("visits at most 16 states per call of a long history with few concurrent calls", () => {
    const history = Array.from({ length: 2000 }, (_, index) => increment(index, index + 3, index))
    expect(Linearizability.check(counter, history, 2000 * 16)._tag).toBe("Linearizable")
  })
})

describe("Linearizability.check with a budget", () => {
  it("tries no state twice", () => {
    let steps = 0
    // Every subset of nine additions is a state, and the largest addition is possible in none of them.
    const adding: Linearizability.Model<number, number, "ok"> = {
      initial: 0,
      step: (sum, added) => {
        steps++
        return added === 2 ** 9 ? undefined : sum + added
      },
      key: String
    }
    const completed = { at: 9, output: "ok" } as const
    const additions = Array.from({ length: 10 }, (_, index) => ({
      input: 2 ** index,
      invokedAt: 0,
      completed
    }))
    expect(Linearizability.check(adding, additions, MAX_STATES)._tag).toBe("Violation")
    expect(steps).toBeLessThan(10 * 2 ** 9)
  })
})
