/** Makes calls of `ApiKeyStore`: on keys with unusual fields, and with hashes and ids that are hard to tell apart. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../core/access/ApiKey.ts"
import * as KeyEvent from "../../core/access/KeyEvent.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Input, Output, State } from "./KeyModel.ts"
import * as KeyModel from "./KeyModel.ts"
import type { Case, Client, ClientCall, Port } from "./Port.ts"
import * as Texts from "./Texts.ts"

/** A key without its id and its hashes; null is an absent field. */
interface Draft {
  readonly plan: Plan.PlanName
  readonly perMinute: number
  readonly perDay: number
  readonly label: string | null
  readonly createdAt: number
  readonly revokedAt: number | null
  readonly expiresAt: number | null
  /** The creation time of the current secret. */
  readonly secretAt: number
  /** The previous secret, if it is still stored. */
  readonly previous: { readonly createdAt: number; readonly expiresAt: number } | null
}

/** An event without its key. */
type Event = Omit<KeyEvent.KeyEvent, "keyId">

/** `at` is the number of the key, in the order of the calls that insert keys. */
type Call =
  | { readonly do: "insert"; readonly draft: Draft; readonly event: Event | null }
  | { readonly do: "insertFirst"; readonly draft: Draft; readonly event: Event | null }
  | { readonly do: "rotate"; readonly at: number; readonly overlapMs: number; readonly event: Event | null }
  | { readonly do: "revoke"; readonly at: number; readonly event: Event | null }
  | {
      readonly do: "relabel"
      readonly at: number
      readonly label: string | null
      readonly event: Event | null
    }
  | { readonly do: "replan"; readonly at: number; readonly draft: Draft; readonly event: Event | null }
  /** Adds one to the creation time. */
  | { readonly do: "advance"; readonly at: number }
  | { readonly do: "answer"; readonly at: number; readonly result: string }
  | { readonly do: "throw"; readonly at: number }
  | { readonly do: "unknown"; readonly id: string }
  | { readonly do: "find"; readonly hash: number; readonly edit: string }
  | { readonly do: "list" }
  | { readonly do: "events"; readonly at: number | null }
  | { readonly do: "seen"; readonly marks: ReadonlyArray<number>; readonly day: number }

type Keys = ApiKeyStore["Service"]

/** The latest time of a `Date`, in epoch ms. */
const LATEST = 8_640_000_000_000_000

/**
 * Returns hash number n: 64 hexadecimal digits. The hashes are hard to tell apart: most share a long prefix or suffix,
 * and hashes 2n and 2n+1 are equal if compared as numbers, such as 01 and 1e0.
 */
const hashOf = (number: number): string => {
  const digits = String(Math.floor(number / 2) + 1)
  return number % 2 === 0 ? digits.padStart(64, "0") : `${digits}e`.padEnd(64, "0")
}

/** Other hashes: another digit at one end, or all digits moved by one position. */
const edits: { readonly [name: string]: (hash: string) => string } = {
  none: (hash) => hash,
  first: (hash) => `f${hash.slice(1)}`,
  last: (hash) => `${hash.slice(0, -1)}f`,
  left: (hash) => `${hash.slice(1)}0`,
  right: (hash) => `0${hash.slice(0, -1)}`
}

/** Returns id number n; ids 2n and 2n+1 differ only in letter case. */
const idOf = (number: number): string => (number % 2 === 0 ? `key_a${number}` : `key_A${number - 1}`)

const unknownIds = ["key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%"]

/** Results of changes that a store might inspect by mistake. */
const results: { readonly [name: string]: unknown } = {
  "a string": "a string",
  "the number 0": 0,
  null: null,
  undefined: undefined
}

const record = <A>(fields: { readonly [K in keyof A]: fc.Arbitrary<A[K]> }): fc.Arbitrary<A> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<A> // all fields are required
const is = <Name extends string>(name: Name): fc.Arbitrary<Name> => fc.constant(name)

