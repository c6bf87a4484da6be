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
const verdictOf = (...history: ReadonlyArray<Operation>) => check(...history)._tag

describe("Linearizability.check of a register", () => {
  it("accepts a history without calls, and a history with only calls of unknown outcome", () => {
    expect(verdictOf()).toBe("Linearizable")
    expect(verdictOf(write(0, undefined, 1))).toBe("Linearizable")
  })

  it("accepts sequential calls", () => {
    expect(verdictOf(read(0, 1, null), write(2, 3, 1), read(4, 5, 1))).toBe("Linearizable")
  })

  it("accepts a read that sees a concurrent write, and a read that does not see the write", () => {
    expect(verdictOf(write(0, 9, 1), read(3, 4, null))).toBe("Linearizable")
    expect(verdictOf(write(0, 9, 1), read(3, 4, 1))).toBe("Linearizable")
  })

  it("rejects a stale read", () => {
    const stale = read(2, 3, null)
    const written = write(0, 1, 1)
    expect(check(written, stale)).toEqual({ _tag: "Violation", stuck: [stale] })
  })

  it("rejects a read that sees a write before its invocation", () => {
    expect(verdictOf(read(0, 1, 1), write(2, 3, 1))).toBe("Violation")
  })

  it("rejects a read of a value that was never written", () => {
    expect(verdictOf(write(0, 9, 1), write(0, 9, 2), read(3, 4, 3))).toBe("Violation")
  })

  it("rejects two reads in sequence if only the first read sees a concurrent write", () => {
    expect(verdictOf(write(0, 9, 1), read(1, 2, 1), read(3, 4, null))).toBe("Violation")
  })

  it("rejects two readers that see two writes in opposite orders", () => {
    const writes = [write(0, 20, 1), write(0, 20, 2)]
    const first = [read(1, 2, 1), read(5, 6, 2)]
    expect(verdictOf(...writes, ...first)).toBe("Linearizable")
    expect(verdictOf(...writes, ...first, read(7, 8, 1))).toBe("Violation")
  })

  it("treats a return and an invocation at the same instant as concurrent", () => {
    expect(verdictOf(write(0, 5, 1), read(5, 6, null))).toBe("Linearizable")
    expect(verdictOf(write(0, 5, 1), read(6, 6, null))).toBe("Violation")
    expect(verdictOf(write(5, 5, 1), read(5, 5, null))).toBe("Linearizable")
  })

  it("ignores the order in which the history lists the calls", () => {
    expect(verdictOf(read(4, 5, 1), write(2, 3, 1), read(0, 1, null))).toBe("Linearizable")
  })

  it("backtracks if the first call that it tries is wrong", () => {
    // Only the order of writes 2, 1, 3 is possible, so the search, which starts with 1, must backtrack.
    expect(
      verdictOf(
        write(0, 30, 1),
        write(0, 30, 2),
        write(0, 30, 3),
        read(1, 2, 2),
        read(3, 4, 1),
        read(5, 6, 3)
      )
    ).toBe("Linearizable")
  })
})

describe("Linearizability.check of a register with a write that timed out", () => {
  const timedOut = write(0, undefined, 1)

  it("accepts reads that see the write immediately, later or never", () => {
    expect(verdictOf(timedOut, read(1, 2, 1))).toBe("Linearizable")
    expect(verdictOf(timedOut, read(1, 2, null), read(100, 101, 1))).toBe("Linearizable")
    expect(verdictOf(timedOut, read(1, 2, null), read(100, 101, null))).toBe("Linearizable")
  })

  it("rejects a read that does not see the write after an earlier read saw it", () => {
    expect(verdictOf(timedOut, read(1, 2, 1), read(3, 4, null))).toBe("Violation")
  })

  it("rejects a read that sees the write before its invocation", () => {
    expect(verdictOf(read(1, 2, 7), write(3, undefined, 7))).toBe("Violation")
  })

  it("rejects a history in which the write would take effect twice", () => {
    const twice = [read(1, 2, 1), write(3, 4, 2), read(5, 6, 1)]
    expect(verdictOf(timedOut, ...twice)).toBe("Violation")
    expect(verdictOf(timedOut, write(0, undefined, 1), ...twice)).toBe("Linearizable")
  })

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

  it("accepts concurrent increments in any order that their times allow", () => {
    const history = [increment(0, 5, 1), increment(1, 6, 0), increment(7, 8, 2)]
    expect(Linearizability.check(counter, history, MAX_STATES)._tag).toBe("Linearizable")
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

  const history = [write(0, 1, 1), write(2, 3, 2), read(4, 5, 2)]

  it.each([0, 1, 2])("returns Unknown, never a pass, after %d states if more are needed", (maxStates) => {
    expect(Linearizability.check(register, history, maxStates)).toEqual({
      _tag: "Unknown",
      explored: maxStates
    })
    expect(Linearizability.check(register, history, 3)._tag).toBe("Linearizable")
  })
})
