/** The calls of `RateLimitStore`: steps on unusual states and keys, and requests around all boundaries of a state. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { nameOf, orNull, type ValueOf, weighted } from "./Arbitraries.ts"
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
const results = {
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
const similar = ["key:a", "network:2001:db8::/64", "network:192.0.2.1", "k".repeat(299)].flatMap((begin) =>
  ["", "a", "A", "0", " ", "\u0301"].map((end) => begin + end)
)
const few = fc.constantFrom("key:0", "key:0", "key:1", "key:2")
const key = weighted<string>([6, few], [3, fc.constantFrom(...similar)], [1, Texts.text])

/** Keys of counted requests, apart from those with arbitrary states. */
const counted = ["key:counted", "key:Counted"] as const

/** What a step stores: the state that it received, one with one more request, nothing because it throws, or another. */
const steps = weighted<"look at" | "add one to" | "throw at" | RateLimit.State>(
  [5, fc.constantFrom("look at", "add one to", "add one to", "add one to", "throw at")],
  [3, States.state]
)

/** Returns the state that a step stores; `undefined` if it throws. */
const stepOf = (step: ValueOf<typeof steps>) => {
  if (step === "throw at") return undefined
  return (before = LimitModel.blank): RateLimit.State =>
    step === "look at"
      ? before
      : step === "add one to"
        ? { ...before, used: before.used + 1 }
        : States.unspent(step)
}

const kind = kinds<Session, LimitModel.State>()

const use = ({ used }: Session, key: string): string => {
  used.add(key)
  return Texts.show(key)
}

const statesText = (states: ReadonlyMap<string, RateLimit.State>): string =>
  [...states].map(([key, state]) => `${key} ${States.describe(state)}`).join(", ")

const look = (key: string): Call => ({ do: "modify", key, step: "look at", result: "undefined" })

/** The first callers of a crowd. */
const first = fc
  .sample(States.state, { seed: 1, numRuns: 100 })
  .map((step, index): Call => ({ do: "modify", key: `key:${index}`, step, result: "undefined" }))

export const limits: Port<RateLimitStore, Limits, Session, LimitModel.State> = {
  name: "limits-store",
  tag: RateLimitStore,
  storeOf: ({ rateLimitStore }) => rateLimitStore,
  alsoOwns: ["limits.clock-back", "limits.clock-lead"],
  initial: LimitModel.initial,
  key: LimitModel.key,
  kinds: {
    modify: kind({
      args: { key, step: steps, result: nameOf(results) },
      weights: { alone: 12, together: 4, interrupted: 2 },
      clause: "limits-store.modify.stored",
      begin: (session, { key, result: name, step }) => {
        const result = results[name]
        const next = stepOf(step)
        let received: RateLimit.State | undefined
        const modifying = session.limits.modify(key, (state) => {
          received = state
          if (next === undefined) throw result
          return [result, next(state)]
        })
        const modified = Effect.map(
          modifying,
          (got): LimitModel.Modified => ({
            result: Object.is(got, result) ? "the result" : "another result",
            received
          })
        )
        const what = typeof step === "string" ? step : `store ${States.describe(step)} for`
        const did = `${what} ${use(session, key)}, with the result ${name}`
        const failure =
          next === undefined ? ({ result: "a failure", received: undefined } as const) : undefined
        return invocation(did, modified, LimitModel.modifiedText, LimitModel.modify(key, next), failure)
      }
    }),
    count: kind({
      args: {
        key: weighted<string>([3, fc.constant(counted[0])], [1, fc.constant(counted[1])]),
        isNative: fc.boolean(),
        /** At most as the whole limit. */
        cost: weighted([6, fc.constant(1)], [2, fc.integer({ min: 2, max: 4 })], [1, fc.constant(1_000)]),
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
        const cost = Math.min(given.cost, plan.perMinute, plan.perDay)
        const isNative = given.isNative && session.hasConsume
        const { consumeMany } = limits
        const counting = (): readonly [
          "modify" | "consume" | "consumeMany",
          ReturnType<Limits["consume"]>
        ] => {
          if (isNative && cost === 1) return ["consume", limits.consume(key, now, inForce)]
          if (isNative && consumeMany !== undefined)
            return ["consumeMany", consumeMany(key, now, inForce, cost)]
          return ["modify", limits.modify(key, (state) => RateLimit.step(state, now, inForce, cost))]
        }
        const [method, verdictOf] = counting()
        const looking = limits.modify(key, (state = LimitModel.blank) => [state, state])
        const did = [
          `count ${cost} for ${use(session, key)} at ${new Date(now).toISOString()} with ${method}`,
          ...[`${plan.perMinute} a minute`, `${plan.perDay} a day`, `ban ${ban}`]
        ].join(", ")
        const counted = Effect.gen(function* (): Effect.fn.Return<LimitModel.Counted, unknown> {
          const verdict = yield* verdictOf
          // Another call could change the state between the two.
          if (!isAlone) return { verdict }
          const after = yield* looking
          states.set(key, after)
          return { verdict, after }
        })
        return invocation(
          did,
          counted,
          LimitModel.countedText,
          LimitModel.count(key, now, inForce, cost, method)
        )
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
          () => "done",
          LimitModel.crowd(others)
        )
      }
    }),
    rehearse: kind({
      args: {},
      weights: { alone: 1 },
      clause: "limits-store.rehearse",
      begin: ({ limits }) => invocation("rehearse", limits.rehearse, () => "done", LimitModel.rehearse)
    })
  },
  concurrent: (made) => {
    if (made.size > 1 && !(made.has("modify") && made.has("count") && made.size === 2))
      return "limits-store.linearizable"
    return made.has("count")
      ? "limits-store.consume.atomic"
      : made.has("modify")
        ? "limits-store.modify.atomic"
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
  optional: {
    read: "limits-store.read",
    rehearse: "limits-store.rehearse",
    consumeMany: "limits-store.consume-many"
  },
  /** Finds out whether the store counts by a clock of its own, whose time is unknown. */
  examine: Effect.fnUntraced(function* ({ consume, modify }): Effect.fn.Return<Reasons, unknown> {
    yield* consume("clock", Requests.BEGINNING, { plan: { perMinute: 60, perDay: 60 }, ban: undefined })
    const at = yield* modify("clock", (state = LimitModel.blank) => [state.at, state])
    if (Math.abs(at - Requests.BEGINNING) <= 365 * Requests.DAY) return new Map()
    const reason = "the store counts by its own clock: open it with the service's clock"
    return new Map<ClauseSlug, string>([
      ["limits-store.consume.equal", reason],
      ["limits-store.consume-many", reason],
      ["limits-store.consume.clock", reason],
      ["limits-store.consume.atomic", reason]
    ])
  }),
  scenarios: [{ calls: [...first, { do: "crowd", others: 2_000 }, look(LimitModel.crowdKey(1_999))] }]
}
