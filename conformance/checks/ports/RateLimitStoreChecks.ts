/** The promises of RateLimitStore. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as RateLimit from "../../../core/limits/RateLimit.ts"
import { expect, type Failure, undecided, type Violation } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import type { Model } from "../../linearizability/Linearizability.ts"
import { answered } from "../../subjects/PortSubject.ts"
import { type Check, define } from "../Check.ts"
import * as Concurrency from "./Concurrency.ts"
import * as RateLimitHistory from "./RateLimitHistory.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

type Limits = States.Limits

/** What is stored next for one of a few keys; `same` stores what is there already. */
interface Write {
  readonly key: number
  readonly state: States.State | "same"
}

const write: fc.Arbitrary<Write> = fc.record({
  key: fc.nat(2),
  state: fc.oneof({ weight: 4, arbitrary: States.state }, fc.constant("same" as const))
})

/** Answers of steps that a store might be tempted to look into. */
const answers: { readonly [name: string]: unknown } = {
  undefined: undefined,
  null: null,
  NaN: Number.NaN,
  "a large integer": 2n ** 70n,
  "an object": { level: 1 },
  "an array": [[1], 2],
  "a function": () => 1,
  "a symbol": Symbol("answer"),
  "an error": new Error("an answer"),
  "an effect": Effect.fail("an answer"),
  "an exit": Exit.fail("an answer"),
  "an option": Option.none()
}

/** Keys as the service makes them and awkward ones, each of them much like another. */
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

/** What a client of several does: puts a number of its own in the place of the one that is there. */
interface Swap {
  readonly key: "a" | "b"
  readonly number: number
}

/** A register for each of two keys; 0 is in it at first. */
const registers: Model<{ readonly a: number; readonly b: number }, Swap, number> = {
  initial: { a: 0, b: 0 },
  step: (all, { key, number }, output) =>
    output === undefined || all[key] === output ? { ...all, [key]: number } : undefined,
  key: ({ a, b }) => `${a} ${b}`,
  show: ({ key, number }, output) => `${number} put into ${key} in place of ${output}`
}

const clients = fc.array(fc.array(fc.constantFrom("a", "a", "b"), { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 4
})

/** Lets clients swap numbers, all at once, and looks for an order that explains what they got. */
const swaps = (
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
          `put ${number} into`,
          (before) => [before?.used ?? 0, after],
          (before) => `${before} was there`,
          trial
        )
        return (client: number) => history.record(client, { key, number }, swap)
      })
    )
    yield* Concurrency.atOnce(calls)
    yield* Concurrency.explained(registers, history)
  })

/** Steps that fail by a defect of who made them. */
const thrown: { readonly [name: string]: unknown } = {
  "an error": new Error("a bug in the step"),
  "a text": "a bug in the step",
  undefined: undefined
}

/** Makes a step that throws; whether the store dies or fails is its own affair, but it has nothing to answer. */
const throwing = (
  limits: Limits,
  key: string,
  what: string,
  trial: Trial
): Effect.Effect<void, Violation> => {
  const step = (): never => {
    throw thrown[what]
  }
  const did = `make a step that throws ${what} on ${States.nameOf(key)}`
  return Effect.flatMap(Effect.exit(Effect.suspend(() => limits.modify(key, step))), (exit) => {
    trial.record({ did, got: Exit.isSuccess(exit) ? "an answer" : "a failure" })
    return expect(Exit.isFailure(exit), `a failure to ${did}`, "an answer")
  })
}

/** Interrupts steps that count, and counts what is left. */
const interrupted = (
  limits: Limits,
  rounds: ReadonlyArray<Concurrency.Interruption>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const blank = { ...States.numbered(3), used: 0 }
    yield* States.replace(limits, "a", blank, trial)
    let acknowledged = 0
    let unknown = 0
    for (const { beside, turns } of rounds) {
      const others = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: beside }), () => States.increment(limits, "a", trial), {
          concurrency: "unbounded"
        })
      )
      const fiber = yield* Effect.forkChild(
        Effect.suspend(() =>
          limits.modify("a", (before = blank) => [undefined, { ...before, used: before.used + 1 }])
        )
      )
      for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      trial.record({
        did: `count "a", interrupted after ${turns} turns`,
        got: Exit.isSuccess(exit) ? "done" : (Cause.pretty(exit.cause).split("\n")[0] ?? "")
      })
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
      `${acknowledged} counted, and at most ${unknown} interrupted ones`,
      `${used}`
    )
    yield* expect(
      States.isSame(left, { ...blank, used }),
      `the other numbers as they were, ${States.described(blank)}`,
      States.described(left)
    )
  })