const time = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, LATEST - 1, LATEST),
  fc.nat(1_000),
  fc.nat(LATEST)
)
const requests = fc.oneof(fc.constantFrom(1, Plan.maxRequests), fc.integer({ min: 1, max: Plan.maxRequests }))
const draft: fc.Arbitrary<Draft> = record({
  plan: fc.constantFrom(...Plan.names),
  perMinute: requests,
  perDay: requests,
  label: fc.option(Texts.text),
  createdAt: time,
  revokedAt: fc.option(time),
  expiresAt: fc.option(time),
  secretAt: time,
  previous: fc.option(record({ createdAt: time, expiresAt: time }))
})
const value = fc.option(fc.oneof(Texts.text, fc.maxSafeInteger()))
const event: fc.Arbitrary<Event | null> = fc.option(
  record({
    at: fc.nat(LATEST),
    actor: Texts.text,
    action: fc.constantFrom(...KeyEvent.actions),
    changes: fc.dictionary(
      fc.constantFrom("plan", "perMinute", "perDay", "label", "expiresAt"),
      record({ from: value, to: value }),
      { noNullPrototype: true }
    )
  })
)

const at = fc.oneof({ weight: 5, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(60) })
const label = fc.option(Texts.text)
const anyKey = fc.option(at)
const insertCall = record({ do: is("insert"), draft, event })
const firstCall = record({ do: is("insertFirst"), draft, event })
const advanceCall = record({ do: is("advance"), at })
const relabelCall = record({ do: is("relabel"), at, label, event })
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: insertCall },
  { weight: 2, arbitrary: firstCall },
  { weight: 3, arbitrary: record({ do: is("rotate"), at, overlapMs: fc.nat(1_000), event }) },
  { weight: 2, arbitrary: record({ do: is("revoke"), at, event }) },
  { weight: 2, arbitrary: relabelCall },
  { weight: 2, arbitrary: record({ do: is("replan"), at, draft, event }) },
  { weight: 2, arbitrary: advanceCall },
  {
    weight: 1,
    arbitrary: record({ do: is("answer"), at, result: fc.constantFrom(...Object.keys(results)) })
  },
  { weight: 1, arbitrary: record({ do: is("throw"), at }) },
  { weight: 1, arbitrary: record({ do: is("unknown"), id: fc.constantFrom(...unknownIds) }) },
  {
    weight: 8,
    arbitrary: record({
      do: is("find"),
      hash: fc.nat(60),
      edit: fc.constantFrom("none", ...Object.keys(edits))
    })
  },
  { weight: 4, arbitrary: record({ do: is("list") }) },
  { weight: 2, arbitrary: record({ do: is("events"), at: anyKey }) },
  {
    weight: 2,
    arbitrary: record({
      do: is("seen"),
      marks: fc.uniqueArray(fc.nat(8), { maxLength: 6 }),
      day: fc.nat(30_000)
    })
  }
)

