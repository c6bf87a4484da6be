/** Makes calls of `RateLimitStore`: steps on unusual states and keys, and requests around all boundaries of a state. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import { step } from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Input, Output, State } from "./LimitModel.ts"
import * as LimitModel from "./LimitModel.ts"
import type { Case, Client, ClientCall, Port, Reasons } from "./Port.ts"
import * as Requests from "./Requests.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

type Call =
  | { readonly do: "store"; readonly key: string; readonly state: States.State }
  | { readonly do: "look"; readonly key: string }
  | { readonly do: "add"; readonly key: string }
  | { readonly do: "answer"; readonly key: string; readonly result: string }
  | { readonly do: "throw"; readonly key: string; readonly thrown: string }
  | {
      readonly do: "count"
      readonly key: string
      readonly isNative: boolean
      /** Null for the policy of the previous request. */
      readonly policy: Requests.Policy | null
      readonly origin: Requests.Origin
      readonly offsetMs: number
    }
  | { readonly do: "read"; readonly keys: ReadonlyArray<string> }
  | { readonly do: "crowd"; readonly others: number }
  | { readonly do: "rehearse" }

type Limits = RateLimitStore["Service"]

/** Results of steps that a store might inspect by mistake, and values that a step with a bug may throw. */
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
  "an option": Option.none(),
  "a string": "a result"
}

const thrown = ["an error", "a string", "undefined"] as const

/** State keys as the service creates them, and unusual ones; many differ only slightly. */
const similar: ReadonlyArray<string> = [
  ...Texts.awkward,
  ...["key:a", "key:A", "key:a ", "key:ab", "key"],
  ...["network:2001:db8::/64", "network:2001:DB8::/64", "network:192.0.2.1", "network:192.0.2.10"],
  ...[`${"k".repeat(299)}a`, `${"k".repeat(299)}b`]
]

const names = ["key:0", "key:1", "key:2"] as const
const counted = ["key:counted", "key:Counted"] as const

const record = <A>(fields: { readonly [K in keyof A]: fc.Arbitrary<A[K]> }): fc.Arbitrary<A> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<A> // all fields are required
const is = <Name extends string>(name: Name): fc.Arbitrary<Name> => fc.constant(name)

const key: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.constantFrom(...similar, "a", "b") },
  { weight: 1, arbitrary: Texts.text }
)
const addCall = record({ do: is("add"), key })
const storeCall = record({ do: is("store"), key, state: States.state })
const throwCall = record({ do: is("throw"), key, thrown: fc.constantFrom(...thrown) })
const readCall = record({ do: is("read"), keys: fc.uniqueArray(key, { maxLength: 4 }) })
const lookCall = record({ do: is("look"), key })
const countCall = record({
  do: is("count"),
  key: fc.constantFrom(counted[0], counted[0], counted[0], counted[1]),
  isNative: fc.boolean(),
  policy: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: Requests.policy }),
  origin: Requests.origin,
  offsetMs: Requests.offsetMs
})
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 24, arbitrary: countCall },
  { weight: 6, arbitrary: storeCall },
  { weight: 4, arbitrary: lookCall },
  { weight: 2, arbitrary: addCall },
  { weight: 2, arbitrary: throwCall },
  { weight: 2, arbitrary: readCall },
  {
    weight: 1,
    arbitrary: record({ do: is("answer"), key, result: fc.constantFrom(...Object.keys(results)) })
  },
  { weight: 1, arbitrary: record({ do: is("rehearse") }) },
  { weight: 0, arbitrary: record({ do: is("crowd"), others: fc.nat(3_000) }) }
)

const none: ReadonlyMap<string, undefined> = new Map()

