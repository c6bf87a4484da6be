/** The calls of `ApiKeyStore`: on keys with unusual fields, and with hashes and ids that are hard to tell apart. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../core/access/ApiKey.ts"
import * as KeyEvent from "../../core/access/KeyEvent.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { nameOf, orNull, record, type ValueOf, weighted } from "./Arbitraries.ts"
import * as KeyModel from "./KeyModel.ts"
import { type Call, invocation, kinds, type Port } from "./Port.ts"
import * as Texts from "./Texts.ts"

/** What a case remembers: how many keys and hashes it made, and a time that increases with every call. */
interface Session {
  readonly keys: ApiKeyStore["Service"]
  inserts: number
  hashes: number
  now: number
}

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
const edits = {
  none: (hash: string) => hash,
  first: (hash: string) => `f${hash.slice(1)}`,
  last: (hash: string) => `${hash.slice(0, -1)}f`,
  left: (hash: string) => `${hash.slice(1)}0`,
  right: (hash: string) => `0${hash.slice(0, -1)}`
}

/** Returns id number n; ids 2n and 2n+1 differ only in letter case. */
const idOf = (wanted: number | string): string =>
  typeof wanted === "string" ? wanted : wanted % 2 === 0 ? `key_a${wanted}` : `key_A${wanted - 1}`

/** Ids of no key, which are similar to those of keys. */
const unknownIds = ["key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%"] as const

/** What a change may depend on: a text, a new hash, and a time. */
type Given = { readonly text: string | null; readonly hash: string; readonly now: number }

const rotated =
  (overlapMs: number) =>
  (key: ApiKey.ApiKey, { hash, now }: Given) =>
    Result.getOrElse(ApiKey.rotate(key, hash, overlapMs, now), () => key)

/** Changes of keys by name. */
const changes = {
  rotate: rotated(10),
  "rotate at once": rotated(0),
  revoke: (key: ApiKey.ApiKey, { now }: Given) => ApiKey.revoke(key, now),
  relabel: (key: ApiKey.ApiKey, { text }: Given) => ({ ...key, label: text ?? undefined }),
  replan: (key: ApiKey.ApiKey) =>
    ({ ...key, plan: "Pro", limits: { perMinute: 7, perDay: Plan.maxRequests } }) as const,
  advance: (key: ApiKey.ApiKey) => ({ ...key, createdAt: Math.min(key.createdAt + 1, LATEST) }),
  nothing: (key: ApiKey.ApiKey) => ({ ...key })
}

/** Results of changes that a store might inspect by mistake. */
const results = { "a string": "a string", "the number 0": 0, null: null, undefined: undefined }

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

const newHash = (session: Session): string => hashOf(session.hashes++)

const keyOf = (session: Session, { previous, secretAt, ...fields }: ValueOf<typeof draft>): ApiKey.ApiKey => {
  const current = { hash: newHash(session), createdAt: secretAt, expiresAt: undefined }
  return {
    ...fields,
    id: idOf(session.inserts++),
    label: fields.label ?? undefined,
    revokedAt: fields.revokedAt ?? undefined,
    expiresAt: fields.expiresAt ?? undefined,
    // Only a store with `markSeen` has to store this field.
    lastSeenDay: undefined,
    secrets: previous === null ? [current] : [current, { hash: newHash(session), ...previous }]
  }
}

const eventOf = (given: ValueOf<typeof event>, keyId: string): KeyEvent.KeyEvent | undefined =>
  given === null ? undefined : { ...given, keyId }

const done = (): string => "done"
const shown = ({ received, result }: KeyModel.Updated): string =>
  [result, ...received.map(KeyModel.line)].join(", ")

const kind = kinds<Session, KeyModel.State>()

/** A key whose fields are all ordinary, and a change of it. */
const plain: ValueOf<typeof draft> = {
  plan: "Free",
  limits: Plan.standard.Free,
  label: null,
  createdAt: 1,
  revokedAt: null,
  expiresAt: null,
  secretAt: 1,
  previous: null
}
const insert: Call = { do: "insert", draft: plain, event: null }
const insertFirst: Call = { do: "insertFirst", draft: plain, event: null }
const advance: Call = { do: "update", id: 0, change: "advance", text: null, result: null, event: null }

/** Makes the same call by many clients. */
const crowd = (call: Call) => Array.from({ length: 60 }, () => [{ call, turns: null }])

