/** Laws of `RateLimitStore` about concurrent steps, steps that throw an exception, and interrupted steps. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as fc from "fast-check"
import { expect, type Failure, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Model } from "../../linearizability/Linearizability.ts"
import { type Check, family } from "../Check.ts"
import * as Concurrency from "./Concurrency.ts"
import * as States from "./States.ts"

type Limits = States.Limits

/** A call of one of several clients: it replaces the number that is stored for a key with its own. */
interface Swap {
  readonly key: "a" | "b"
  readonly number: number
}

/** The model: the number that is stored for each of two keys, initially 0. */
const registers: Model<{ readonly a: number; readonly b: number }, Swap, number> = {
  initial: { a: 0, b: 0 },
  step: (all, { key, number }, output) =>
    output === undefined || all[key] === output ? { ...all, [key]: number } : undefined,
  key: ({ a, b }) => `${a} ${b}`,
  show: ({ key, number }, output) => `${number} replaced ${output} in ${key}`
}

const clients = fc.array(fc.array(fc.constantFrom("a", "a", "b"), { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 4
})

/** Runs clients that replace numbers concurrently; fails unless some order of the calls explains the results. */
const runSwaps = (
  limits: Limits,
  programs: ReadonlyArray<ReadonlyArray<"a" | "b">>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const history = new Concurrency.History<Swap, number>()
    let numbers = 0
    const calls = programs.map((program) =>
      program.map((key) => {
        const number = ++numbers
        const after = { ...States.numbered(0), used: number }
        const swap = States.modify(
          limits,
          key,
          `store ${number} in`,
          (before) => [before?.used ?? 0, after],
          (before) => `replaced ${before}`,
          trial
        )
        return (client: number) => history.record(client, { key, number }, swap)
      })
    )
    yield* Concurrency.runConcurrently(calls)
    yield* Concurrency.expectLinearizable(registers, history)
  })

/** Values that a step with a bug may throw, by name. */
const thrown: { readonly [name: string]: unknown } = {
  "an error": new Error("a bug in the step"),
  "a string": "a bug in the step",
  undefined: undefined
}

/** Runs a step that throws; the call may end in a failure or a defect, but must not succeed. */
const runThrowingStep = (
  limits: Limits,
  key: string,
  what: string,
  trial: Trial
): Effect.Effect<void, Violation> => {
  const step = (): never => {
    throw thrown[what]
  }
  const action = `run a step that throws ${what} on ${States.nameOf(key)}`
  return Effect.flatMap(Effect.exit(Effect.suspend(() => limits.modify(key, step))), (exit) => {
    trial.record({ did: action, got: Exit.isSuccess(exit) ? "a result" : "a failure" })
    return expect(
      Exit.isFailure(exit),
      `a failure of a step that throws ${what} on ${States.nameOf(key)}`,
      "a result"
    )
  })
}

/** Interrupts steps that count, and checks the stored count. */
const interruptSteps = (
  limits: Limits,
  rounds: ReadonlyArray<Concurrency.Interruption>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const blank = { ...States.numbered(3), used: 0 }
    yield* States.replace(limits, "a", blank, trial)
    let acknowledged = 0
    let unknown = 0
    for (const { concurrentCalls, turns } of rounds) {
      const others = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: concurrentCalls }), () => States.increment(limits, "a", trial), {
          concurrency: "unbounded"
        })
      )
      const exit = yield* Concurrency.interrupt(
        Effect.suspend(() =>
          limits.modify("a", (before = blank) => [undefined, { ...before, used: before.used + 1 }])
        ),
        turns,
        'count "a"',
        () => "done",
        trial
      )
      if (Exit.isSuccess(exit)) acknowledged++
      else unknown++
      acknowledged += (yield* Fiber.join(others)).length
      yield* States.increment(limits, "a", trial)
      acknowledged++
    }
    const left = yield* States.read(limits, "a", trial)
    const used = left?.used ?? 0
    yield* expect(
      used >= acknowledged && used <= acknowledged + unknown,
      `${acknowledged} counted, plus at most ${unknown} interrupted ones`,
      `${used}`
    )
    yield* expect(
      States.isSame(left, { ...blank, used }),
      `the other numbers unchanged, ${States.describe(blank)}`,
      States.describe(left)
    )
  })

