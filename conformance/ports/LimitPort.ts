/** The port `RateLimitStore`, with the boundary cases of its calls. */
import * as Effect from "effect/Effect"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Call, Count } from "./LimitCalls.ts"
import * as LimitCalls from "./LimitCalls.ts"
import * as LimitModel from "./LimitModel.ts"
import { alone, type Case, type ClientCall, type Port } from "./Port.ts"
import * as Requests from "./Requests.ts"
import * as States from "./States.ts"

const store = (key: string, state: States.State): Call => ({ do: "store", key, state })
const look = (key: string): Call => ({ do: "look", key })
const add = (key: string): Call => ({ do: "add", key })
const fail = (key: string, thrown: (typeof LimitCalls.thrown)[number]): Call => ({ do: "throw", key, thrown })
const answer = (result: string): Call => ({ do: "answer", key: "key:a", result })
const read = (...keys: ReadonlyArray<string>): Call => ({ do: "read", keys })

/** Keys from letters, such as `key:a` and `key:b` from `ab`. */
const keysOf = (letters: string): ReadonlyArray<string> => [...letters].map((letter) => `key:${letter}`)
const swaps = (letters: string, from: number): ReadonlyArray<Call> =>
  keysOf(letters).map((key, index) => store(key, States.numbered(from + index)))
const interrupted = (turns: ReadonlyArray<number>): ReadonlyArray<ClientCall<Call>> =>
  turns.flatMap((after) => [{ call: add("key:a"), turns: after }, ...alone([add("key:a")])])

const request = (offsetMs: number, more: Partial<Count> = {}): Call => ({
  do: "count",
  key: LimitCalls.counted[0],
  isNative: true,
  policy: null,
  origin: "clock",
  offsetMs,
  ...more
})
const requests = (
  count: number,
  intervalMs: number,
  first: Partial<Count>,
  offsetMs = 0
): ReadonlyArray<Call> => [
  request(offsetMs, first),
  ...Array.from({ length: count - 1 }, () =>
    request(intervalMs, first.key === undefined ? {} : { key: first.key })
  )
]
const plan = (perMinute: number, perDay: number, ban: Requests.BanName = "never") => ({
  policy: { plan: { perMinute, perDay }, ban }
})
const other = { key: LimitCalls.counted[1] }

/** A caller that is banned at each level in sequence, and then gets a policy with a single level. */
const offender = (ban: "quick" | "offending"): ReadonlyArray<Call> =>
  [...Requests.bans[ban].durationsMs.map(() => ban), "only" as const].flatMap((inForce) =>
    requests(6, Requests.SECOND, { ...plan(1, 9, inForce), origin: "ban end" })
  )

/** The first hundred callers; most of their states affect decisions because of only one of their numbers. */
const first = Array.from({ length: 100 }, (_, index) => ({
  key: `key:${index}`,
  state: { ...(States.extremes[index % States.extremes.length] ?? States.numbered(0)), used: index }
}))

