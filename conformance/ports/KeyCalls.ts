/** Makes calls of `ApiKeyStore`: on keys with unusual fields, and with hashes and ids that are hard to tell apart. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../core/access/ApiKey.ts"
import * as KeyEvent from "../../core/access/KeyEvent.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { call, orNull, record, type ValueOf, weighted } from "./Arbitraries.ts"
import * as KeyModel from "./KeyModel.ts"
import type { Client } from "./Port.ts"
import * as Texts from "./Texts.ts"

type Keys = ApiKeyStore["Service"]

/** The latest time of a `Date`, in epoch ms. */
export const LATEST = 8_640_000_000_000_000

/**
 * Returns hash number n: 64 hexadecimal digits. The hashes are hard to tell apart: most share a long prefix or suffix,
 * and hashes 2n and 2n+1 are equal if compared as numbers, such as 01 and 1e0.
 */
const hashOf = (number: number): string => {
  const digits = String(Math.floor(number / 2) + 1)
  return number % 2 === 0 ? digits.padStart(64, "0") : `${digits}e`.padEnd(64, "0")
}

/** Other hashes: another digit at one end, or all digits moved by one position. */
export const edits: { readonly [name: string]: (hash: string) => string } = {
  none: (hash) => hash,
  first: (hash) => `f${hash.slice(1)}`,
  last: (hash) => `${hash.slice(0, -1)}f`,
  left: (hash) => `${hash.slice(1)}0`,
  right: (hash) => `0${hash.slice(0, -1)}`
}

/** Returns id number n; ids 2n and 2n+1 differ only in letter case. */
const idOf = (wanted: number | string): string =>
  typeof wanted === "string" ? wanted : wanted % 2 === 0 ? `key_a${wanted}` : `key_A${wanted - 1}`

/** Ids of no key, which are similar to those of keys. */
export const unknownIds = ["key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%"] as const

/** What a change may depend on: a text, a new hash, and a time. */
type Given = { readonly text: string | null; readonly hash: string; readonly now: number }

/** Changes of keys by name; `throw` is a bug of the caller. */
export const changes: {
  readonly [name: string]: ((key: ApiKey.ApiKey, given: Given) => ApiKey.ApiKey) | undefined
} = {
  throw: undefined,
  rotate: (key, { hash, now }) => Result.getOrElse(ApiKey.rotate(key, hash, 10, now), () => key),
  "rotate at once": (key, { hash, now }) => Result.getOrElse(ApiKey.rotate(key, hash, 0, now), () => key),
  revoke: (key, { now }) => ApiKey.revoke(key, now),
  relabel: (key, { text }) => ({ ...key, label: text ?? undefined }),
  replan: (key) => ({ ...key, plan: "Pro", limits: { perMinute: 7, perDay: Plan.maxRequests } }),
  advance: (key) => ({ ...key, createdAt: Math.min(key.createdAt + 1, LATEST) }),
  nothing: (key) => ({ ...key })
}

/** Results of changes that a store might inspect by mistake; the key itself by default. */
export const results: { readonly [name: string]: unknown } = {
  "a string": "a string",
  "the number 0": 0,
  null: null,
  undefined: undefined
}

const time = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, LATEST - 1, LATEST),
  fc.nat(1_000),
  fc.nat(LATEST)
)
const requests = fc.oneof(fc.constantFrom(1, Plan.maxRequests), fc.integer({ min: 1, max: Plan.maxRequests }))

/** A key without its id and its hashes. */
const draft = record({
  plan: fc.constantFrom(...Plan.names),
  limits: record({ perMinute: requests, perDay: requests }),
  label: orNull(Texts.text),
  createdAt: time,
  revokedAt: orNull(time),
  expiresAt: orNull(time),
  /** The creation time of the current secret. */
  secretAt: time,
  /** The previous secret, if it is still stored. */
  previous: orNull(record({ createdAt: time, expiresAt: time }))
})
const value = orNull(fc.oneof(Texts.text, fc.maxSafeInteger()))