const client = (keys: Keys): Client<Call, Input, Output> => {
  let inserts = 0
  let hashes = 0
  let now = 0
  const newHash = (): string => hashOf(hashes++)
  const keyOf = (given: Draft): ApiKey.ApiKey => {
    const { label, perDay, perMinute, plan, previous } = given
    const current = { hash: newHash(), createdAt: given.secretAt, expiresAt: undefined }
    return {
      id: idOf(inserts++),
      plan,
      limits: { perMinute, perDay },
      label: label ?? undefined,
      createdAt: given.createdAt,
      revokedAt: given.revokedAt ?? undefined,
      expiresAt: given.expiresAt ?? undefined,
      // Only a store with `markSeen` has to store this field.
      lastSeenDay: undefined,
      secrets: previous === null ? [current] : [current, { hash: newHash(), ...previous }]
    }
  }
  const eventOf = (of: Event | null, keyId: string): KeyEvent.KeyEvent | undefined =>
    of === null ? undefined : { ...of, keyId }

  /** Updates a key; shows the key that the change received, and whether the result is that of the change. */
  const update = (
    id: string,
    action: string,
    change: (key: ApiKey.ApiKey) => ApiKey.ApiKey,
    of: Event | null = null,
    named: string | undefined = undefined
  ) => {
    const given = eventOf(of, id)
    const make = Effect.suspend(() => {
      let received: ApiKey.ApiKey | undefined
      const changing = keys.update(
        id,
        (key): readonly [unknown, ApiKey.ApiKey, KeyEvent.KeyEvent | undefined] => {
          received = key
          return [named === undefined ? key : results[named], change(key), given]
        }
      )
      return Effect.map(changing, (result): Output => {
        const expected = named === undefined ? received : results[named]
        if (Option.isNone(result)) return { says: KeyModel.NONE, keys: [] }
        const isSame = received !== undefined && Object.is(result.value, expected)
        return {
          says: isSame ? KeyModel.SAME : "another result",
          keys: received === undefined ? [] : [received]
        }
      })
    })
    return { input: { do: "update", id, action, change, event: given } as const, make }
  }

  return {
    begin: (given) => {
      now++
      switch (given.do) {
        case "insert": {
          const key = keyOf(given.draft)
          const of = eventOf(given.event, key.id)
          const make = Effect.as(keys.insert(key, of), { says: "done", keys: [] })
          return { input: { do: "insert", key, event: of }, make }
        }
        case "insertFirst": {
          const key = keyOf(given.draft)
          const of = eventOf(given.event, key.id)
          const make = Effect.map(keys.insertFirst(key, of), (isFirst) => ({
            says: String(isFirst),
            keys: []
          }))
          return { input: { do: "insertFirst", key, event: of }, make }
        }
        case "rotate": {
          const hash = newHash()
          const time = now
          const rotated = (key: ApiKey.ApiKey) =>
            Result.getOrElse(ApiKey.rotate(key, hash, given.overlapMs, time), () => key)
          return update(idOf(given.at), "rotate", rotated, given.event)
        }
        case "revoke": {
          const time = now
          return update(idOf(given.at), "revoke", (key) => ApiKey.revoke(key, time), given.event)
        }
        case "relabel": {
          const label = given.label ?? undefined
          const action = `set the label ${JSON.stringify(label)} of`
          return update(idOf(given.at), action, (key) => ({ ...key, label }), given.event)
        }
        case "replan": {
          const { perDay, perMinute, plan } = given.draft
          const limits = { perMinute, perDay }
          return update(
            idOf(given.at),
            `change the plan to ${plan} of`,
            (key) => ({ ...key, plan, limits }),
            given.event
          )
        }
        case "advance":
          return update(idOf(given.at), "add one to the creation time of", (key) => ({
            ...key,
            createdAt: Math.min(key.createdAt + 1, LATEST)
          }))
        case "answer":
          return update(
            idOf(given.at),
            `return ${given.result} from a change of`,
            (key) => ({ ...key, label: "changed" }),
            null,
            given.result
          )
        case "unknown":
          return update(given.id, "label", (key) => ({ ...key, label: "changed" }))
        case "throw": {
          const id = idOf(given.at)
          const throwing = keys.update(id, () => {
            throw new Error("a bug in the change")
          })
          return {
            input: { do: "throw", id },
            make: throwing,
            failed: (exit) => ({ says: Exit.isFailure(exit) ? KeyModel.FAILED : "a result", keys: [] })
          }
        }
        case "find": {
          const hash = (edits[given.edit] ?? String)(hashOf(given.hash))
          const make = Effect.map(keys.findByHash(hash), (found) => ({
            says: "",
            keys: Option.toArray(found)
          }))
          return { input: { do: "find", hash }, make }
        }
        case "list":
          return { input: given, make: Effect.map(keys.list, (all) => ({ says: "", keys: [...all] })) }
        case "events": {
          const id = given.at === null ? undefined : idOf(given.at)
          const events = keys.events?.(id)
          if (events === undefined) return undefined
          const make = Effect.map(events, (all) => ({ says: KeyModel.eventText(all), keys: [] }))
          return { input: { do: "events", id }, make }
        }
        case "seen": {
          const ids = given.marks.map(idOf)
          const marked = keys.markSeen?.(ids, given.day)
          if (marked === undefined) return undefined
          return {
            input: { do: "seen", ids, day: given.day },
            make: Effect.as(marked, { says: "done", keys: [] })
          }
        }
      }
    },
    closing: () => [
      { do: "list" },
      { do: "events", at: null },
      ...Array.from({ length: hashes + 4 }, (_, hash): Call => ({ do: "find", hash, edit: "none" }))
    ]
  }
}