const client = (limits: Limits, reasons: Reasons): Client<Call, Input, Output> => {
  const states = new Map<string, RateLimit.State | undefined>()
  const used = new Set<string>()
  let clock = Requests.BEGINNING
  let policy: Requests.Policy = { plan: { perMinute: 3, perDay: 9 }, ban: "offending" }

  /** Runs a step that returns the state before it. */
  const modify = (of: string, after: (before: RateLimit.State | undefined) => RateLimit.State) =>
    Effect.map(
      limits.modify(of, (before) => [before, after(before)]),
      (before): Output => ({ says: "", states: new Map([[of, before]]) })
    )

  const count = (given: Call & { readonly do: "count" }, isAlone: boolean) => {
    policy = given.policy ?? policy
    const inForce = { plan: policy.plan, ban: Requests.bans[policy.ban] }
    const now = Requests.timeOf(given.origin, clock, states.get(given.key), inForce) + given.offsetMs
    clock = now
    const isNative =
      given.isNative && limits.consume !== undefined && !reasons.has("limits-store.consume.equal")
    const decide =
      (isNative ? limits.consume?.(given.key, now, inForce) : undefined) ??
      limits.modify(given.key, (state) => step(state, now, inForce))
    const look = limits.modify(given.key, (state) => [state, state ?? LimitModel.blank])
    const make = Effect.gen(function* () {
      const verdict = yield* decide
      const shown = new Map<string, RateLimit.State | undefined>()
      if (isAlone) {
        const after = yield* look
        states.set(given.key, after)
        shown.set(given.key, after)
      }
      return { says: LimitModel.verdictText(verdict), states: shown, verdict }
    })
    return { input: { do: "count", key: given.key, isNative, now, policy: inForce } as const, make }
  }

  return {
    begin: (given, isAlone) => {
      if ("key" in given) used.add(given.key)
      switch (given.do) {
        case "store": {
          const state = States.unspent(given.state)
          return { input: { ...given, state }, make: modify(given.key, () => state) }
        }
        case "look":
          return { input: given, make: modify(given.key, (before) => before ?? LimitModel.blank) }
        case "add":
          return {
            input: given,
            make: modify(given.key, (before = LimitModel.blank) => ({ ...before, used: before.used + 1 }))
          }
        case "answer": {
          const result = results[given.result]
          const make = Effect.map(
            limits.modify(given.key, () => [result, States.numbered(1)]),
            (got) => ({ says: Object.is(got, result) ? LimitModel.SAME : "something else", states: none })
          )
          return { input: given, make }
        }
        case "throw": {
          const throwing = limits.modify(given.key, () => {
            throw results[given.thrown]
          })
          return {
            input: given,
            make: throwing,
            failed: (exit) => ({ says: Exit.isFailure(exit) ? LimitModel.FAILED : "a result", states: none })
          }
        }
        case "count":
          return count(given, isAlone)
        case "read": {
          const read = limits.read?.(given.keys, clock)
          if (read === undefined) return undefined
          return { input: given, make: Effect.map(read, (found) => ({ says: "", states: found.states })) }
        }
        case "crowd": {
          const others = Array.from({ length: given.others }, (_, index) => index)
          const make = Effect.forEach(
            others,
            (index) => limits.modify(LimitModel.crowdKey(index), () => [undefined, States.numbered(index)]),
            { concurrency: 50, discard: true }
          )
          return { input: given, make: Effect.as(make, { says: "done", states: none }) }
        }
        case "rehearse":
          return limits.rehearse === undefined
            ? undefined
            : { input: given, make: Effect.as(limits.rehearse, { says: "done", states: none }) }
      }
    },
    closing: () => [...used].map((of): Call => ({ do: "look", key: of }))
  }
}

const consuming = [
  "limits-store.consume.equal",
  "limits-store.consume.clock",
  "limits-store.consume.atomic"
] as const

/** Also finds out whether the store counts by a clock of its own, whose time is unknown. */
const examine = Effect.fnUntraced(function* ({ consume, modify, read }: Limits) {
  const lacking = new Map<ClauseSlug, string>()
  const undecided = new Map<ClauseSlug, string>()
  if (read === undefined) lacking.set("limits-store.read", "the store has no `read`")
  if (consume === undefined) {
    for (const clause of consuming) lacking.set(clause, "the store has no `consume`")
    return { lacking, undecided }
  }
  yield* consume("clock", Requests.BEGINNING, { plan: { perMinute: 60, perDay: 60 }, ban: undefined })
  const at = yield* modify("clock", (state = LimitModel.blank) => [state.at, state])
  if (Math.abs(at - Requests.BEGINNING) > 365 * Requests.DAY) {
    const reason = "the store counts by its own clock: open it with the service's clock"
    for (const clause of consuming) undecided.set(clause, reason)
  }
  return { lacking, undecided }
})

