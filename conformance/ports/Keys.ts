/**
 * The calls of `ApiKeyStore`, on keys with unusual fields and with hashes and ids that are hard to tell apart, and its
 * contract as an array of keys.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { nameOf, text, weighted } from "./Draws.ts"
import { changes, type Draft, draft, edits, event, hashOf, id, idOf, results } from "./KeyDraws.ts"
import { type Call, type Ended, failed, invocation, type Kind, kinds, law, type Port } from "./Port.ts"

type Store = ApiKeyStore["Service"]

/** What a case remembers: how many keys and hashes it made, and a time that increases with every call. */
interface Session {
  readonly store: Store
  inserts: number
  hashes: number
  now: number
}

interface State {
  readonly keys: ReadonlyArray<ApiKey>
  readonly events: ReadonlyArray<KeyEvent>
  /** Every hash that a key ever had. */
  readonly hashes: ReadonlySet<string>
  /** The changes, and the method of each. */
  readonly changes: ReadonlyArray<{ readonly id: string; readonly by: keyof typeof seeing }>
}

const newHash = (session: Session): string => hashOf(session.hashes++)

const eventOf = (event: Omit<KeyEvent, "keyId"> | null, keyId: string) => event && { ...event, keyId }

const keyOf = (session: Session, { previous, secretAt, ...fields }: Draft): ApiKey => {
  const current = { hash: newHash(session), createdAt: secretAt, expiresAt: undefined }
  return {
    ...{
      label: undefined,
      account: undefined,
      metadata: undefined,
      revokedAt: undefined,
      expiresAt: undefined
    },
    ...fields,
    id: idOf(session.inserts++),
    // Only a store with `markSeen` has to store this field.
    lastSeenDay: undefined,
    secrets: previous === undefined ? [current] : [current, { hash: newHash(session), ...previous }]
  }
}

/** Writes every field except `lastSeenDay`, which only a store with `markSeen` has to store. */
const identity = (key: ApiKey): string => {
  const { account, createdAt, expiresAt, id, label, limits, plan, revokedAt, secrets } = key
  const { perDay, perMinute } = limits
  // A store may change the order of the members, as jsonb does.
  const metadata = key.metadata && Object.entries(key.metadata).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const all = secrets.map((secret) => [secret.hash, secret.createdAt, secret.expiresAt ?? "current"])
  const fields = { id, plan, perMinute, perDay, label, account, metadata, createdAt, revokedAt, expiresAt }
  return JSON.stringify({ ...fields, secrets: all })
}

const isSame = (a: ApiKey | undefined, b: ApiKey): boolean => a !== undefined && identity(a) === identity(b)

/** Shortens the hashes in a text. */
const short = (text: string): string => text.replaceAll(/([0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})/g, "$1…$2")

const line = (key: ApiKey): string =>
  `${short(identity(key))}${key.lastSeenDay === undefined ? "" : ` seen on day ${key.lastSeenDay}`}`

const lines = (keys: ReadonlyArray<ApiKey>): string =>
  keys.length === 0 ? "none" : keys.map(line).join(", ")

const seenDays = (keys: ReadonlyArray<ApiKey>): string =>
  keys.map(({ lastSeenDay }) => lastSeenDay ?? "never").join(", ")

/** Writes everything that a store returns of keys. */
const exact = (keys: ReadonlyArray<ApiKey>): string => `${keys.map(identity).join()} ${seenDays(keys)}`

const eventText = (events: ReadonlyArray<KeyEvent>): string => {
  const texts = events.map(({ action, actor, at, changes, keyId }) => {
    const sorted = Object.entries(changes).map(([field, { from, to }]) => [field, from, to])
    return JSON.stringify([at, actor, keyId, action, sorted.sort()])
  })
  return texts.length === 0 ? "none" : texts.join(", ")
}

/** The clause about what a key is after the last change. */
const storing = ({ changes }: State, id: string): ClauseSlug => {
  const last = changes.at(-1)
  const isUpdated = changes.findLast((change) => change.id === id)?.by === "update"
  // A key that was not touched may have changed with the last change of another key.
  if (isUpdated || last?.by === "update") return "keys-store.update.replaces"
  return last === undefined || last.id === id ? "keys-store.exact" : "keys-store.insert"
}

const seeing = {
  insert: "keys-store.find.sees-insert",
  insertFirst: "keys-store.find.sees-insert-first",
  update: "keys-store.find.sees-update"
} as const

/** Adds or replaces a key. */
const changed = (
  { changes, events, hashes, keys }: State,
  by: keyof typeof seeing,
  key: ApiKey,
  event: KeyEvent | null
): State => ({
  keys: keys.some(({ id }) => id === key.id)
    ? keys.map((other) => (other.id === key.id ? key : other))
    : [...keys, key],
  events: event === null ? events : [...events, event],
  hashes: new Set([...hashes, ...key.secrets.map(({ hash }) => hash)]),
  changes: [...changes, { id: key.id, by }]
})

const kind = kinds<Session, State>()

