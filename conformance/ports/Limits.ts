/**
 * The calls of `RateLimitStore`, on unusual states and keys and around all boundaries of a state, and its contract as a
 * map of states; requests are counted by the step of the core.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Draws from "./Draws.ts"
import { type Call, type Ended, failed, invocation, kinds, law, type Port, type Reasons } from "./Port.ts"
import * as Requests from "./Requests.ts"
import * as States from "./States.ts"

type Limits = RateLimitStore["Service"]

/** What a case remembers: the keys that it used, the counted states, and the time and policy of the latest request. */
interface Session {
  readonly limits: Limits
  readonly isOwnClock: boolean
  readonly used: Set<string>
  readonly states: Map<string, RateLimit.State>
  clock: number
  policy: Requests.Policy
}

interface State {
  readonly states: ReadonlyMap<string, RateLimit.State>
  /** The clause of the latest call that had to leave the state of a key as it was. */
  readonly untouched: ReadonlyMap<string, ClauseSlug>
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
const key = Draws.weighted<string>(
  [6, fc.constantFrom("key:0", "key:0", "key:1", "key:2")],
  [3, fc.constantFrom(...similar)],
  [1, Draws.text]
)

/** The state that steps store for a key without one. */
const blank = RateLimit.initial(States.FUTURE, { perMinute: 1, perDay: 1 })

/** What a step stores: the state that it received, one with one more request, nothing because it throws, or another. */
type Step = "look at" | "add one to" | "throw at" | RateLimit.State
const step = Draws.weighted<Step>(
  [5, fc.constantFrom("look at", "add one to", "add one to", "add one to", "throw at")],
  [3, States.state]
)

/** Returns the state that a step stores; `undefined` if it throws. */
const stored = (step: Step, before = blank): RateLimit.State | undefined => {
  if (step === "look at") return before
  if (step === "add one to") return { ...before, used: before.used + 1 }
  return step === "throw at" ? undefined : States.unspent(step)
}

const look = (key: string): Call => ["modify", { key, step: "look at", result: "undefined" }]

/** If there are more states than this, a lost one was evicted. */
const CROWD = 500

/** Draws the states of callers of this type. */
const callers = (
  type: string,
  count: number
): ReadonlyArray<readonly [key: string, state: RateLimit.State]> =>
  fc
    .sample(States.state, { seed: 1, numRuns: count })
    .map((state, number) => [`${type}:${number}`, States.unspent(state)])

/** The clause that decides whether a step receives the stored state. */
const storing = (
  { states, untouched }: State,
  key: string,
  shown: RateLimit.State | undefined
): ClauseSlug => {
  const [stored, clause] = [states.get(key), untouched.get(key)]
  if (clause !== undefined) return clause
  if (states.size > CROWD) return "limits-store.kept"
  if (!States.isSame(stored, shown)) {
    if (stored !== undefined && shown === undefined) return "limits-store.kept"
    const isForeign = [...states].some(([other, state]) => other !== key && States.isSame(state, shown))
    if (isForeign) return "limits-store.modify.keys-apart"
  }
  return stored === undefined ? "limits-store.modify.initial" : "limits-store.modify.stored"
}

const written = ({ states, untouched }: State, key: string, after: RateLimit.State): State => ({
  states: new Map(states).set(key, after),
  untouched: new Map([...untouched].filter(([other]) => other !== key))
})

/** A verdict, and the state after it, if no other call could change it. */
interface Counted {
  readonly verdict: RateLimit.Verdict
  readonly after?: RateLimit.State | undefined
}

const verdictText = ({ limit, outcome, remaining, resetAt, retryAfter }: RateLimit.Verdict): string =>
  `${outcome}, limit ${limit}, remaining ${remaining}, reset at ${resetAt}, retry after ${retryAfter}`

const countedText = ({ after, verdict }: Counted): string =>
  `${verdictText(verdict)}${after === undefined ? "" : `, and the state ${States.describe(after)}`}`

/** The clause that decides whether a method counts as the step of the core does. */
const clausesOf = {
  modify: "limits-store.modify.stored",
  consume: "limits-store.consume.equal",
  consumeMany: "limits-store.consume-many"
} as const

/** The clauses that cannot be decided on a store that counts by a clock of its own. */
const ofClock = [
  "limits-store.consume.equal",
  "limits-store.consume-many",
  "limits-store.consume.clock",
  "limits-store.consume.atomic"
] as const

/** Maximum lead of a state over the clock. */
const MAX_LEAD_MS = 60_000

const use = ({ used }: Session, key: string): string => {
  used.add(key)
  return Draws.show(key)
}

const kind = kinds<Session, State>()

export const limits: Port<RateLimitStore, Limits, Session, State> = {
  name: "limits-store",
  tag: RateLimitStore,
  storeOf: ({ rateLimitStore }) => rateLimitStore,
  alsoOwns: ["limits.clock-back", "limits.clock-lead"],
  initial: { states: new Map(), untouched: new Map() },
  key: ({ states }) =>
    [...states]
      .map(([key, state]) => `${key} ${States.fields.map((field) => state[field]).join()}`)
      .toSorted()
      .join(),
  kinds: {
    modify: kind({
      args: fc.record({ key, step, result: Draws.nameOf(results) }),
      weights: { alone: 12, together: 4, interrupted: 2 },
      clause: "limits-store.modify.stored",
      begin: (session, { key, result: name, step }) => {
        const result = results[name]
        let received: RateLimit.State | undefined
        const modifying = session.limits.modify(key, (state) => {
          received = state
          const next = stored(step, state)
          if (next === undefined) throw result
          return [result, next]
        })
        const modified = Effect.map(
          modifying,
          (got): Ended<RateLimit.State> => ({
            ending: Object.is(got, result) ? "the result" : "another result",
            received
          })
        )
        const what = typeof step === "string" ? step : `store ${States.describe(step)} for`
        return invocation(modified, {
          did: `${what} ${use(session, key)}, with the result ${name}`,
          failure: step === "throw at" ? failed : undefined,
          show: ({ ending, received }) => `${ending} for ${States.describe(received)}`,
          *judge(state: State, got) {
            const before = state.states.get(key)
            const next = stored(step, before)
            if (next === undefined) {
              const clause = "limits-store.modify.throwing-step"
              yield law(clause, got?.ending === "a failure", () => "a failure of the step")
              return { ...state, untouched: new Map(state.untouched).set(key, clause) }
            }
            const isSame = States.isSame(before, got?.received)
            const expected = () => `the state of ${Draws.show(key)}, ${States.describe(before)}`
            const hasResult = got?.ending === "the result"
            yield law("limits-store.modify.answer", hasResult, () => "the result of the step")
            yield law(storing(state, key, got?.received), isSame, expected)
            if (state.states.size > 1) yield law("limits-store.modify.keys-apart", isSame, expected)
            return written(state, key, next)
          }
        })
      }
    }),
    count: kind({
      args: fc.record({
        key: Draws.weighted<string>([3, fc.constant("key:counted")], [1, fc.constant("key:Counted")]),
        isNative: fc.boolean(),
        /** At most as the whole limit. */
        cost: Draws.weighted(
          [6, fc.constant(1)],
          [2, fc.integer({ min: 2, max: 4 })],
          [1, fc.constant(1_000)]
        ),
        /** Null for the policy of the previous request. */
        policy: Draws.weighted([9, fc.constant(null)], [1, fc.option(Requests.policy)]),
        origin: Requests.origin,
        offsetMs: Requests.offsetMs
      }),
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
        const isNative = given.isNative && !session.isOwnClock
        const native = !isNative
          ? undefined
          : cost === 1
            ? limits.consume(key, now, inForce)
            : limits.consumeMany?.(key, now, inForce, cost)
        const method = native === undefined ? "modify" : cost === 1 ? "consume" : "consumeMany"
        const counting = Effect.gen(function* (): Effect.fn.Return<Counted, unknown> {
          const verdict = yield* native ??
            limits.modify(key, (state) => RateLimit.step(state, now, inForce, cost))
          // Another call could change the state between the two.
          if (!isAlone) return { verdict }
          const after = yield* limits.modify(key, (state = blank) => [state, state])
          states.set(key, after)
          return { verdict, after }
        })
        return invocation(counting, {
          did: [
            `count ${cost} for ${use(session, key)} at ${new Date(now).toISOString()} with ${method}`,
            ...[`${plan.perMinute} a minute`, `${plan.perDay} a day`, `ban ${ban}`]
          ].join(", "),
          show: countedText,
          *judge(state: State, got) {
            const before = state.states.get(key)
            const [verdict, after] = RateLimit.step(before, now, inForce, cost)
            const expected = () => countedText({ verdict, after })
            if (got !== undefined) {
              const isStored = got.after === undefined || States.isSame(got.after, after)
              const isEqual = verdictText(got.verdict) === verdictText(verdict) && isStored
              const isTimely = got.after === undefined || got.after.at === after.at
              const lead = before === undefined ? 0 : before.at - now
              if (lead > 0)
                yield law(lead > MAX_LEAD_MS ? "limits.clock-lead" : "limits.clock-back", isEqual, expected)
              if (method !== "modify") yield law("limits-store.consume.clock", isTimely, expected)
              yield law(clausesOf[method], isEqual, expected)
            }
            return written(state, key, after)
          }
        })
      }
    }),
    read: kind({
      args: fc.record({ keys: fc.uniqueArray(key, { maxLength: 4 }) }),
      weights: { alone: 2, together: 2, interrupted: 1 },
      clause: "limits-store.read",
      begin: ({ clock, limits }, { keys }) => {
        const reading = limits.read?.(keys, clock)
        const states = reading && Effect.map(reading, ({ states }) => states)
        return invocation(states, {
          did: `read ${keys.map(Draws.show).join(", ")}`,
          show: (got) => [...got].map(([key, state]) => `${key} ${States.describe(state)}`).join(", "),
          *judge(state: State, got = new Map()) {
            const wrong = keys.find((key) => !States.isSame(got.get(key), state.states.get(key)))
            const isOnly = [...got.keys()].every((key) => keys.includes(key))
            yield law("limits-store.read", isOnly && wrong === undefined, () =>
              wrong === undefined
                ? "states of these keys only"
                : `${wrong} with ${States.describe(state.states.get(wrong))}`
            )
            return state
          }
        })
      }
    }),
    crowd: kind({
      args: fc.record({ others: fc.nat(3_000) }),
      weights: {},
      clause: "limits-store.kept",
      begin: ({ limits }, { others }) => {
        const crowd = callers("network", others)
        const storing = crowd.map(([key, state]) => limits.modify(key, () => [undefined, state]))
        return invocation(Effect.all(storing, { concurrency: 50, discard: true }), {
          did: `store the states of ${others} other callers`,
          show: () => "done",
          *judge(state: State) {
            return { ...state, states: new Map([...state.states, ...crowd]) }
          }
        })
      }
    }),
    rehearse: kind({
      args: fc.record({}),
      weights: { alone: 1 },
      clause: "limits-store.rehearse",
      begin: ({ limits }) =>
        invocation(limits.rehearse, {
          did: "rehearse",
          show: () => "done",
          *judge(state: State) {
            const untouched = [...state.states.keys()].map((key) => [key, "limits-store.rehearse"] as const)
            return { ...state, untouched: new Map(untouched) }
          }
        })
    })
  },
  concurrent: (made) => {
    const [only, other] = [...made].toSorted()
    if (other === undefined ? only === "count" : only === "count" && other === "modify" && made.size === 2)
      return "limits-store.consume.atomic"
    return made.size === 1 && only === "modify" ? "limits-store.modify.atomic" : "limits-store.linearizable"
  },
  open: (limits, reasons) => ({
    limits,
    isOwnClock: reasons.has("limits-store.consume.equal"),
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
    const at = yield* modify("clock", (state = blank) => [state.at, state])
    const isOwnClock = Math.abs(at - Requests.BEGINNING) > 365 * Requests.DAY
    const reason = "the store counts by its own clock: open it with the service's clock"
    return new Map(isOwnClock ? ofClock.map((clause) => [clause, reason]) : [])
  }),
  scenarios: [
    {
      calls: [
        ...callers("key", 100).map(([key, step]): Call => ["modify", { key, step, result: "undefined" }]),
        ["crowd", { others: 2_000 }],
        look("network:1999")
      ]
    }
  ]
}