const request = (
  offsetMs: number,
  more: Partial<Omit<Call & { readonly do: "count" }, "do">> = {}
): Call => ({
  do: "count",
  key: counted[0],
  isNative: true,
  policy: null,
  origin: "clock",
  offsetMs,
  ...more
})

const requests = (count: number, intervalMs: number, first: Call): ReadonlyArray<Call> => [
  first,
  ...Array.from({ length: count - 1 }, () =>
    request(intervalMs, "key" in first ? { key: first.key as "key:counted" } : {})
  )
]

/** A caller that is banned at each level in sequence, and then gets the policy `only`. */
const offender = (ban: "quick" | "offending"): ReadonlyArray<Call> =>
  [...Requests.bans[ban].durationsMs.map(() => ban), "only" as const].flatMap((inForce) =>
    requests(
      6,
      Requests.SECOND,
      request(0, { policy: { plan: { perMinute: 1, perDay: 9 }, ban: inForce }, origin: "ban end" })
    )
  )

const unbanned = (perMinute: number, perDay: number) => ({
  policy: { plan: { perMinute, perDay }, ban: "never" } as const
})

const [b] = [{ key: counted[1] }]

const store = (of: string, state: States.State): Call => ({ do: "store", key: of, state })
const look = (of: string): Call => ({ do: "look", key: of })
const add = (of: string): Call => ({ do: "add", key: of })
const alone = (calls: ReadonlyArray<Call>): ReadonlyArray<ClientCall<Call>> =>
  calls.map((each) => ({ call: each, turns: null }))
const keysOf = (letters: string): ReadonlyArray<string> => [...letters].map((letter) => `key:${letter}`)
const swaps = (letters: string, from: number): ReadonlyArray<Call> =>
  keysOf(letters).map((of, index) => store(of, States.numbered(from + index)))
const interrupted = (turns: ReadonlyArray<number>): ReadonlyArray<ClientCall<Call>> =>
  turns.flatMap((after) => [
    { call: add("key:a"), turns: after },
    { call: add("key:a"), turns: null }
  ])
/** The first hundred callers; most of their states affect decisions because of only one of their numbers. */
const first = Array.from({ length: 100 }, (_, index) =>
  store(`key:${index}`, {
    ...(States.extremes[index % States.extremes.length] ?? States.numbered(0)),
    used: index
  })
)