/** An event without its key. */
const event = orNull(
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

/** The number of a key in the order of insertion, or an id that no key has. */
const id = weighted<number | string>([10, fc.nat(6)], [2, fc.nat(60)], [1, fc.constantFrom(...unknownIds)])
const update = {
  id,
  change: fc.constantFrom(...Object.keys(changes)),
  text: orNull(Texts.text),
  result: orNull(fc.constantFrom(...Object.keys(results))),
  event
}
const kinds = {
  insert: call("insert", { draft, event }),
  insertFirst: call("insertFirst", { draft, event }),
  update: call("update", update),
  find: call("find", { hash: fc.nat(60), edit: fc.constantFrom("none", ...Object.keys(edits)) }),
  list: call("list", {}),
  events: call("events", { id: orNull(id) }),
  seen: call("seen", { marks: fc.uniqueArray(fc.nat(8), { maxLength: 6 }), day: fc.nat(30_000) })
}

export type Draft = ValueOf<typeof draft>
export type Event = ValueOf<typeof event>
export type Call = ValueOf<(typeof kinds)[keyof typeof kinds]>

const advance = call("update", { ...update, change: fc.constant("advance"), id: fc.nat(3) })

export const calls = {
  any: fc.oneof<Array<fc.Arbitrary<Call>>>(...Object.values(kinds)),
  call: weighted<Call>(
    ...([
      [6, kinds.insert],
      [2, kinds.insertFirst],
      [12, kinds.update],
      [8, kinds.find],
      [4, kinds.list],
      [2, kinds.events],
      [2, kinds.seen]
    ] as const)
  ),
  clientCall: weighted<Call>([1, kinds.insertFirst], [3, advance]),
  interruptible: weighted<Call>([1, kinds.insert], [1, advance])
}

export const client = (keys: Keys): Client<KeyModel.State, Call, KeyModel.Output> => {
  let inserts = 0
  let hashes = 0
  let now = 0
  const newHash = (): string => hashOf(hashes++)
  const says = (text: string): KeyModel.Output => ({ says: text, keys: [] })

  const keyOf = ({ previous, secretAt, ...fields }: Draft): ApiKey.ApiKey => {
    const current = { hash: newHash(), createdAt: secretAt, expiresAt: undefined }
    return {
      ...fields,
      id: idOf(inserts++),
      label: fields.label ?? undefined,
      revokedAt: fields.revokedAt ?? undefined,
      expiresAt: fields.expiresAt ?? undefined,
      // Only a store with `markSeen` has to store this field.
      lastSeenDay: undefined,
      secrets: previous === null ? [current] : [current, { hash: newHash(), ...previous }]
    }
  }
  const eventOf = (given: Event, keyId: string): KeyEvent.KeyEvent | undefined =>
    given === null ? undefined : { ...given, keyId }

  /** Updates a key; shows the key that the change received, and whether the result is that of the change. */
  const beginUpdate = ({
    change: name,
    event,
    id: wanted,
    result,
    text
  }: Call & { readonly do: "update" }) => {
    const id = idOf(wanted)
    const given = { text, hash: newHash(), now }
    const named = changes[name]
    const change = named && ((key: ApiKey.ApiKey) => named(key, given))
    const received: Array<ApiKey.ApiKey> = []
    const recorded = eventOf(event, id)
    const updating = keys.update(id, (key) => {
      if (change === undefined) throw new Error("a bug in the change")
      received.push(key)
      return [result === null ? key : results[result], change(key), recorded]
    })
    const make = Effect.map(updating, (got): KeyModel.Output => {
      if (Option.isNone(got)) return says(KeyModel.NONE)
      const isSame = Object.is(got.value, result === null ? received[0] : results[result])
      return { says: isSame ? KeyModel.SAME : "another result", keys: received }
    })
    const what = name === "relabel" ? `relabel to ${JSON.stringify(text)}` : name
    const did = `update ${id}: ${what}${result === null ? "" : `, and return ${result}`}`
    const judge = KeyModel.update(id, change, recorded)
    const failed = (exit: Exit.Exit<KeyModel.Output, unknown>): KeyModel.Output =>
      Exit.isSuccess(exit) ? exit.value : says(KeyModel.FAILED)
    return change === undefined ? { did, make, judge, failed } : { did, make, judge }
  }

  return {
    begin: (given) => {
      now++
      switch (given.do) {
        case "insert": {
          const key = keyOf(given.draft)
          const event = eventOf(given.event, key.id)
          return {
            did: `insert ${KeyModel.line(key)}`,
            make: Effect.as(keys.insert(key, event), says("done")),
            judge: KeyModel.insert(key, event)
          }
        }
        case "insertFirst": {
          const key = keyOf(given.draft)
          const event = eventOf(given.event, key.id)
          return {
            did: `insert ${KeyModel.line(key)} if it is the first`,
            make: Effect.map(keys.insertFirst(key, event), (isFirst) => says(String(isFirst))),
            judge: KeyModel.insertFirst(key, event)
          }
        }
        case "update":
          return beginUpdate(given)
        case "find": {
          const hash = (edits[given.edit] ?? String)(hashOf(given.hash))
          return {
            did: `find by the hash ${KeyModel.short(hash)}`,
            make: Effect.map(keys.findByHash(hash), (found) => ({ says: "", keys: Option.toArray(found) })),
            judge: KeyModel.find(hash)
          }
        }
        case "list": {
          const make = Effect.map(keys.list, (all) => ({ says: "", keys: [...all] }))
          return { did: "list", make, judge: KeyModel.list }
        }
        case "events": {
          const id = given.id === null ? undefined : idOf(given.id)
          const events = keys.events?.(id)
          const make = events && Effect.map(events, (all) => says(KeyModel.eventText(all)))
          return make && { did: `events of ${id ?? "all keys"}`, make, judge: KeyModel.events(id) }
        }
        case "seen": {
          const { day } = given
          const ids = given.marks.map(idOf)
          const marked = keys.markSeen?.(ids, day)
          const did = `mark ${ids.join(", ")} as seen on day ${day}`
          return marked && { did, make: Effect.as(marked, says("done")), judge: KeyModel.seen(ids, day) }
        }
      }
    },
    closing: () => [
      { do: "list" },
      { do: "events", id: null },
      ...Array.from({ length: hashes + 4 }, (_, hash): Call => ({ do: "find", hash, edit: "none" }))
    ]
  }
}