const boundaries: ReadonlyArray<Partial<Case<Call>>> = [
  { calls: [...States.extremes, ...States.extremes.toReversed()].map((state) => store("key:0", state)) },
  { calls: keysOf("01002").map((key, index) => store(key, States.numbered(index))) },
  { calls: [...keysOf("0010").map(look), ...keysOf("01").map(add), ...keysOf("01").map(look)] },
  {
    calls: [...LimitCalls.similar, ...LimitCalls.similar].map((key, index) =>
      store(key, States.numbered(index))
    )
  },
  ...Object.keys(LimitCalls.results).map((result) => ({ calls: [answer(result), answer(result)] })),
  {
    calls: [
      read("key:0", "key:none"),
      ...States.extremes.map((state, index) => store(`key:${index % 2}`, state)),
      { do: "rehearse" },
      ...[read("key:2", "key:none", "key:0"), read("key:2", "key:none", "key:0")],
      ...keysOf("01").map(look)
    ]
  },
  ...LimitCalls.thrown.flatMap(
    (thrown): ReadonlyArray<Partial<Case<Call>>> => [
      { calls: [store("key:a", States.numbered(5)), fail("key:a", thrown), look("key:a")] },
      {
        calls: keysOf("ab").flatMap((key) => [fail(key, thrown), look(key)]),
        clients: [
          ...keysOf("bc").map((key) => alone([fail(key, thrown)])),
          ...Array.from({ length: 4 }, () => alone(keysOf("bb").map(add)))
        ]
      }
    ]
  ),
  {
    calls: [
      ...first.map(({ key, state }) => store(key, state)),
      { do: "crowd", others: 2_000 },
      ...first.map(({ key }) => look(key)),
      look(LimitModel.crowdKey(1_999))
    ]
  },
  { calls: offender("quick") },
  { calls: offender("offending") },
  {
    calls: [
      ...requests(5, 1, plan(3, 5)),
      ...requests(4, 1, { origin: "last refill" }),
      ...requests(2, 1, { origin: "midnight" }, -1),
      ...requests(2, 1, {}),
      ...requests(2, 1, {}, -Requests.DAY),
      request(0, { isNative: false }),
      // The remaining budget of the other key exceeds the plan of its next request.
      request(0, { ...plan(60, 1_000), ...other }),
      ...requests(4, 1, { ...plan(3, 5), ...other })
    ]
  },
  // More requests than slots, by a caller that cannot be banned.
  { calls: requests(6, 1, plan(2, 9)) },
  // Slots that are used, dropped, and released while the daily limit is used up.
  {
    calls: [
      ...requests(7, 1, plan(4, 6)),
      ...requests(3, 1, { origin: "retry" }),
      ...requests(2, 1, {}, 5 * Requests.SECOND),
      ...requests(5, 1, { origin: "midnight" })
    ]
  },
  // A clock that steps back, by less and by more than a minute, and forth again.
  {
    calls: [-500, -40_000, 1, -90_000, 30_000, 1, 70_000, 1].flatMap((offset) =>
      requests(4, 0, plan(3, 1_000), offset)
    )
  },
  { clients: Array.from({ length: 100 }, () => alone([add("key:a")])) },
  { clients: Array.from({ length: 150 }, (_, index) => alone([add(`key:${index % 3}`)])) },
  ...[plan(50, 1_000), plan(1_000, 25)].map((policy) => ({
    calls: [request(0, { ...policy, ...other })],
    clients: Array.from({ length: 60 }, (_, index) => alone([request(0, { isNative: index % 2 === 0 })]))
  })),
  ...[null, 1, 2, 3].flatMap(
    (order): ReadonlyArray<Partial<Case<Call>>> => [
      { order, clients: [swaps("aab", 1), swaps("aba", 11), swaps("aaa", 21)].map(alone) },
      { order, clients: ["aaa", "aab", "aba"].map((letters) => alone(keysOf(letters).map(add))) },
      {
        order,
        calls: [request(0, { ...plan(5, 100), ...other })],
        clients: [0, 1, 2].map((index) =>
          alone([request(0), request(0), request(0, { isNative: index > 1 })])
        )
      },
      {
        order: order ?? 4,
        calls: [store("key:a", States.numbered(3))],
        clients: [
          interrupted(order === 1 ? [0, 1, 2, 3, 4, 6] : [0, 4, 8, 16, 32]),
          ...(order === 1 ? [] : ["aaaaa", "aaaaa"].map((letters) => alone(keysOf(letters).map(add))))
        ]
      }
    ]
  )
]

const consuming = [
  "limits-store.consume.equal",
  "limits-store.consume.clock",
  "limits-store.consume.atomic"
] as const

type Limits = RateLimitStore["Service"]

/** Also finds out whether the store counts by a clock of its own, whose time is unknown. */
const examine = Effect.fnUntraced(function* ({ consume, modify, read: reads }: Limits) {
  const lacking = new Map<ClauseSlug, string>()
  const undecided = new Map<ClauseSlug, string>()
  if (reads === undefined) lacking.set("limits-store.read", "the store has no `read`")
  yield* consume("clock", Requests.BEGINNING, { plan: { perMinute: 60, perDay: 60 }, ban: undefined })
  const at = yield* modify("clock", (state = LimitModel.blank) => [state.at, state])
  if (Math.abs(at - Requests.BEGINNING) > 365 * Requests.DAY) {
    const reason = "the store counts by its own clock: open it with the service's clock"
    for (const clause of consuming) undecided.set(clause, reason)
  }
  return { lacking, undecided }
})

export const limits: Port<RateLimitStore, Limits, LimitModel.State, Call, LimitModel.Output> = {
  name: "limits-store",
  tag: RateLimitStore,
  storeOf: ({ rateLimitStore }) => rateLimitStore,
  clauses: { interruption: "limits-store.interruption", failsTyped: "limits-store.fails-typed" },
  owns: (clause) => clause.startsWith("limits-store.") || clause.startsWith("limits.clock-"),
  initial: LimitModel.initial,
  key: LimitModel.stateKey,
  rank: LimitModel.rank,
  failing: {
    store: "limits-store.modify.stored",
    look: "limits-store.modify.stored",
    add: "limits-store.modify.stored",
    answer: "limits-store.modify.answer",
    throw: "limits-store.modify.throwing-step",
    count: "limits-store.modify.stored",
    read: "limits-store.read",
    crowd: "limits-store.kept",
    rehearse: "limits-store.fails-typed"
  },
  concurrent: (made, reasons) => {
    if (made.some((call) => call.do === "throw")) return "limits-store.modify.throwing-step"
    const isNative = made.some((call) => call.do === "count" && call.isNative)
    if (isNative && !reasons.has("limits-store.consume.atomic")) return "limits-store.consume.atomic"
    return made.every((call) => call.do === "add")
      ? "limits-store.modify.atomic"
      : "limits-store.linearizable"
  },
  show: LimitModel.show,
  client: LimitCalls.client,
  examine,
  calls: LimitCalls.calls,
  boundaries,
  outage: [
    ...[store("key:a", States.numbered(0)), answer("a string"), fail("key:a", "an error"), request(0)],
    ...[read("key:a"), { do: "rehearse" } as const]
  ]
}