/** A verdict in words. */
const verdictText = ({ limit, outcome, remaining, resetAt, retryAfter }: RateLimit.Verdict): string =>
  `${outcome}, limit ${limit}, remaining ${remaining}, reset at ${resetAt}, retry after ${retryAfter}`

/** Counts a request the way the service does, or by `modify`. */
const count = (
  limits: Limits,
  key: string,
  now: number,
  policy: RateLimit.Policy,
  byModify: boolean,
  trial: Trial
): Effect.Effect<RateLimit.Verdict, Violation> =>
  answered(
    trial,
    `count a request of ${key} at ${new Date(now).toISOString()}`,
    Effect.suspend(
      () =>
        (byModify ? undefined : limits.consume?.(key, now, policy)) ??
        limits.modify(key, (state) => RateLimit.step(state, now, policy))
    ),
    verdictText
  )

/** A store that goes by a clock of its own makes its steps at times that nobody else knows. */
const byGivenTime = (limits: Limits, trial: Trial): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const now = RateLimitHistory.BEGINNING
    yield* count(limits, "clock", now, { plan: { perMinute: 60, perDay: 60 }, ban: undefined }, false, trial)
    const at = (yield* States.read(limits, "clock", trial))?.at
    const isOwn = at !== undefined && Math.abs(at - now) > 365 * 86_400_000
    if (isOwn) return yield* undecided("the store counts by its own clock: open it with the service's")
  })