const plain: Draft = {
  plan: "Free",
  perMinute: Plan.standard.Free.perMinute,
  perDay: Plan.standard.Free.perDay,
  label: null,
  createdAt: 1,
  revokedAt: null,
  expiresAt: null,
  secretAt: 1,
  previous: null
}

/** Drafts that together cover every unusual label, every plan, and the minimum and maximum of each number. */
const boundaryDrafts: ReadonlyArray<Draft> = [
  plain,
  { ...plain, revokedAt: 0 },
  { ...plain, expiresAt: 0 },
  { ...plain, createdAt: 0, secretAt: 0, previous: { createdAt: 0, expiresAt: 0 } },
  {
    plan: "Enterprise",
    perMinute: Plan.maxRequests,
    perDay: Plan.maxRequests,
    label: "maximum",
    createdAt: LATEST,
    revokedAt: LATEST,
    expiresAt: LATEST,
    secretAt: LATEST,
    previous: { createdAt: LATEST, expiresAt: LATEST }
  },
  ...Plan.names.map((plan, index) => ({
    ...plain,
    plan,
    perMinute: index + 1,
    perDay: Math.min(2 ** (8 * index), Plan.maxRequests)
  })),
  ...Texts.awkward.map((label, index) => ({ ...plain, label, createdAt: 1_000 - index }))
]

const insert = (of: Partial<Draft> = {}, with_: Event | null = null): Call => ({
  do: "insert",
  draft: { ...plain, ...of },
  event: with_
})
const insertFirst = (with_: Event | null = null): Call => ({ do: "insertFirst", draft: plain, event: with_ })
const rotate = (number: number, overlapMs = 10): Call => ({
  do: "rotate",
  at: number,
  overlapMs,
  event: null
})
const relabel = (number: number, label: string | null, with_: Event | null = null): Call => ({
  do: "relabel",
  at: number,
  label,
  event: with_
})
const revoke = (number: number): Call => ({ do: "revoke", at: number, event: null })
const advance = (number = 0): Call => ({ do: "advance", at: number })
const find = (hash: number, edit = "none"): Call => ({ do: "find", hash, edit })
const list: Call = { do: "list" }
const previous = { createdAt: 1, expiresAt: 2 }
const hashes = (count: number): ReadonlyArray<Call> => Array.from({ length: count }, (_, hash) => find(hash))

/** A sequence with every kind of change. */
const everyChange: ReadonlyArray<Call> = [
  ...[insertFirst(), insertFirst(), insert({ createdAt: 0, secretAt: 3, previous })],
  ...[rotate(2), rotate(0, 0), rotate(0), relabel(0, "%")],
  { do: "replan", at: 2, draft: { ...plain, plan: "Pro", perMinute: 7, perDay: 8 }, event: null },
  ...[revoke(2), rotate(2), relabel(0, null), revoke(9), insert()]
]

const issued: Event = { at: 5, actor: "root", action: "issued", changes: {} }
const changed: Event = {
  at: 4,
  actor: "ana\n№1",
  action: "changed",
  changes: { label: { from: null, to: "'\"\\" }, perDay: { from: 1, to: 9_007_199_254_740_991 } }
}

const alone = (calls: ReadonlyArray<Call>): ReadonlyArray<ClientCall<Call>> =>
  calls.map((each) => ({ call: each, turns: null }))
const interrupted = (calls: ReadonlyArray<Call>): ReadonlyArray<ClientCall<Call>> =>
  [0, 1, 2, 3, 4, 6, 8, 12].flatMap((turns, index) => [
    ...calls.map((each) => ({ call: each, turns })),
    ...alone(
      calls.some((each) => each.do === "insert") ? [find(2 + 2 * index), find(3 + 2 * index), list] : []
    ),
    ...alone([advance()])
  ])
const racing = [0, 1, 2].map(() => alone([insertFirst(), relabel(0, "a"), relabel(1, "b"), relabel(2, "c")]))