const inserting = (by: "insert" | "insertFirst", weights: Kind<Session, State>["weights"]) =>
  kind({
    args: fc.record({ draft, event }),
    weights,
    clause: by === "insert" ? "keys-store.insert" : "keys-store.insert-first",
    begin: (session, given) => {
      const key = keyOf(session, given.draft)
      const event = eventOf(given.event, key.id)
      const inserting: Effect.Effect<unknown, unknown> = session.store[by](key, event ?? undefined)
      return invocation(inserting, {
        did: `${by} ${line(key)}`,
        show: String,
        *judge(state: State, isAdded) {
          const isFirst = state.keys.length === 0
          const expected = () => `${isFirst} for a key that is ${isFirst ? "" : "not "}the first`
          if (by === "insertFirst") yield law("keys-store.insert-first", isAdded === isFirst, expected)
          return by === "insert" || isFirst ? changed(state, by, key, event) : state
        }
      })
    }
  })

const [drawn] = fc.sample(draft, { seed: 1, numRuns: 1 })
const { revokedAt: _, ...unrevoked } = { ...drawn, createdAt: 0 }
const first = { draft: unrevoked, event: null }
const insert: Call = ["insert", first]
const update = (change: keyof typeof changes): Call => [
  "update",
  { id: 0, change, text: null, result: "the key", event: null }
]