const law = family({ level: "design", profile: "port", on: "limits", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law({
    id: "limits-store.at-once",
    law: "Concurrent steps on one key run in sequence: each sees what the previous one stored.",
    clauses: ["limits-store.modify.atomic"],
    examples: [
      { steps: 100, keys: 1 },
      { steps: 100, keys: 3 }
    ],
    *holds(limits, { keys: keyCount, steps }, trial) {
      const seen = yield* Effect.forEach(
        Array.from({ length: steps * keyCount }, (_, index) => `key:${index % keyCount}`),
        (key) => Effect.map(States.increment(limits, key, trial), (number) => `${key} ${number}`),
        { concurrency: "unbounded" }
      )
      const distinct = new Set(seen).size
      yield* expect(distinct === steps * keyCount, `${steps * keyCount} different states seen`, `${distinct}`)
      for (let key = 0; key < keyCount; key++) {
        const used = (yield* States.read(limits, `key:${key}`, trial))?.used
        yield* expect(used === steps, `${steps} steps counted`, `${used}`)
      }
    }
  }),
  law<ReadonlyArray<ReadonlyArray<"a" | "b">>>({
    id: "limits-store.parallel",
    law: "Concurrent steps are linearizable: each takes effect at one moment while it runs.",
    clauses: ["limits-store.linearizable", "limits-store.modify.atomic"],
    examples: [
      [
        ["a", "a", "b"],
        ["a", "b", "a"],
        ["a", "a", "a"]
      ]
    ],
    cases: clients,
    runs: { port: 20, http: 0 },
    holds: runSwaps
  }),
  law<{ readonly seed: number; readonly clients: ReadonlyArray<ReadonlyArray<"a" | "b">> }>({
    id: "limits-store.interleaved",
    law: "Calls are linearizable for any interleaving of their steps.",
    clauses: ["limits-store.linearizable", "limits-store.modify.atomic"],
    examples: [1, 2].map((seed) => ({
      seed,
      clients: [
        ["a", "a", "a"],
        ["a", "a", "b"],
        ["a", "b", "a"]
      ]
    })),
    cases: fc.record({ seed: Concurrency.seed, clients }),
    runs: { port: 6, http: 0 },
    holds: (limits, { clients: programs, seed }, trial) =>
      Concurrency.runInterleaved(seed, runSwaps(limits, programs, trial))
  }),
  law<{
    readonly stored: States.State | undefined
    readonly throws: string
    readonly concurrentCalls: number
  }>({
    id: "limits-store.throwing-step",
    law: "A step that throws changes nothing, and the store keeps working, even for concurrent calls.",
    clauses: ["limits-store.modify.throwing-step"],
    timeoutMs: 10_000,
    examples: Object.keys(thrown).flatMap((throws) =>
      [undefined, States.numbered(5)].map((stored) => ({ stored, throws, concurrentCalls: 3 }))
    ),
    cases: fc.record({
      stored: fc.option(States.state, { nil: undefined }),
      throws: fc.constantFrom(...Object.keys(thrown)),
      concurrentCalls: fc.nat(4)
    }),
    runs: { port: 10, http: 0 },
    *holds(limits, { concurrentCalls, stored, throws }, trial) {
      if (stored !== undefined) yield* States.replace(limits, "a", stored, trial)
      yield* runThrowingStep(limits, "a", throws, trial)
      yield* runThrowingStep(limits, "a", throws, trial)
      const left = yield* States.read(limits, "a", trial)
      yield* States.expectSame(left, stored, "the unchanged state,")
      const others = Array.from({ length: concurrentCalls }, () => States.increment(limits, "b", trial))
      yield* Effect.all(
        [
          ...others,
          runThrowingStep(limits, "b", throws, trial),
          ...others,
          runThrowingStep(limits, "c", throws, trial)
        ],
        { concurrency: "unbounded", discard: true }
      )
      const counted = yield* States.increment(limits, "b", trial)
      yield* expect(
        counted === 2 * concurrentCalls,
        `${2 * concurrentCalls} counted by the others`,
        `${counted}`
      )
    }
  }),
  law<Concurrency.Interruptions>({
    id: "limits-store.interrupted",
    law: "An interrupted modify leaves the state as before or after its step, and the store keeps working.",
    clauses: ["limits-store.interruption"],
    timeoutMs: 10_000,
    examples: Concurrency.interruptionExamples,
    cases: Concurrency.interruptions,
    runs: { port: 5, http: 0 },
    holds: (limits, { rounds, seed }, trial) =>
      Concurrency.runInterleaved(seed, interruptSteps(limits, rounds, trial))
  })
]