const boundaries: ReadonlyArray<Partial<Case<Call>>> = [
  { calls: [...States.extremes, ...States.extremes.toReversed()].map((state) => store("key:0", state)) },
  { calls: [0, 1, 0, 0, 2].map((each, index) => store(`key:${each}`, States.numbered(index))) },
  { calls: [...keysOf("0010").map(look), ...keysOf("01").map((of) => add(of)), ...keysOf("01").map(look)] },
  { calls: [similar, similar].flat().map((of, index) => store(of, States.numbered(index))) },
  ...Object.keys(results).map((result) => ({
    calls: ["first", "later"].map((): Call => ({ do: "answer", key: "key:a", result }))
  })),
  {
    calls: [
      { do: "read", keys: ["key:0", "key:none"] },
      ...States.extremes.map((state, index) => store(`key:${index % 2}`, state)),
      { do: "rehearse" },
      ...["once", "again"].map((): Call => ({ do: "read", keys: ["key:2", "key:none", "key:0"] })),
      ...keysOf("01").map(look)
    ]
  },
  ...thrown.flatMap(
    (each): ReadonlyArray<Partial<Case<Call>>> => [
      {
        calls: [
          store("key:a", States.numbered(5)),
          { do: "throw", key: "key:a", thrown: each },
          look("key:a")
        ]
      },
      {
        calls: ["key:a", "key:b"].flatMap(
          (of): ReadonlyArray<Call> => [{ do: "throw", key: of, thrown: each }, look(of)]
        ),
        clients: [
          ...["key:b", "key:c"].map((of) => alone([{ do: "throw", key: of, thrown: each }])),
          ...Array.from({ length: 4 }, () => alone([add("key:b"), add("key:b")]))
        ]
      }
    ]
  ),
  {
    calls: [
      ...first,
      { do: "crowd", others: 2_000 },
      ...first.map((each) => look("key" in each ? each.key : "")),
      look(LimitModel.crowdKey(1_999))
    ]
  },
  { calls: offender("quick") },
  { calls: offender("offending") },
  {
    calls: [
      ...requests(5, 1, request(0, unbanned(3, 5))),
      ...requests(4, 1, request(0, { origin: "last refill" })),
      ...requests(2, 1, request(-1, { origin: "midnight" })),
      ...requests(2, 1, request(0)),
      ...requests(2, 1, request(-Requests.DAY)),
      request(0, { isNative: false }),
      // The remaining budget of the other key exceeds the plan of its next request.
      request(0, { ...unbanned(60, 1_000), ...b }),
      ...requests(4, 1, request(0, { ...unbanned(3, 5), ...b }))
    ]
  },
  // More requests than slots, by a caller that cannot be banned.
  { calls: requests(6, 1, request(0, unbanned(2, 9))) },
  // Slots that are used, dropped, and released while the daily limit is used up.
  {
    calls: [
      ...requests(7, 1, request(0, unbanned(4, 6))),
      ...requests(3, 1, request(0, { origin: "retry" })),
      ...requests(2, 1, request(5 * Requests.SECOND)),
      ...requests(5, 1, request(0, { origin: "midnight" }))
    ]
  },
  // A clock that steps back, by less and by more than a minute, and forth again.
  {
    calls: [-500, -40_000, 1, -90_000, 30_000, 1, 70_000, 1].flatMap((offset) =>
      requests(4, 0, request(offset, unbanned(3, 1_000)))
    )
  },
  { clients: Array.from({ length: 100 }, () => alone([add("key:a")])) },
  { clients: Array.from({ length: 150 }, (_, index) => alone([add(`key:${index % 3}`)])) },
  ...[unbanned(50, 1_000), unbanned(1_000, 25)].map((policy) => ({
    calls: [request(0, { ...policy, ...b })],
    clients: Array.from({ length: 60 }, (_, index) => alone([request(0, { isNative: index % 2 === 0 })]))
  })),
  ...[null, 1, 2, 3].flatMap((order) => [
    { order, clients: [swaps("aab", 1), swaps("aba", 11), swaps("aaa", 21)].map(alone) },
    { order, clients: [keysOf("aaa"), keysOf("aab"), keysOf("aba")].map((all) => alone(all.map(add))) },
    {
      order,
      calls: [request(0, { ...unbanned(5, 100), ...b })],
      clients: [0, 1, 2].map((index) => alone([request(0), request(0), request(0, { isNative: index > 1 })]))
    }
  ]),
  ...[1, 2].map((order) => ({
    order,
    calls: [store("key:a", States.numbered(3))],
    clients: [interrupted([0, 1, 2, 3, 4, 6])]
  })),
  ...[3, 4].map((order) => ({
    order,
    calls: [store("key:a", States.numbered(3))],
    clients: [
      interrupted([0, 4, 8, 16, 32]),
      alone(keysOf("aaaaa").map(add)),
      alone(keysOf("aaaaa").map(add))
    ]
  }))
]

export const limits: Port<RateLimitStore, Limits, State, Call, Input, Output> = {
  name: "limits-store",
  noun: "store of rate limits",
  tag: RateLimitStore,
  storeOf: ({ rateLimitStore }) => rateLimitStore,
  clauses: { interruption: "limits-store.interruption", failsTyped: "limits-store.fails-typed" },
  owns: (clause) => clause.startsWith("limits-store.") || clause.startsWith("limits.clock-"),
  model: LimitModel.model,
  client,
  examine,
  calls: {
    call,
    clientCall: fc.oneof(
      { weight: 2, arbitrary: record({ do: is("add"), key: fc.constantFrom(...names) }) },
      {
        weight: 2,
        arbitrary: record({ do: is("store"), key: fc.constantFrom(...names), state: States.state })
      },
      { weight: 1, arbitrary: readCall },
      { weight: 1, arbitrary: throwCall },
      { weight: 1, arbitrary: countCall }
    ),
    interruptible: fc.oneof(record({ do: is("add"), key: fc.constantFrom(...names) }), storeCall)
  },
  boundaries,
  outage: [
    store("key:a", States.numbered(0)),
    { do: "answer", key: "key:a", result: "a string" },
    { do: "throw", key: "key:a", thrown: "an error" },
    request(0),
    { do: "read", keys: ["key:a"] },
    { do: "rehearse" }
  ]
}