const boundaries: ReadonlyArray<Partial<Case<Call>>> = [
  { calls: hashes(2) },
  { calls: boundaryDrafts.map((each) => insert(each)) },
  {
    calls: [
      ...[insert(), insert({ secretAt: 5, previous }), insert({ revokedAt: 3 })],
      ...[insert({ revokedAt: 3, secretAt: 5, previous }), insert()],
      ...Array.from({ length: 7 }, (_, hash) => Object.keys(edits).map((edit) => find(hash, edit))).flat()
    ]
  },
  // Hashes are also searched before they exist, so that a cache that ignores changes is detected.
  { calls: everyChange.flatMap((each) => [each, ...hashes(16)]) },
  { calls: everyChange.flatMap((each) => [each, list]) },
  {
    calls: [
      ...[3, 1, 2, 2, 5, 0, 4, 9, 8, 7, 6, 10].map((createdAt) => insert({ createdAt })),
      advance(),
      list
    ]
  },
  ...Object.keys(results).map((result) => ({
    calls: [insert(), insert(), { do: "answer", at: 0, result } as const, list]
  })),
  { calls: [insert(), insert(), insert(), ...unknownIds.map((id): Call => ({ do: "unknown", id })), list] },
  {
    calls: [
      ...[insertFirst(issued), insertFirst(issued), insert({}, { ...issued, at: 3 }), relabel(1, "x")],
      ...[relabel(2, "y", changed), relabel(0, null, { ...changed, action: "unbanned", changes: {} })],
      ...[relabel(7, "z", changed)],
      ...[null, 0, 1, 2, 7].map((of): Call => ({ do: "events", at: of }))
    ]
  },
  {
    calls: [
      ...[insert(), insert({ revokedAt: 3 }), insert()],
      ...(
        [
          [[0, 2, 4], 5],
          [[0, 1], 4],
          [[], 9],
          [[2], 0],
          [[2], 6]
        ] as const
      ).flatMap(
        ([marks, day], index): ReadonlyArray<Call> => [
          { do: "seen", marks, day },
          list,
          ...(index === 1 ? [relabel(0, "seen"), list] : [])
        ]
      )
    ]
  },
  { calls: [insert(), { do: "throw", at: 0 }, list] },
  {
    calls: [insert()],
    clients: [...[0, 1, 2, 3].map(() => alone([advance(), advance()])), alone([{ do: "throw", at: 0 }])]
  },
  { calls: [insert({ createdAt: 0 })], clients: Array.from({ length: 100 }, () => alone([advance()])) },
  { clients: Array.from({ length: 50 }, () => alone([insertFirst()])) },
  ...[null, 1, 2, 3].flatMap((order) => [
    { order, clients: racing },
    {
      order,
      calls: [insert()],
      clients: [0, 1, 2].map(() => alone([advance(), advance(), advance(), advance()]))
    },
    { order, clients: Array.from({ length: 5 }, () => alone([insertFirst()])) }
  ]),
  ...[1, 2, 3].flatMap((order) =>
    [insert({ previous }), advance()].map((each) => ({
      order,
      calls: [insert({ previous })],
      clients: [interrupted([each])]
    }))
  )
]

export const keys: Port<ApiKeyStore, Keys, State, Call, Input, Output> = {
  name: "keys-store",
  noun: "store of API keys",
  tag: ApiKeyStore,
  storeOf: ({ apiKeyStore }) => apiKeyStore,
  clauses: { interruption: "keys-store.interruption", failsTyped: "keys-store.fails-typed" },
  owns: (clause) => clause.startsWith("keys-store."),
  model: KeyModel.model,
  client,
  examine: ({ events, markSeen }) => {
    const lacking = new Map<ClauseSlug, string>()
    if (events === undefined) lacking.set("keys-store.events", "the store records no events")
    if (markSeen === undefined)
      lacking.set("keys-store.mark-seen", "the store does not record when keys were used")
    return Effect.succeed({ lacking, undecided: new Map() })
  },
  calls: {
    call,
    clientCall: fc.oneof(
      { weight: 1, arbitrary: firstCall },
      { weight: 2, arbitrary: record({ do: is("advance"), at: fc.nat(3) }) },
      {
        weight: 1,
        arbitrary: record({ do: is("relabel"), at: fc.nat(3), label, event })
      }
    ),
    interruptible: fc.oneof(insertCall, advanceCall)
  },
  boundaries,
  outage: [
    ...[find(0), insert(), insertFirst(), relabel(0, "renamed"), { do: "throw", at: 0 } as const, list],
    ...[{ do: "events", at: null } as const, { do: "seen", marks: [0], day: 1 } as const]
  ]
}