export const checks: ReadonlyArray<Check> = [
  define<"limits", ReadonlyArray<Write>>({
    id: "limits-store.fold",
    law: "A step gets the state that the step before it on the same key stored, every number exact; the first gets none.",
    clauses: ["limits-store.modify.initial", "limits-store.modify.stored"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: [
      [...States.extremes, ...States.extremes.toReversed()].map((state) => ({ key: 0, state })),
      [0, 1, 0, 0, 2].map((key, index) => ({ key, state: States.numbered(index) })),
      [0, 0, 1, 0].map((key): Write => ({ key, state: "same" }))
    ],
    cases: fc.array(write, { maxLength: 20, size: "max" }),
    runs: { port: 30, http: 0 },
    holds: (limits, writes, trial) =>
      Effect.gen(function* () {
        const stored = new Map<number, States.State>()
        for (const { key, state } of writes) {
          const expected = stored.get(key)
          const before =
            state === "same"
              ? yield* States.read(limits, `key:${key}`, trial)
              : yield* States.replace(limits, `key:${key}`, state, trial)
          yield* expect(
            States.isSame(before, expected),
            `the step on key:${key} to get ${States.described(expected)}`,
            States.described(before)
          )
          stored.set(key, state === "same" ? (expected ?? States.numbered(0)) : state)
        }
      })
  }),

  define({
    id: "limits-store.answer",
    law: "A modify answers with the very value that its step returns.",
    clauses: ["limits-store.modify.answer"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: Object.keys(answers).map((answer) => ({ answer })),
    holds: (limits, { answer }, trial) =>
      Effect.gen(function* () {
        const given = answers[answer]
        for (const _ of ["first", "later"]) {
          const got = yield* States.modify(
            limits,
            "a",
            `answer with ${answer} from a step on`,
            () => [given, States.numbered(1)],
            (value) => (Object.is(value, given) ? "it" : "something else"),
            trial
          )
          yield* expect(Object.is(got, given), `${answer}, as the step returned it`, "something else")
        }
      })
  }),

  define({
    id: "limits-store.keys-apart",
    law: "A step on one key touches the state of no other, however alike they are.",
    clauses: ["limits-store.modify.keys-apart"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: [keys],
    cases: fc.uniqueArray(fc.oneof(Texts.text, fc.constantFrom(...keys)), { maxLength: 12 }),
    runs: { port: 20, http: 0 },
    holds: (limits, all, trial) =>
      Effect.gen(function* () {
        for (const round of [0, 1]) {
          for (const [index, key] of all.entries()) {
            const before = yield* States.replace(
              limits,
              key,
              States.numbered(index + (round + 1) * all.length),
              trial
            )
            const expected = round === 0 ? undefined : States.numbered(index + all.length)
            yield* expect(
              States.isSame(before, expected),
              `the own state of ${States.nameOf(key)}, ${States.described(expected)}`,
              States.described(before)
            )
          }
        }
      })
  }),

  define({
    id: "limits-store.kept-in-a-crowd",
    law: "A state that still counts is kept, however many others come.",
    clauses: ["limits-store.kept"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: [{ others: 2_000 }],
    holds: (limits, { others }, trial) =>
      Effect.gen(function* () {
        // The hundred first callers, each known by one of its numbers alone to be still counted.
        const first = Array.from({ length: 100 }, (_, index) => {
          const state = States.extremes[index % States.extremes.length] ?? States.numbered(index)
          return [`key:${index}`, { ...state, used: index }] as const
        })
        for (const [key, state] of first) yield* States.replace(limits, key, state, trial)
        yield* Effect.forEach(
          Array.from({ length: others }, (_, index) => index),
          (index) => limits.modify(`network:${index}`, () => [undefined, States.numbered(index)]),
          { concurrency: 50, discard: true }
        ).pipe((crowd) => answered(trial, `store states of ${others} others`, crowd, () => "done"))
        for (const [key, state] of first) {
          const left = yield* States.read(limits, key, trial)
          yield* expect(
            States.isSame(left, state),
            `the state of ${key} kept, ${States.described(state)}`,
            States.described(left)
          )
        }
        const newest = yield* States.read(limits, `network:${others - 1}`, trial)
        yield* expect(
          States.isSame(newest, States.numbered(others - 1)),
          "the newest state kept",
          States.described(newest)
        )
      })
  }),

  define({
    id: "limits-store.at-once",
    law: "Steps on one key at the same time are made one after the other: each sees what the one before it stored.",
    clauses: ["limits-store.modify.atomic"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: [
      { steps: 100, keys: 1 },
      { steps: 100, keys: 3 }
    ],
    holds: (limits, { keys: many, steps }, trial) =>
      Effect.gen(function* () {
        const seen = yield* Effect.forEach(
          Array.from({ length: steps * many }, (_, index) => `key:${index % many}`),
          (key) => Effect.map(States.increment(limits, key, trial), (number) => `${key} ${number}`),
          { concurrency: "unbounded" }
        )
        const distinct = new Set(seen).size
        yield* expect(distinct === steps * many, `${steps * many} different states seen`, `${distinct}`)
        for (let key = 0; key < many; key++) {
          const used = (yield* States.read(limits, `key:${key}`, trial))?.used
          yield* expect(used === steps, `${steps} steps counted`, `${used}`)
        }
      })
  }),

  define<"limits", ReadonlyArray<ReadonlyArray<"a" | "b">>>({
    id: "limits-store.parallel",
    law: "Steps at the same time answer as if each was made at one moment while it ran.",
    clauses: ["limits-store.linearizable", "limits-store.modify.atomic"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: [
      [
        ["a", "a", "b"],
        ["a", "b", "a"],
        ["a", "a", "a"]
      ]
    ],
    cases: clients,
    runs: { port: 20, http: 0 },
    holds: swaps
  }),

  define<"limits", { readonly seed: number; readonly clients: ReadonlyArray<ReadonlyArray<"a" | "b">> }>({
    id: "limits-store.interleaved",
    law: "However their own steps are interleaved, calls answer as if each took effect at one moment.",
    clauses: ["limits-store.linearizable", "limits-store.modify.atomic"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
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
      Concurrency.interleaved(seed, swaps(limits, programs, trial))
  }),

  define<
    "limits",
    { readonly stored: States.State | undefined; readonly throws: string; readonly beside: number }
  >({
    id: "limits-store.throwing-step",
    law: "A step that throws leaves the state as it was and the store at work, for those who call at the same time, too.",
    clauses: ["limits-store.modify.throwing-step"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    timeoutMs: 10_000,
    examples: Object.keys(thrown).flatMap((throws) =>
      [undefined, States.numbered(5)].map((stored) => ({ stored, throws, beside: 3 }))
    ),
    cases: fc.record({
      stored: fc.option(States.state, { nil: undefined }),
      throws: fc.constantFrom(...Object.keys(thrown)),
      beside: fc.nat(4)
    }),
    runs: { port: 10, http: 0 },
    holds: (limits, { beside, stored, throws }, trial) =>
      Effect.gen(function* () {
        if (stored !== undefined) yield* States.replace(limits, "a", stored, trial)
        yield* throwing(limits, "a", throws, trial)
        yield* throwing(limits, "a", throws, trial)
        const left = yield* States.read(limits, "a", trial)
        yield* expect(
          States.isSame(left, stored),
          `the state as it was, ${States.described(stored)}`,
          States.described(left)
        )
        const others = Array.from({ length: beside }, () => States.increment(limits, "b", trial))
        yield* Effect.all(
          [...others, throwing(limits, "b", throws, trial), ...others, throwing(limits, "c", throws, trial)],
          { concurrency: "unbounded", discard: true }
        )
        const counted = yield* States.increment(limits, "b", trial)
        yield* expect(counted === 2 * beside, `${2 * beside} counted by the others`, `${counted}`)
      })
  }),

  define<"limits", Concurrency.Interruptions>({
    id: "limits-store.interrupted",
    law: "An interrupted modify leaves the state as before or after its step, and the store at work.",
    clauses: ["limits-store.interruption"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    timeoutMs: 10_000,
    examples: Concurrency.interruptionExamples,
    cases: Concurrency.interruptions,
    runs: { port: 5, http: 0 },
    holds: (limits, { rounds, seed }, trial) =>
      Concurrency.interleaved(seed, interrupted(limits, rounds, trial))
  }),

  define<"limits", ReadonlyArray<RateLimitHistory.Move>>({
    id: "limits-store.counts",
    law: "A request is counted, by `consume` where the store offers it, exactly as the core's step would: the same verdict, the same state.",
    clauses: ["limits-store.consume.equal", "limits-store.consume.clock", "limits-store.modify.stored"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    mustSee: ["admitted", "limited", "banned", "a clock that goes back", "a new day"],
    examples: RateLimitHistory.examples,
    cases: RateLimitHistory.moves,
    runs: { port: 20, http: 0 },
    holds: (limits, moves, trial) =>
      Effect.gen(function* () {
        yield* byGivenTime(limits, trial)
        const states = new Map<string, States.State>()
        let clock = RateLimitHistory.BEGINNING
        for (const move of moves) {
          const { byModify, everyMs, key, policy, requests } = move
          clock = RateLimitHistory.timeOf(move, clock, states.get(key))
          for (let request = 0; request < requests; request++) {
            if (request > 0) clock += everyMs
            const before = states.get(key)
            const [expected, after] = RateLimit.step(before, clock, policy)
            const verdict = yield* count(limits, key, clock, policy, byModify, trial)
            yield* expect(
              verdictText(verdict) === verdictText(expected),
              `the verdict ${verdictText(expected)}`,
              verdictText(verdict)
            )
            const left = yield* States.read(limits, key, trial)
            yield* expect(
              States.isSame(left, after),
              `the state ${States.described(after)}`,
              States.described(left)
            )
            trial.saw(expected.outcome)
            if (before !== undefined && clock < before.at) trial.saw("a clock that goes back")
            if (before !== undefined && after.day > before.day) trial.saw("a new day")
            states.set(key, after)
          }
        }
      })
  }),

  define({
    id: "limits-store.counts-at-once",
    law: "Of requests that are counted at the same time exactly as many are admitted as the plan grants.",
    clauses: ["limits-store.consume.atomic", "limits-store.modify.atomic"],
    level: "design",
    profile: "port",
    on: "limits",
    requests: 0,
    examples: [
      { requests: 60, policy: { plan: { perMinute: 50, perDay: 1_000 }, ban: undefined } },
      { requests: 60, policy: { plan: { perMinute: 1_000, perDay: 25 }, ban: undefined } }
    ],
    holds: (limits, { policy, requests }, trial) =>
      Effect.gen(function* () {
        yield* byGivenTime(limits, trial)
        const { perDay, perMinute } = policy.plan
        const granted = Math.min(perMinute, perDay)
        const verdicts = yield* Effect.forEach(
          Array.from({ length: requests }, (_, index) => index % 2 === 0),
          (byModify) => count(limits, "a", RateLimitHistory.BEGINNING, policy, byModify, trial),
          { concurrency: "unbounded" }
        )
        const admitted = verdicts.filter(({ outcome }) => outcome === "admitted")
        yield* expect(admitted.length === granted, `${granted} admitted`, `${admitted.length}`)
        const distinct = new Set(admitted.map(({ remaining }) => remaining)).size
        yield* expect(
          distinct === granted,
          `another rest told to each of ${granted}`,
          `${distinct} different ones`
        )
        const used = (yield* States.read(limits, "a", trial))?.used
        yield* expect(used === granted, `${granted} used`, `${used}`)
      })
  })
]
