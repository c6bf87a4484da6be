/** Makes calls of `RateLimitStore`: steps on unusual states and keys, and requests around all boundaries of a state. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { call, orNull, type ValueOf, weighted } from "./Arbitraries.ts"
import * as LimitModel from "./LimitModel.ts"
import type { Client, Reasons } from "./Port.ts"
import * as Requests from "./Requests.ts"
import * as States from "./States.ts"
import * as Texts from "./Texts.ts"

type Limits = RateLimitStore["Service"]

/** Results of steps that a store might inspect by mistake, and values that a step with a bug may throw. */
export const results: { readonly [name: string]: unknown } = {
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

export const thrown = ["an error", "a string", "undefined"] as const

/** State keys as the service creates them, and unusual ones; many differ only slightly. */
export const similar: ReadonlyArray<string> = [
  ...Texts.awkward,
  ...["key:a", "key:A", "key:a ", "key:ab", "key"],
  ...["network:2001:db8::/64", "network:2001:DB8::/64", "network:192.0.2.1", "network:192.0.2.10"],
  ...[`${"k".repeat(299)}a`, `${"k".repeat(299)}b`]
]

/** The keys whose requests are counted, apart from those with arbitrary states. */
export const counted = ["key:counted", "key:Counted"] as const

const few = fc.constantFrom("key:0", "key:1", "key:2")
const key = weighted<string>([8, few], [1, fc.constantFrom(...similar)], [1, Texts.text])

const kinds = {
  store: call("store", { key, state: States.state }),
  look: call("look", { key }),
  add: call("add", { key }),
  answer: call("answer", { key, result: fc.constantFrom(...Object.keys(results)) }),
  throw: call("throw", { key, thrown: fc.constantFrom(...thrown) }),
  count: call("count", {
    key: weighted<string>([3, fc.constant(counted[0])], [1, fc.constant(counted[1])]),
    isNative: fc.boolean(),
    /** Null for the policy of the previous request. */
    policy: weighted([9, fc.constant(null)], [1, orNull(Requests.policy)]),
    origin: Requests.origin,
    offsetMs: Requests.offsetMs
  }),
  read: call("read", { keys: fc.uniqueArray(key, { maxLength: 4 }) }),
  crowd: call("crowd", { others: fc.nat(3_000) }),
  rehearse: call("rehearse", {})
}

export type Call = ValueOf<(typeof kinds)[keyof typeof kinds]>
export type Count = ValueOf<typeof kinds.count>

const clientAdd = call("add", { key: few })

export const calls = {
  any: fc.oneof<Array<fc.Arbitrary<Call>>>(...Object.values(kinds)),
  call: weighted<Call>(
    ...([
      [24, kinds.count],
      [6, kinds.store],
      [4, kinds.look],
      [2, kinds.add],
      [2, kinds.throw],
      [2, kinds.read],
      [1, kinds.answer],
      [1, kinds.rehearse]
    ] as const)
  ),
  clientCall: weighted<Call>(
    [2, clientAdd],
    [2, kinds.store],
    [1, kinds.read],
    [1, kinds.throw],
    [1, kinds.count]
  ),
  interruptible: weighted<Call>([1, clientAdd], [1, kinds.store])
}

export const client = (
  limits: Limits,
  reasons: Reasons
): Client<LimitModel.State, Call, LimitModel.Output> => {
  const states = new Map<string, RateLimit.State | undefined>()
  const used = new Set<string>()
  let clock = Requests.BEGINNING
  let policy: Requests.Policy = { plan: { perMinute: 3, perDay: 9 }, ban: "offending" }
  const says = (text: string): LimitModel.Output => ({ says: text, states: new Map() })

  /** Runs a step that returns the state before it. */
  const modify = (
    of: string,
    what: string,
    step: (before: RateLimit.State | undefined) => RateLimit.State
  ) => ({
    did: `${what} ${Texts.show(of)}`,
    make: Effect.map(
      limits.modify(of, (before) => [before, step(before)]),
      (before): LimitModel.Output => ({ says: "", states: new Map([[of, before]]) })
    ),
    judge: LimitModel.modify(of, step)
  })

  const count = (given: Count, isAlone: boolean) => {
    policy = given.policy ?? policy
    const { plan } = policy
    const inForce = { plan, ban: Requests.bans[policy.ban] }
    const now = Requests.timeOf(given.origin, clock, states.get(given.key), inForce) + given.offsetMs
    clock = now
    const consuming = reasons.has("limits-store.consume.equal")
      ? undefined
      : limits.consume(given.key, now, inForce)
    const isNative = given.isNative && consuming !== undefined
    const counting = limits.modify(given.key, (state) => RateLimit.step(state, now, inForce))
    const look = limits.modify(given.key, (state) => [state, state ?? LimitModel.blank])
    const make = Effect.gen(function* () {
      const verdict = yield* isNative ? consuming : counting
      const shown = new Map<string, RateLimit.State | undefined>()
      // Another call could change the state between the two.
      if (isAlone) {
        const after = yield* look
        states.set(given.key, after)
        shown.set(given.key, after)
      }
      return { says: LimitModel.verdictText(verdict), states: shown, verdict }
    })
    const how = `${isNative ? "" : " with modify"}, ${plan.perMinute} a minute, ${plan.perDay} a day, ban ${policy.ban}`
    const did = `count a request of ${given.key} at ${new Date(now).toISOString()}${how}`
    return { did, make, judge: LimitModel.count(given.key, now, inForce, isNative) }
  }

  return {
    begin: (given, isAlone) => {
      if ("key" in given) used.add(given.key)
      switch (given.do) {
        case "store": {
          const state = States.unspent(given.state)
          return modify(given.key, `store ${States.describe(state)} for`, () => state)
        }
        case "look":
          return modify(given.key, "look at", (before = LimitModel.blank) => before)
        case "add":
          return modify(given.key, "add one to", (before = LimitModel.blank) => ({
            ...before,
            used: before.used + 1
          }))
        case "answer": {
          const result = results[given.result]
          const make = Effect.map(
            limits.modify(given.key, () => [result, LimitModel.blank]),
            (got) => says(Object.is(got, result) ? LimitModel.SAME : "something else")
          )
          const did = `return ${given.result} from a step on ${Texts.show(given.key)}`
          return { did, make, judge: LimitModel.answer(given.key, given.result) }
        }
        case "throw": {
          const throwing = limits.modify(given.key, () => {
            throw results[given.thrown]
          })
          return {
            did: `run a step that throws ${given.thrown} on ${Texts.show(given.key)}`,
            make: Effect.as(throwing, says("a result")),
            judge: LimitModel.fail(given.key),
            failed: (exit) => (Exit.isSuccess(exit) ? exit.value : says(LimitModel.FAILED))
          }
        }
        case "count":
          return count(given, isAlone)
        case "read": {
          const read = limits.read?.(given.keys, clock)
          const make = read && Effect.map(read, (found) => ({ says: "", states: found.states }))
          const did = `read ${given.keys.map(Texts.show).join(", ")}`
          return make && { did, make, judge: LimitModel.read(given.keys) }
        }
        case "crowd": {
          const others = Array.from({ length: given.others }, (_, index) =>
            limits.modify(LimitModel.crowdKey(index), () => [undefined, States.numbered(index)])
          )
          return {
            did: `store the states of ${given.others} other callers`,
            make: Effect.as(Effect.all(others, { concurrency: 50, discard: true }), says("done")),
            judge: LimitModel.crowd(given.others)
          }
        }
        case "rehearse": {
          const make = limits.rehearse && Effect.as(limits.rehearse, says("done"))
          return make && { did: "rehearse", make, judge: LimitModel.rehearse }
        }
      }
    },
    closing: () => [...used].map((of): Call => ({ do: "look", key: of }))
  }
}