export const keys: Port<ApiKeyStore, Store, Session, State> = {
  name: "keys-store",
  tag: ApiKeyStore,
  storeOf: ({ apiKeyStore }) => apiKeyStore,
  initial: { keys: [], events: [], hashes: new Set(), changes: [] },
  key: ({ events, keys }) => `${exact(keys)} ${eventText(events)}`,
  kinds: {
    insert: inserting("insert", { alone: 6, interrupted: 1 }),
    insertFirst: inserting("insertFirst", { alone: 2, together: 1 }),
    update: kind({
      args: fc.record({
        id,
        change: weighted([3, nameOf(changes)], [1, fc.constant("advance" as const)]),
        text: fc.option(text),
        result: weighted([1, fc.constant("the key" as const)], [1, nameOf(results)]),
        event
      }),
      weights: { alone: 12, together: 3, interrupted: 3 },
      clause: "keys-store.update.atomic",
      begin: (session, { change: name, result: named, text, ...wanted }) => {
        const id = idOf(wanted.id)
        const given = { text: text ?? undefined, hash: newHash(session), now: session.now++ }
        const event = eventOf(wanted.event, id)
        const change = changes[name]
        let received: ApiKey | undefined
        const updating = session.store.update(id, (key) => {
          received = key
          if (change === undefined) throw new Error("a bug in the change")
          return [results[named](key), change(key, given), event ?? undefined]
        })
        const updated = Effect.map(updating, (got): Ended<ApiKey> => {
          if (Option.isNone(got)) return { ending: "Option.none", received }
          const isRight = received !== undefined && Object.is(got.value, results[named](received))
          return { ending: isRight ? "the result" : "another result", received }
        })
        return invocation(updated, {
          did: `update ${id}: ${name} ${JSON.stringify(text)}, and return ${named}`,
          failure: change === undefined ? failed : undefined,
          show: ({ ending, received }) =>
            `${ending}${received === undefined ? "" : ` for ${line(received)}`}`,
          *judge(state: State, got) {
            const before = state.keys.find((key) => key.id === id)
            const ends = (clause: ClauseSlug, ending: Ended<ApiKey>["ending"]) =>
              law(clause, got?.ending === ending, () => `${ending} of the update of ${id}`)
            if (before === undefined) {
              yield ends("keys-store.update.none", "Option.none")
              return state
            }
            if (change === undefined) {
              yield ends("keys-store.update.replaces", "a failure")
              return { ...state, changes: [...state.changes, { id, by: "update" }] }
            }
            yield ends("keys-store.update.answer", "the result")
            const isReceived = isSame(got?.received, before)
            yield law(storing(state, id), isReceived, () => `a change that receives ${line(before)}`)
            return changed(state, "update", change(before, given), event)
          }
        })
      }
    }),
    find: kind({
      args: fc.record({
        hash: fc.nat(60),
        edit: fc.oneof(fc.constant("none" as const), nameOf(edits))
      }),
      weights: { alone: 8, together: 1, interrupted: 1 },
      clause: "keys-store.find.by-hash",
      begin: ({ store }, { edit, hash: number }) => {
        const hash = edits[edit](hashOf(number))
        const finding = Effect.map(store.findByHash(hash), Option.toArray)
        return invocation(finding, {
          did: `find by the hash ${short(hash)}`,
          show: lines,
          *judge(state: State, found = []) {
            const owner = state.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
            if (owner === undefined) {
              const clause = state.hashes.has(hash)
                ? "keys-store.find.dropped-secret"
                : "keys-store.find.none"
              yield law(clause, found.length === 0, () => `no key with the hash ${short(hash)}`)
              return state
            }
            const expected = () => `the key with this hash: ${line(owner)}`
            const index = owner.secrets.findIndex((secret) => secret.hash === hash)
            const by = state.changes.findLast((change) => change.id === owner.id)?.by ?? "insert"
            const isFound = found.length > 0
            const isExact = found.every((key) => isSame(key, owner))
            if (index > 0) yield law("keys-store.find.each-secret", isFound, expected)
            if (owner.revokedAt !== undefined || owner.secrets[index]?.expiresAt !== undefined)
              yield law("keys-store.find.revoked", isFound, expected)
            yield law(seeing[by], isFound, expected)
            yield law("keys-store.find.by-hash", found[0]?.id === owner.id, expected)
            yield law(by === "update" ? seeing.update : "keys-store.exact", isExact, expected)
            return state
          }
        })
      }
    }),
    list: kind({
      args: fc.record({}),
      weights: { alone: 4, together: 1, interrupted: 1 },
      clause: "keys-store.list.all",
      begin: ({ store }) =>
        invocation(store.list, {
          did: "list",
          show: lines,
          *judge(state: State, listed = []) {
            const { changes, keys } = state
            const expected = () => `in the list: ${lines(keys)}`
            const shown = keys.map(({ id }) => listed.find((key) => key.id === id))
            const isWhole = listed.length === keys.length && !shown.includes(undefined)
            const isInOrder = listed.every(({ id }, index) => id === keys[index]?.id)
            const all =
              changes.at(-1)?.by === "insertFirst" ? "keys-store.insert-first" : "keys-store.list.all"
            yield law(all, isWhole, expected)
            yield law("keys-store.list.order", isInOrder, expected)
            for (const [index, key] of keys.entries())
              yield law(storing(state, key.id), isSame(shown[index], key), () => line(key))
            // A store without `markSeen` never shows a day.
            const days = () => `last seen on the days ${seenDays(keys)}`
            yield law("keys-store.mark-seen", seenDays(listed) === seenDays(keys), days)
            return state
          }
        })
    }),
    findById: kind({
      args: fc.record({ id }),
      weights: { alone: 2 },
      clause: "keys-store.find-by-id",
      begin: ({ store }, given) => {
        const id = idOf(given.id)
        return invocation(store.find?.(id), {
          did: `find by the id ${id}`,
          show: (found) => lines(Option.toArray(found)),
          *judge(state: State, found = Option.none<ApiKey>()) {
            const stored = state.keys.filter((key) => key.id === id)
            const isRight = exact(Option.toArray(found)) === exact(stored)
            yield law("keys-store.find-by-id", isRight, () => lines(stored))
            return state
          }
        })
      }
    }),
    events: kind({
      args: fc.record({ id: fc.option(id) }),
      weights: { alone: 2 },
      clause: "keys-store.events",
      begin: ({ store }, given) => {
        const id = given.id === null ? undefined : idOf(given.id)
        return invocation(store.events?.(id), {
          did: `events of ${id ?? "all keys"}`,
          show: eventText,
          *judge(state: State, got = []) {
            const all = eventText(state.events.filter(({ keyId }) => id === undefined || keyId === id))
            const expected = () => `the events of ${id ?? "all keys"}: ${all}`
            yield law("keys-store.events", eventText(got) === all, expected)
            return state
          }
        })
      }
    }),
    seen: kind({
      args: fc.record({ marks: fc.uniqueArray(fc.nat(8), { maxLength: 6 }), day: fc.nat(30_000) }),
      weights: { alone: 2 },
      clause: "keys-store.mark-seen",
      begin: ({ store }, { day, marks }) => {
        const ids = marks.map(idOf)
        return invocation(store.markSeen?.(ids, day), {
          did: `mark ${ids.join(", ")} as seen on day ${day}`,
          show: () => "done",
          *judge(state: State) {
            const keys = state.keys.map((key) =>
              ids.includes(key.id) ? { ...key, lastSeenDay: Math.max(key.lastSeenDay ?? 0, day) } : key
            )
            return { ...state, keys }
          }
        })
      }
    })
  },
  concurrent: (made) => (made.has("update") ? "keys-store.update.atomic" : "keys-store.insert-first.atomic"),
  open: (store) => ({ store, inserts: 0, hashes: 0, now: 1 }),
  closing: ({ hashes }) => [
    ["list", {}],
    ["events", { id: null }],
    ...Array.from({ length: hashes + 4 }, (_, hash): Call => ["find", { hash, edit: "none" }])
  ],
  optional: {
    find: "keys-store.find-by-id",
    events: "keys-store.events",
    markSeen: "keys-store.mark-seen"
  },
  scenarios: [
    { calls: [["insertFirst", first]] },
    // A secret that an update drops.
    { calls: [insert, update("rotate"), update("rotate at once")] },
    // Lost updates show only on a key that exists.
    ...[null, 1, 2, 3].map((order) => ({
      order,
      calls: [insert],
      clients: Array.from({ length: 4 }, () => [1, 2].map(() => ({ call: update("advance"), turns: null })))
    }))
  ]
}
