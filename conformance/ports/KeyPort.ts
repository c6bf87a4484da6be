/** The calls of `ApiKeyStore`: on keys with unusual fields, and with hashes and ids that are hard to tell apart. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../core/access/ApiKey.ts"
import * as KeyEvent from "../../core/access/KeyEvent.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { nameOf, orNull, record, type ValueOf, weighted } from "./Arbitraries.ts"
import * as KeyModel from "./KeyModel.ts"
import { type Call, type Draws, invocation, kinds, type Port } from "./Port.ts"
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
  move: (key: ApiKey.ApiKey, { text }: Given) => ({ ...key, account: text ?? undefined }),
  annotate: (key: ApiKey.ApiKey, { text }: Given) => ({
    ...key,
    metadata: text === null ? undefined : { ...key.metadata, text }
  }),
  replan: (key: ApiKey.ApiKey) =>
    ({ ...key, plan: "Pro", limits: { perMinute: 7, perDay: Plan.maxRequests } }) as const,
  advance: (key: ApiKey.ApiKey) => ({ ...key, createdAt: Math.min(key.createdAt + 1, LATEST) }),
  nothing: (key: ApiKey.ApiKey) => ({ ...key }),
  /** A bug of the caller. */
  throw: undefined
}

/** Results of changes that a store might inspect by mistake. */
const results = { "a string": "a string", "the number 0": 0, null: null, undefined: undefined }

const time = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, LATEST - 1, LATEST),
  fc.nat(1_000),
  fc.nat(LATEST)
)
const requests = fc.oneof(fc.constantFrom(1, Plan.maxRequests), fc.integer({ min: 1, max: Plan.maxRequests }))

const member = orNull(
  fc.oneof(Texts.text, fc.boolean(), fc.maxSafeInteger(), fc.array(Texts.text, { maxLength: 2 }))
)
const metadata = fc.dictionary(Texts.text, member, { maxKeys: 3, noNullPrototype: true })

/** A key without its id and its hashes. */
const draft = record({
  plan: fc.constantFrom(...Plan.names),
  limits: record({ perMinute: requests, perDay: requests }),
  label: orNull(Texts.text),
  account: orNull(Texts.text),
  metadata: orNull(metadata),
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
const id = weighted<number | string>(
  [5, fc.nat(1)],
  [5, fc.nat(6)],
  [2, fc.nat(60)],
  [1, fc.constantFrom(...unknownIds)]
)

const newHash = (session: Session): string => hashOf(session.hashes++)

const keyOf = (session: Session, { previous, secretAt, ...fields }: ValueOf<typeof draft>): ApiKey.ApiKey => {
  const current = { hash: newHash(session), createdAt: secretAt, expiresAt: undefined }
  return {
    ...fields,
    id: idOf(session.inserts++),
    label: fields.label ?? undefined,
    account: fields.account ?? undefined,
    metadata: fields.metadata ?? undefined,
    revokedAt: fields.revokedAt ?? undefined,
    expiresAt: fields.expiresAt ?? undefined,
    // Only a store with `markSeen` has to store this field.
    lastSeenDay: undefined,
    secrets: previous === null ? [current] : [current, { hash: newHash(session), ...previous }]
  }
}

const eventOf = (given: ValueOf<typeof event>, keyId: string): KeyEvent.KeyEvent | undefined =>
  given === null ? undefined : { ...given, keyId }

const kind = kinds<Session, KeyModel.State>()

const inserting = (by: "insert" | "insertFirst", weights: Draws["weights"]) =>
  kind({
    args: { draft, event },
    weights,
    clause: by === "insert" ? "keys-store.insert" : "keys-store.insert-first",
    begin: (session, given) => {
      const key = keyOf(session, given.draft)
      const event = eventOf(given.event, key.id)
      const inserting: Effect.Effect<unknown, unknown> = session.keys[by](key, event)
      return invocation(`${by} ${KeyModel.line(key)}`, inserting, String, KeyModel.insert(by, key, event))
    }
  })

const updatedText = ({ received, result }: KeyModel.Updated): string =>
  `${result}${received === undefined ? "" : ` for ${KeyModel.line(received)}`}`

const [drawn] = fc.sample(draft, { seed: 1, numRuns: 1 })
const insert: Call = { do: "insert", draft: { ...drawn, createdAt: 0, revokedAt: null }, event: null }
const advance: Call = { do: "update", id: 0, change: "advance", text: null, result: null, event: null }

export const keys: Port<ApiKeyStore, ApiKeyStore["Service"], Session, KeyModel.State> = {
  name: "keys-store",
  tag: ApiKeyStore,
  storeOf: ({ apiKeyStore }) => apiKeyStore,
  initial: KeyModel.initial,
  key: KeyModel.key,
  kinds: {
    insert: inserting("insert", { alone: 6, interrupted: 1 }),
    insertFirst: inserting("insertFirst", { alone: 2, together: 1 }),
    update: kind({
      args: {
        id,
        change: weighted([3, nameOf(changes)], [1, fc.constant("advance" as const)]),
        text: orNull(Texts.text),
        result: orNull(nameOf(results)),
        event
      },
      weights: { alone: 12, together: 3, interrupted: 3 },
      clause: "keys-store.update.atomic",
      begin: (session, { change: name, event, id: wanted, result: named, text }) => {
        const id = idOf(wanted)
        const given = { text, hash: newHash(session), now: session.now++ }
        const changing = changes[name]
        const change = changing && ((key: ApiKey.ApiKey) => changing(key, given))
        const recorded = eventOf(event, id)
        let received: ApiKey.ApiKey | undefined
        let result: unknown
        const updating = session.keys.update(id, (key) => {
          received = key
          result = named === null ? key : results[named]
          if (change === undefined) throw new Error("a bug in the change")
          return [result, change(key), recorded]
        })
        const updated = Effect.map(updating, (got): KeyModel.Updated => {
          if (Option.isNone(got)) return { result: "Option.none", received }
          return { result: Object.is(got.value, result) ? "the result" : "another result", received }
        })
        const did = `update ${id}: ${name} ${JSON.stringify(text)}${named === null ? "" : `, and return ${named}`}`
        const failure =
          change === undefined ? ({ result: "a failure", received: undefined } as const) : undefined
        return invocation(did, updated, updatedText, KeyModel.update(id, change, recorded), failure)
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
        return invocation(did, keys.markSeen?.(ids, day), () => "done", KeyModel.seen(ids, day))
      }
    })
  },
  concurrent: (made) => (made.has("update") ? "keys-store.update.atomic" : "keys-store.insert-first.atomic"),
  open: (service) => ({ keys: service, inserts: 0, hashes: 0, now: 1 }),
  closing: ({ hashes }) => [
    { do: "list" },
    { do: "events", id: null },
    ...Array.from({ length: hashes + 4 }, (_, hash): Call => ({ do: "find", hash, edit: "none" }))
  ],
  optional: { events: "keys-store.events", markSeen: "keys-store.mark-seen" },
  scenarios: [
    // A secret that an update drops.
    { calls: [insert, { ...advance, change: "rotate" }, { ...advance, change: "rotate at once" }] },
    // Lost updates show only on a key that exists.
    ...[null, 1, 2, 3].map((order) => ({
      order,
      calls: [insert],
      clients: Array.from({ length: 4 }, () => [advance, advance].map((call) => ({ call, turns: null })))
    }))
  ]
}
