/**
 * The calls of `RateLimitStore`, on unusual states and keys and around boundaries of a state, and its contract as a map
 * of states; requests are counted by the step of the core.
 */
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Draws from "./Draws.ts"
import * as LimitDraws from "./LimitDraws.ts"
import * as Port from "./Port.ts"

type Limits = RateLimitStore["Service"]

/** What a case remembers: the keys that it used, and the time and policy of the latest request. */
interface Session {
  readonly limits: Limits
  readonly used: Set<string>
  clock: number
  policy: RateLimit.Policy
}

interface State {
  readonly states: ReadonlyMap<string, RateLimit.State>
  /** The clause of the latest call that had to leave the state of this key as it was, or of every key. */
  readonly left?: { readonly clause: ClauseSlug; readonly key?: string } | undefined
}

type Begin = Port.Begin<Session, State>

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
const blank = RateLimit.initial(LimitDraws.FUTURE, { perMinute: 1, perDay: 1 })

/** What a step stores: the state that it received, one with one more request, nothing because it throws, or another. */
type Step = "look at" | "add one to" | "throw at" | RateLimit.State
const step = fc.oneof(fc.constantFrom("look at", "add one to", "add one to", "throw at"), LimitDraws.state)

/** Returns the state that a step stores; `undefined` if it throws. */
const stored = (step: Step, before = blank): RateLimit.State | undefined => {
  if (step === "look at") return before
  if (step === "add one to") return { ...before, used: before.used + 1 }
  return step === "throw at" ? undefined : step
}

const textOf = (states: State["states"]): string =>
  [...states]
    .map(([key, state]) => `${Draws.show(key)} ${LimitDraws.describe(state)}`)
    .toSorted()
    .join(", ")

const use = ({ used }: Session, key: string): string => {
  used.add(key)
  return Draws.show(key)
}

const modify =
  (key: string, step: Step, result: unknown): Begin =>
  (session) => {
    const modifying = () =>
      Port.withFunction<RateLimit.State | undefined, readonly [unknown, RateLimit.State]>(
        (change) => session.limits.modify(key, change),
        (state) => {
          const next = stored(step, state)
          if (next === undefined) throw result
          return [result, next]
        }
      )
    const what = typeof step === "string" ? step : `store ${LimitDraws.describe(step)} for`
    return Port.call(modifying, {
      did: `${what} ${use(session, key)}, with the result ${fc.stringify(result)}`,
      show: ({ ending, received }) => `${ending} for ${LimitDraws.describe(received)}`,
      judge: ({ left, states }: State, expect, got) => {
        const before = states.get(key)
        const next = stored(step, before)
        if (next === undefined) {
          const clause = "limits-store.modify.throwing-step"
          expect(clause, got?.ending === Port.A_FAILURE, () => "a failure of the step")
          return { states, left: { clause, key } }
        }
        const shown = got?.received
        const isSame = LimitDraws.isSame(before, shown)
        const others = [...states].filter(([other]) => other !== key)
        const isForeign = others.some(([, state]) => LimitDraws.isSame(state, shown))
        const isLost = before !== undefined && shown === undefined
        const storing = before === undefined ? "limits-store.modify.initial" : "limits-store.modify.stored"
        const leaving = (left?.key ?? key) === key ? left?.clause : undefined
        const expected = () => `the state of ${Draws.show(key)}, ${LimitDraws.describe(before)}`
        const hasResult = got?.ending === Port.THE_RESULT
        expect("limits-store.modify.answer", hasResult, () => "the result of the step")
        expect(leaving ?? (isLost ? "limits-store.kept" : storing), isSame || isForeign, expected)
        if (others.length > 0) expect("limits-store.modify.keys-apart", isSame, expected)
        return { states: new Map(states).set(key, next), left: step === "look at" ? left : undefined }
      }
    })
  }

const look = (key: string) => ({ kind: "modify", begin: modify(key, "look at", undefined) })

/** Describes a verdict, and the state after it, if no other call could change it. */
const countedText = (verdict: RateLimit.Verdict, after?: RateLimit.State): string =>
  `${fc.stringify(verdict)}${after === undefined ? "" : `, and the state ${LimitDraws.describe(after)}`}`

const counting = (method: "consume" | "consumeMany", clause: ClauseSlug) =>
  fc
    .record({
      key: Draws.weighted<string>([3, fc.constant("key:counted")], [1, fc.constant("key:Counted")]),
      most: Draws.weighted([6, fc.constant(1)], [2, fc.nat(4)], [1, fc.constant(1_000)]),
      /** `undefined` for the policy of the previous request. */
      newPolicy: Draws.weighted([9, fc.constant(undefined)], [1, LimitDraws.policy]),
      advanceMs: LimitDraws.advanceMs
    })
    .map(
      ({ advanceMs, key, most, newPolicy }): Begin =>
        (session, isAlone) => {
          session.policy = newPolicy ?? session.policy
          session.clock += advanceMs
          const { clock: now, limits, policy } = session
          const { ban, plan } = policy
          const cost = method === "consume" ? 1 : Math.min(most + 1, plan.perMinute, plan.perDay)
          const counted = Effect.fnUntraced(function* () {
            const verdict = yield* method === "consume"
              ? limits.consume(key, now, policy)
              : (limits.consumeMany?.(key, now, policy, cost) ?? Effect.die("no such method"))
            // Another call could change the state between the two.
            const look = limits.modify(key, (state = blank) => [state, state])
            return [verdict, isAlone ? yield* look : undefined] as const
          })
          return Port.call(counted, {
            did: [
              `count ${cost} for ${use(session, key)} at ${new Date(now).toISOString()} with ${method}`,
              `${plan.perMinute} a minute, ${plan.perDay} a day, ban ${JSON.stringify(ban)}`
            ].join(", "),
            show: ([counted, shown]) => countedText(counted, shown),
            judge: (state: State, expect, got) => {
              const before = state.states.get(key)
              const [verdict, after] = RateLimit.step(before, now, policy, cost)
              const [counted, shown] = got ?? []
              const expected = () => countedText(verdict, shown && after)
              const isEqual = counted !== undefined && countedText(counted, shown) === expected()
              if (shown) expect("limits-store.consume.clock", shown.at === after.at, expected)
              expect(clause, isEqual, expected)
              return { states: new Map(state.states).set(key, after) }
            }
          })
        }
    )