export const keys: Port<ApiKeyStore, ApiKeyStore["Service"], Session, KeyModel.State> = {
  name: "keys-store",
  tag: ApiKeyStore,
  storeOf: ({ apiKeyStore }) => apiKeyStore,
  initial: KeyModel.initial,
  key: KeyModel.key,
  kinds: {
    insert: kind({
      args: { draft, event },
      weights: { alone: 6, interrupted: 1 },
      clause: "keys-store.insert",
      begin: (session, { draft, event }) => {
        const key = keyOf(session, draft)
        const recorded = eventOf(event, key.id)
        const inserting = session.keys.insert(key, recorded)
        return invocation(`insert ${KeyModel.line(key)}`, inserting, done, KeyModel.insert(key, recorded))
      }
    }),
    insertFirst: kind({
      args: { draft, event },
      weights: { alone: 2, together: 1 },
      clause: "keys-store.insert-first",
      begin: (session, { draft, event }) => {
        const key = keyOf(session, draft)
        const recorded = eventOf(event, key.id)
        const inserting = session.keys.insertFirst(key, recorded)
        const did = `insert ${KeyModel.line(key)} if it is the first`
        return invocation(did, inserting, String, KeyModel.insertFirst(key, recorded))
      }
    }),
    update: kind({
      args: { id, change: nameOf(changes), text: orNull(Texts.text), result: orNull(nameOf(results)), event },
      weights: { alone: 10, together: 3, interrupted: 3 },
      clause: "keys-store.update.atomic",
      begin: (session, { change: name, event, id: wanted, result, text }) => {
        const id = idOf(wanted)
        const given = { text, hash: newHash(session), now: session.now++ }
        const change = (key: ApiKey.ApiKey) => changes[name](key, given)
        const received: Array<ApiKey.ApiKey> = []
        const recorded = eventOf(event, id)
        const updating = session.keys.update(id, (key) => {
          received.push(key)
          return [result === null ? key : results[result], change(key), recorded]
        })
        const making = Effect.map(updating, (got): KeyModel.Updated => {
          if (Option.isNone(got)) return { result: "Option.none", received: [] }
          const isSame = Object.is(got.value, result === null ? received[0] : results[result])
          return { result: isSame ? "the result" : "another result", received }
        })
        const what = name === "relabel" ? `relabel to ${JSON.stringify(text)}` : name
        const did = `update ${id}: ${what}${result === null ? "" : `, and return ${result}`}`
        return invocation(did, making, shown, KeyModel.update(id, change, recorded))
      }
    }),
    throw: kind({
      args: { id },
      weights: { alone: 2, together: 1 },
      clause: "keys-store.update.atomic",
      begin: (session, { id: wanted }) => {
        const id = idOf(wanted)
        const updating = session.keys.update(id, () => {
          throw new Error("a bug in the change")
        })
        const making = Effect.map(Effect.exit(updating), (exit): KeyModel.Updated => {
          const result = Exit.isFailure(exit) ? "a failure" : "another result"
          return {
            result: Exit.isSuccess(exit) && Option.isNone(exit.value) ? "Option.none" : result,
            received: []
          }
        })
        return invocation(`update ${id}: throw`, making, shown, KeyModel.update(id, undefined, undefined))
      }
    }),
    find: kind({
      args: { hash: fc.nat(60), edit: fc.oneof(fc.constant("none" as const), nameOf(edits)) },
      weights: { alone: 8, together: 1, interrupted: 1 },
      clause: "keys-store.find.by-hash",
      begin: ({ keys }, { edit, hash: number }) => {
        const hash = edits[edit](hashOf(number))
        const found = Effect.map(keys.findByHash(hash), Option.toArray)
        const did = `find by the hash ${KeyModel.short(hash)}`
        return invocation(did, found, KeyModel.lines, KeyModel.find(hash))
      }
    }),
    list: kind({
      args: {},
      weights: { alone: 4, together: 1, interrupted: 1 },
      clause: "keys-store.list.all",
      begin: ({ keys }) => invocation("list", keys.list, KeyModel.lines, KeyModel.list)
    }),
    events: kind({
      args: { id: orNull(id) },
      weights: { alone: 2 },
      clause: "keys-store.events",
      begin: ({ keys }, { id: wanted }) => {
        const id = wanted === null ? undefined : idOf(wanted)
        const did = `events of ${id ?? "all keys"}`
        return invocation(did, keys.events?.(id), KeyModel.eventText, KeyModel.events(id))
      }
    }),
    seen: kind({
      args: { marks: fc.uniqueArray(fc.nat(8), { maxLength: 6 }), day: fc.nat(30_000) },
      weights: { alone: 2 },
      clause: "keys-store.mark-seen",
      begin: ({ keys }, { day, marks }) => {
        const ids = marks.map(idOf)
        const did = `mark ${ids.join(", ")} as seen on day ${day}`
        return invocation(did, keys.markSeen?.(ids, day), done, KeyModel.seen(ids, day))
      }
    })
  },
  concurrent: (made) =>
    made.has("update") || made.has("throw") ? "keys-store.update.atomic" : "keys-store.insert-first.atomic",
  open: (service) => ({ keys: service, inserts: 0, hashes: 0, now: 1 }),
  closing: ({ hashes }) => [
    { do: "list" },
    { do: "events", id: null },
    ...Array.from({ length: hashes + 4 }, (_, hash): Call => ({ do: "find", hash, edit: "none" }))
  ],
  optional: { events: "keys-store.events", markSeen: "keys-store.mark-seen" },
  scenarios: [
    { clients: crowd(insertFirst) },
    { calls: [{ ...insert, draft: { ...plain, createdAt: 0 } }], clients: crowd(advance) }
  ],
  outage: [
    ...[insert, insertFirst, advance, { do: "find", hash: 0, edit: "none" }, { do: "list" }],
    ...[
      { do: "events", id: null },
      { do: "seen", marks: [0], day: 1 }
    ]
  ]
}
