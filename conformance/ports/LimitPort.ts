/** The calls of `RateLimitStore`: steps on unusual states and keys, and requests around all boundaries of a state. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { nameOf, orNull, weighted } from "./Arbitraries.ts"
import * as LimitModel from "./LimitModel.ts"
import { type Call, invocation, kinds, type Port, type Reasons } from "./Port.ts"
import * as Requests from "./Requests.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

type Limits = RateLimitStore["Service"]

/** What a case remembers: the keys that it used, the counted states, and the time and policy of the latest request. */
interface Session {
  readonly limits: Limits
  readonly hasConsume: boolean
  readonly used: Set<string>
  readonly states: Map<string, RateLimit.State>
  clock: number
  policy: Requests.Policy
}

/** Results of steps that a store might inspect by mistake. */
const results: { readonly [name: string]: unknown } = {
  undefined: undefined,
  null: null,
  NaN: Number.NaN,
  "a string": "a result",
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
const similar: ReadonlyArray<string> = [
  ...Texts.awkward,
  ...["key:a", "key:A", "key:a ", "key:ab", "key"],
  ...["network:2001:db8::/64", "network:2001:DB8::/64", "network:192.0.2.1", "network:192.0.2.10"],
  ...[`${"k".repeat(299)}a`, `${"k".repeat(299)}b`]
]
const few = fc.constantFrom("key:0", "key:0", "key:1", "key:2")
const key = weighted<string>([8, few], [1, fc.constantFrom(...similar)], [1, Texts.text])

/** Keys of counted requests, apart from those with arbitrary states. */
const counted = ["key:counted", "key:Counted"] as const

/** What a step stores: the state that it received, one with one more request, or another. */
const stored = fc.oneof(fc.constantFrom("look at", "add one to"), States.state)

const kind = kinds<Session, LimitModel.State>()

const use = ({ used }: Session, key: string): string => {
  used.add(key)
  return Texts.show(key)
}

const receivedText = ({ state }: LimitModel.Received): string => States.describe(state)
const done = (): string => "done"

const statesText = (states: ReadonlyMap<string, RateLimit.State>): string =>
  [...states].map(([key, state]) => `${key} ${States.describe(state)}`).join(", ")

const look = (key: string): Call => ({ do: "modify", key, stored: "look at" })
const add: Call = { do: "modify", key: "key:0", stored: "add one to" }
const rehearse: Call = { do: "rehearse" }
const request: Call = {
  do: "count",
  ...{ key: counted[0], isNative: true, policy: null, origin: "clock", offsetMs: 0 }
}
/** Requests of one caller that exceed the limit of one window. */
const burst = (perMinute: number, perDay: number) => ({
  calls: [{ ...request, key: counted[1], policy: { plan: { perMinute, perDay }, ban: "never" } }],
  clients: Array.from({ length: 60 }, (_, index) => [
    { call: { ...request, isNative: index % 2 === 0 }, turns: null }
  ])
})
const first = fc
  .sample(States.state, { seed: 1, numRuns: 100 })
  .map((stored, index): Call => ({ do: "modify", key: `key:${index}`, stored }))

export const limits: Port<RateLimitStore, Limits, Session, LimitModel.State> = {
  name: "limits-store",
  tag: RateLimitStore,
  storeOf: ({ rateLimitStore }) => rateLimitStore,
  alsoOwns: ["limits.clock-back", "limits.clock-lead"],
  initial: LimitModel.initial,
  key: LimitModel.key,
  kinds: {
    modify: kind({
      args: { key, stored },
      weights: { alone: 10, together: 4, interrupted: 2 },
      clause: "limits-store.modify.stored",
      begin: (session, { key, stored }) => {
        const after = typeof stored === "string" ? stored : States.unspent(stored)
        const step = (before = LimitModel.blank): RateLimit.State =>
          after === "look at"
            ? before
            : typeof after === "string"
              ? { ...before, used: before.used + 1 }
              : after
        const what = typeof after === "string" ? after : `store ${States.describe(after)} for`
        const received = session.limits.modify(key, (state) => [{ state }, step(state)])
        return invocation(
          `${what} ${use(session, key)}`,
          received,
          receivedText,
          LimitModel.modify(key, step)
        )
      }
    }),
    answer: kind({
      args: { key, result: nameOf(results) },
      weights: { alone: 1 },
      clause: "limits-store.modify.answer",
      begin: (session, { key, result: name }) => {
        const result = results[name]
        const isSame = Effect.map(
          session.limits.modify(key, () => [result, LimitModel.blank]),
          (got) => Object.is(got, result)
        )
        const did = `return ${name} from a step on ${use(session, key)}`
        const shown = (same: boolean) => (same ? "the same value" : "something else")
        return invocation(did, isSame, shown, LimitModel.answer(key, name))
      }
    }),
    throw: kind({
      args: { key, thrown: fc.constantFrom("an error", "a string", "undefined") },
      weights: { alone: 2, together: 1 },
      clause: "limits-store.modify.throwing-step",
      begin: (session, { key, thrown }) => {
        const isFailed = Effect.map(
          Effect.exit(
            session.limits.modify(key, () => {
              throw results[thrown]
            })
          ),
          Exit.isFailure
        )
        const did = `run a step that throws ${thrown} on ${use(session, key)}`
        const shown = (failed: boolean) => (failed ? "a failure" : "a result")
        return invocation(did, isFailed, shown, LimitModel.fail(key))
      }
    }),
    count: kind({
      args: {
        key: weighted<string>([3, fc.constant(counted[0])], [1, fc.constant(counted[1])]),
        isNative: fc.boolean(),
        /** Null for the policy of the previous request. */
        policy: weighted([9, fc.constant(null)], [1, orNull(Requests.policy)]),
        origin: Requests.origin,
        offsetMs: Requests.offsetMs
      },
      weights: { alone: 24, together: 1 },
      clause: "limits-store.modify.stored",
      begin: (session, { key, offsetMs, origin, policy, ...given }, isAlone) => {
        const { limits, states } = session
        session.policy = policy ?? session.policy
        const { ban, plan } = session.policy
        const inForce = { plan, ban: Requests.bans[ban] }
        const now = Requests.timeOf(origin, session.clock, states.get(key), inForce) + offsetMs
        session.clock = now
        const isNative = given.isNative && session.hasConsume
        const counting = isNative
          ? limits.consume(key, now, inForce)
          : limits.modify(key, (state) => RateLimit.step(state, now, inForce))
        const looking = limits.modify(key, (state = LimitModel.blank) => [state, state])
        const did = [
          `count a request of ${use(session, key)} at ${new Date(now).toISOString()}${isNative ? "" : " with modify"}`,
          ...[`${plan.perMinute} a minute`, `${plan.perDay} a day`, `ban ${ban}`]
        ].join(", ")
        const counted = Effect.gen(function* (): Effect.fn.Return<LimitModel.Counted, unknown> {
          const verdict = yield* counting
          // Another call could change the state between the two.
          if (!isAlone) return { verdict }
          const after = yield* looking
          states.set(key, after)
          return { verdict, after }
        })
        return invocation(did, counted, LimitModel.countedText, LimitModel.count(key, now, inForce, isNative))
      }
    }),
    read: kind({
      args: { keys: fc.uniqueArray(key, { maxLength: 4 }) },
      weights: { alone: 2, together: 2, interrupted: 1 },
      clause: "limits-store.read",
      begin: ({ clock, limits }, { keys }) => {
        const found = limits.read?.(keys, clock)
        const states = found && Effect.map(found, ({ states }) => states)
        return invocation(
          `read ${keys.map(Texts.show).join(", ")}`,
          states,
          statesText,
          LimitModel.read(keys)
        )
      }
    }),
    crowd: kind({
      args: { others: fc.nat(3_000) },
      weights: {},
      clause: "limits-store.kept",
      begin: ({ limits }, { others }) => {
        const storing = Array.from({ length: others }, (_, index) =>
          limits.modify(LimitModel.crowdKey(index), () => [undefined, States.numbered(index)])
        )
        const making = Effect.all(storing, { concurrency: 50, discard: true })
        return invocation(
          `store the states of ${others} other callers`,
          making,
          done,
          LimitModel.crowd(others)
        )
      }
    }),
    rehearse: kind({
      args: {},
      weights: { alone: 1 },
      clause: "limits-store.rehearse",
      begin: ({ limits }) => invocation("rehearse", limits.rehearse, done, LimitModel.rehearse)
    })
  },
  concurrent: (made) => {
    const others = made.size - (made.has("modify") ? 1 : 0)
    if (others === 0) return "limits-store.modify.atomic"
    if (others === 1 && made.has("count")) return "limits-store.consume.atomic"
    return others === 1 && made.has("throw")
      ? "limits-store.modify.throwing-step"
      : "limits-store.linearizable"
  },
  open: (limits, reasons) => ({
    limits,
    hasConsume: !reasons.has("limits-store.consume.equal"),
    used: new Set(),
    states: new Map(),
    clock: Requests.BEGINNING,
    policy: { plan: { perMinute: 3, perDay: 9 }, ban: "offending" }
  }),
  closing: ({ used }) => [...used].map(look),
  optional: { read: "limits-store.read", rehearse: "limits-store.rehearse" },
  /** Finds out whether the store counts by a clock of its own, whose time is unknown. */
  examine: Effect.fnUntraced(function* ({ consume, modify }): Effect.fn.Return<Reasons, unknown> {
    yield* consume("clock", Requests.BEGINNING, { plan: { perMinute: 60, perDay: 60 }, ban: undefined })
    const at = yield* modify("clock", (state = LimitModel.blank) => [state.at, state])
    if (Math.abs(at - Requests.BEGINNING) <= 365 * Requests.DAY) return new Map()
    const reason = "the store counts by its own clock: open it with the service's clock"
    return new Map<ClauseSlug, string>([
      ["limits-store.consume.equal", reason],
      ["limits-store.consume.clock", reason],
      ["limits-store.consume.atomic", reason]
    ])
  }),
  scenarios: [
    { calls: similar.map((key) => ({ do: "modify", key, stored: "add one to" })) },
    { calls: [...first, { do: "crowd", others: 2_000 }, look(LimitModel.crowdKey(1_999))] },
    { clients: Array.from({ length: 60 }, () => [{ call: add, turns: null }]) },
    ...[burst(50, 1_000), burst(1_000, 25)]
  ],
  outage: [
    add,
    { do: "answer", key: "key:0", result: "a string" },
    request,
    { do: "read", keys: ["key:0"] },
    rehearse
  ]
}