const CROWD = 2_000

/** Stores the states of many networks, which may displace each other, but no other states. */
const crowd: Begin = ({ limits }) => {
  const networks = Array.from({ length: CROWD }, (_, number) => `network:${number}`)
  const store = (network: string) => limits.modify(network, () => [undefined, blank])
  return Port.call(() => Effect.forEach(networks, store, { concurrency: 50, discard: true }), {
    did: `store the states of ${CROWD} networks`,
    show: () => "done",
    judge: ({ states }: State) => ({ states, left: { clause: "limits-store.kept" } })
  })
}

/** The clauses that cannot be decided on a store that counts by a clock of its own. */
const ofClock = [
  "limits-store.consume.equal",
  "limits-store.consume-many",
  "limits-store.consume.clock",
  "limits-store.consume.atomic"
] as const

export const limits: Port.Port<RateLimitStore, Limits, Session, State> = {
  name: "limits-store",
  tag: RateLimitStore,
  storeOf: ({ rateLimitStore }) => rateLimitStore,
  initial: { states: new Map() },
  key: ({ states }) => textOf(states),
  kinds: {
    modify: {
      weight: 12,
      clause: "limits-store.modify.stored",
      together: "limits-store.modify.atomic",
      draw: fc.tuple(key, step, Draws.result).map((given) => modify(...given))
    },
    count: {
      weight: 16,
      clause: "limits-store.consume.equal",
      together: "limits-store.consume.atomic",
      draw: counting("consume", "limits-store.consume.equal")
    },
    countMany: {
      weight: 8,
      clause: "limits-store.consume-many",
      method: "consumeMany",
      draw: counting("consumeMany", "limits-store.consume-many")
    },
    read: {
      weight: 2,
      clause: "limits-store.read",
      together: "limits-store.linearizable",
      method: "read",
      draw: fc.uniqueArray(key, { maxLength: 4 }).map(
        (keys) =>
          ({ clock, limits }) =>
            Port.call(() => limits.read?.(keys, clock), {
              did: `read ${keys.map(Draws.show).join(", ")}`,
              show: ({ states }) => textOf(states),
              judge: (state: State, expect, got) => {
                const own = textOf(new Map([...state.states].filter(([key]) => keys.includes(key))))
                expect("limits-store.read", got !== undefined && textOf(got.states) === own, () => own)
                return state
              }
            })
      )
    },
    crowd: {
      weight: 0,
      clause: "limits-store.kept",
      draw: fc.constant(crowd)
    },
    rehearse: {
      weight: 1,
      clause: "limits-store.rehearse",
      method: "rehearse",
      draw: fc.constant(({ limits }) =>
        Port.call(() => limits.rehearse, {
          did: "rehearse",
          show: () => "done",
          judge: ({ states }: State) => ({ states, left: { clause: "limits-store.rehearse" } })
        })
      )
    }
  },
  together: "limits-store.linearizable",
  open: (limits) => ({
    limits,
    used: new Set(),
    clock: LimitDraws.FUTURE - LimitDraws.MINUTE,
    policy: {
      plan: { perMinute: 3, perDay: 9 },
      ban: {
        strikes: 3,
        withinMs: 3 * LimitDraws.MINUTE,
        strikeIntervalMs: LimitDraws.SECOND,
        durationsMs: [20 * LimitDraws.SECOND, 5 * LimitDraws.MINUTE],
        cleanMs: 10 * LimitDraws.MINUTE
      }
    }
  }),
  closing: ({ used }) => [...used].map(look),
  /** Finds out whether the store counts by a clock of its own, whose time is unknown. */
  examine: Effect.fnUntraced(function* (limits) {
    const now = LimitDraws.FUTURE
    yield* limits.consume("clock", now, { plan: { perMinute: 60, perDay: 60 }, ban: undefined })
    const at = yield* limits.modify("clock", (state = blank) => [state.at, state])
    const reason = "the store counts by its own clock: open it with the service's clock"
    const isOwnClock = Math.abs(at - now) > 365 * LimitDraws.DAY
    return new Map<ClauseSlug, string>(isOwnClock ? ofClock.map((clause) => [clause, reason]) : [])
  }),
  scenarios: [
    fc.constant([
      { kind: "modify", begin: modify("key:0", "add one to", undefined) },
      { kind: "crowd", begin: crowd }
    ])
  ]
}
