/** Laws of `RateLimitStore` about steps in sequence. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import { expect, inapplicable } from "../../evaluation/Outcome.ts"
import { portCall } from "../../subjects/PortCall.ts"
import { type Check, family } from "../Check.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

/** The next state of the key with this number; `same` stores the current state again. */
interface Write {
  readonly key: number
  readonly state: States.State | "same"
}

const write: fc.Arbitrary<Write> = fc.record({
  key: fc.nat(2),
  state: fc.oneof({ weight: 4, arbitrary: States.state }, fc.constant("same" as const))
})

/** Results of steps that a store might inspect by mistake. */
const results: { readonly [name: string]: unknown } = {
  undefined: undefined,
  null: null,
  NaN: Number.NaN,
  "a large integer": 2n ** 70n,
  "an object": { level: 1 },
  "an array": [[1], 2],
  "a function": () => 1,
  "a symbol": Symbol("result"),
  "an error": new Error("a result"),
  "an effect": Effect.fail("a result"),
  "an exit": Exit.fail("a result"),
  "an option": Option.none()
}

/** State keys as the service creates them, and unusual ones; many differ only slightly. */
const keys: ReadonlyArray<string> = [
  ...Texts.awkward,
  "key:a",
  "key:A",
  "key:a ",
  "key:ab",
  "key",
  "network:2001:db8::/64",
  "network:2001:DB8::/64",
  "network:192.0.2.1",
  "network:192.0.2.10",
  `${"k".repeat(299)}a`,
  `${"k".repeat(299)}b`
]

const law = family({ level: "design", profile: "port", on: "limits", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law<ReadonlyArray<Write>>({
    id: "limits-store.fold",
    law:
      "A step gets the state that the previous step on the same key stored, with every number exact; " +
      "the first step gets `undefined`.",
    clauses: ["limits-store.modify.initial", "limits-store.modify.stored"],
    examples: [
      [...States.extremes, ...States.extremes.toReversed()].map((state) => ({ key: 0, state })),
      [0, 1, 0, 0, 2].map((key, index) => ({ key, state: States.numbered(index) })),
      [0, 0, 1, 0].map((key): Write => ({ key, state: "same" }))
    ],
    cases: fc.array(write, { maxLength: 20, size: "max" }),
    runs: { port: 30, http: 0 },
    *holds(limits, writes, trial) {
      const stored = new Map<number, States.State>()
      for (const { key, state } of writes) {
        const expected = stored.get(key)
        const before =
          state === "same"
            ? yield* States.read(limits, `key:${key}`, trial)
            : yield* States.replace(limits, `key:${key}`, state, trial)
        yield* States.expectSame(before, expected, `the step on key:${key} to get`)
        stored.set(key, state === "same" ? (expected ?? States.numbered(0)) : state)
      }
    }
  }),
  law({
    id: "limits-store.answer",
    law: "A modify returns exactly the value that its step returns.",
    clauses: ["limits-store.modify.answer"],
    examples: Object.keys(results).map((kind) => ({ kind })),
    *holds(limits, { kind }, trial) {
      const given = results[kind]
      for (const _ of ["first", "later"]) {
        const got = yield* States.modify(
          limits,
          "a",
          `return ${kind} from a step on`,
          () => [given, States.numbered(1)],
          (value) => (Object.is(value, given) ? "the same value" : "something else"),
          trial
        )
        yield* expect(Object.is(got, given), `${kind}, as the step returned it`, "something else")
      }
    }
  }),
  law<ReadonlyArray<Write>>({
    id: "limits-store.read",
    law: "A store with `read` returns the states of the given keys as `modify` stored them, and changes none.",
    clauses: ["limits-store.read"],
    examples: [
      [],
      States.extremes.map((state, index) => ({ key: index % 2, state })),
      [0, 2, 0].map((key, index) => ({ key, state: States.numbered(index) }))
    ],
    cases: fc.array(write, { maxLength: 10 }),
    runs: { port: 15, http: 0 },
    *holds(limits, writes, trial) {
      const { read } = limits
      if (read === undefined) return yield* inapplicable("the store has no `read`")
      const stored = new Map<string, States.State>()
      for (const { key, state } of writes) {
        if (state === "same") continue
        yield* States.replace(limits, `key:${key}`, state, trial)
        stored.set(`key:${key}`, state)
      }
      const wanted = ["key:2", "key:none", "key:0"]
      for (const _ of ["once", "again"]) {
        const { states } = yield* portCall(
          trial,
          `read ${wanted.join(", ")}`,
          () => read(wanted, 0),
          (found) => `${found.states.size} states`
        )
        yield* expect(
          [...states.keys()].every((key) => wanted.includes(key)),
          "states of these keys only",
          [...states.keys()].join(", ")
        )
        for (const key of wanted) {
          yield* States.expectSame(states.get(key), stored.get(key), `the state of ${key},`)
        }
      }
      for (const key of ["key:0", "key:1"]) {
        yield* States.expectSame(
          yield* States.read(limits, key, trial),
          stored.get(key),
          `the state of ${key} after that,`
        )
      }
    }
  }),
  law({
    id: "limits-store.keys-apart",
    law: "A step on one key does not affect the state of another key, however similar the keys are.",
    clauses: ["limits-store.modify.keys-apart"],
    examples: [keys],
    cases: fc.uniqueArray(fc.oneof(Texts.text, fc.constantFrom(...keys)), { maxLength: 12 }),
    runs: { port: 20, http: 0 },
    *holds(limits, all, trial) {
      for (const round of [0, 1]) {
        for (const [index, key] of all.entries()) {
          const before = yield* States.replace(
            limits,
            key,
            States.numbered(index + (round + 1) * all.length),
            trial
          )
          const expected = round === 0 ? undefined : States.numbered(index + all.length)
          yield* States.expectSame(before, expected, `the state stored for ${States.nameOf(key)},`)
        }
      }
    }
  }),
  law({
    id: "limits-store.kept-in-a-crowd",
    law: "A state that still affects decisions is kept, however many others are stored.",
    clauses: ["limits-store.kept"],
    examples: [{ others: 2_000 }],
    *holds(limits, { others }, trial) {
      // The first hundred callers; most states affect decisions because of only one of their numbers.
      const first = Array.from({ length: 100 }, (_, index) => {
        const state = States.extremes[index % States.extremes.length] ?? States.numbered(index)
        return [`key:${index}`, { ...state, used: index }] as const
      })
      for (const [key, state] of first) yield* States.replace(limits, key, state, trial)
      const crowd = Effect.forEach(
        Array.from({ length: others }, (_, index) => index),
        (index) => limits.modify(`network:${index}`, () => [undefined, States.numbered(index)]),
        { concurrency: 50, discard: true }
      )
      yield* portCall(
        trial,
        `store the states of ${others} other callers`,
        () => crowd,
        () => "done"
      )
      for (const [key, state] of first) {
        const left = yield* States.read(limits, key, trial)
        yield* States.expectSame(left, state, `the state of ${key} kept,`)
      }
      const newest = yield* States.read(limits, `network:${others - 1}`, trial)
      yield* expect(
        States.isSame(newest, States.numbered(others - 1)),
        "the newest state kept",
        States.describe(newest)
      )
    }
  })
]
