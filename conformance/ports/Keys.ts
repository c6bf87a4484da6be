/** The calls of `ApiKeyStore`, on keys with unusual fields, and its contract as an array of keys. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Draws from "./Draws.ts"
import * as KeyDraws from "./KeyDraws.ts"
import * as Port from "./Port.ts"

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
  /** Events as text, because the search for an order compares states often. */
  readonly events: ReadonlyArray<{ readonly keyId: string; readonly text: string }>
  readonly changes: ReadonlyArray<{ readonly id: string; readonly isUpdate: boolean }>
}

type Begin = Port.Begin<Session, State>

const idOf = ({ inserts }: Session, id: KeyDraws.Id): string =>
  typeof id === "string" ? id : KeyDraws.idOf(id % Math.max(inserts, 1))

const newHash = (session: Session): string => KeyDraws.hashOf(session.hashes++)

const eventOf = (event: Omit<KeyEvent, "keyId"> | null, keyId: string) => event && { ...event, keyId }

const keyOf = (session: Session, { previous, secretAt, ...fields }: KeyDraws.Draft): ApiKey => {
  const current = { hash: newHash(session), createdAt: secretAt, expiresAt: undefined }
  return {
    ...fields,
    id: KeyDraws.idOf(session.inserts++),
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

const eventLine = ({ action, actor, at, changes, keyId }: KeyEvent): string => {
  const sorted = Object.entries(changes).map(([field, { from, to }]) => [field, from, to])
  return JSON.stringify([at, actor, keyId, action, sorted.sort()])
}

const isSame = (a: ApiKey | undefined, b: ApiKey): boolean => a !== undefined && identity(a) === identity(b)

/** Shortens the hashes in a text. */
const short = (text: string): string => text.replaceAll(/([0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})/g, "$1…$2")

const line = (key: ApiKey): string =>
  `${short(identity(key))}${key.lastSeenDay === undefined ? "" : ` seen on day ${key.lastSeenDay}`}`

const joined = (texts: ReadonlyArray<string>): string => texts.join(", ") || "none"

const lines = (keys: ReadonlyArray<ApiKey>): string => joined(keys.map(line))

const seenDays = (keys: ReadonlyArray<ApiKey>): string =>
  keys.map(({ lastSeenDay }) => lastSeenDay ?? "never").join(", ")

/** The clause about what a key is after the last change. */
const storing = ({ changes }: State, id: string): ClauseSlug => {
  const last = changes.at(-1)
  const isUpdated = changes.findLast((change) => change.id === id)?.isUpdate === true
  // A key that was not touched may have changed with the last change of another key.
  if (isUpdated || last?.isUpdate === true) return "keys-store.update.replaces"
  return last === undefined || last.id === id ? "keys-store.exact" : "keys-store.insert"
}

/** Adds or replaces a key. */
const changed = (
  { changes, events, keys }: State,
  key: ApiKey,
  event: KeyEvent | null,
  isUpdate = false
): State => ({
  keys: keys.some(({ id }) => id === key.id)
    ? keys.map((other) => (other.id === key.id ? key : other))
    : [...keys, key],
  events: event === null ? events : [...events, { keyId: event.keyId, text: eventLine(event) }],
  changes: [...changes, { id: key.id, isUpdate }]
})

const inserting = (by: "insert" | "insertFirst") =>
  fc.record({ draft: KeyDraws.draft, event: KeyDraws.event }).map(
    (given): Begin =>
      (session) => {
        const key = keyOf(session, given.draft)
        const event = eventOf(given.event, key.id)
        return Port.call((): Effect.Effect<unknown, unknown> => session.store[by](key, event ?? undefined), {
          did: `${by} ${line(key)}`,
          show: String,
          judge: (state: State, expect, isAdded) => {
            const isFirst = state.keys.length === 0
            const expected = () => `${isFirst} for a key that is ${isFirst ? "" : "not "}the first`
            if (by === "insertFirst") expect("keys-store.insert-first", isAdded === isFirst, expected)
            return by === "insert" || isFirst ? changed(state, key, event) : state
          }
        })
      }
  )

const find =
  (hash: string): Begin =>
  ({ store }) =>
    Port.call(() => Effect.map(store.findByHash(hash), Option.toArray), {
      did: `find by the hash ${short(hash)}`,
      show: lines,
      judge: (state: State, expect, found = []) => {
        const owner = state.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
        if (owner === undefined) {
          expect("keys-store.find.none", found.length === 0, () => `no key with the hash ${short(hash)}`)
          return state
        }
        const expected = () => `the key with this hash: ${line(owner)}`
        if (owner.secrets[0]?.hash !== hash) expect("keys-store.find.each-secret", found.length > 0, expected)
        expect("keys-store.find.by-hash", found[0]?.id === owner.id, expected)
        expect(storing(state, owner.id), isSame(found[0], owner), expected)
        return state
      }
    })

const list: Begin = ({ store }) =>
  Port.call(() => store.list, {
    did: "list",
    show: lines,
    judge: (state: State, expect, listed = []) => {
      const { keys } = state
      const expected = () => `in the list: ${lines(keys)}`
      const shown = keys.map(({ id }) => listed.find((key) => key.id === id))
      const isWhole = listed.length === keys.length && !shown.includes(undefined)
      const isInOrder = listed.every(({ id }, index) => id === keys[index]?.id)
      expect("keys-store.list.all", isWhole, expected)
      expect("keys-store.list.order", isInOrder, expected)
      for (const [index, key] of keys.entries())
        expect(storing(state, key.id), isSame(shown[index], key), () => line(key))
      const days = () => `last seen on the days ${seenDays(keys)}`
      if (keys.some(({ lastSeenDay }) => lastSeenDay !== undefined))
        expect("keys-store.mark-seen", seenDays(listed) === seenDays(keys), days)
      return state
    }
  })

const eventsOf =
  (given?: KeyDraws.Id): Begin =>
  (session) => {
    const id = given === undefined ? undefined : idOf(session, given)
    return Port.call(() => session.store.events?.(id), {
      did: `events of ${id ?? "all keys"}`,
      show: (got) => joined(got.map(eventLine)),
      judge: (state: State, expect, got = []) => {
        const own = state.events.filter(({ keyId }) => id === undefined || keyId === id)
        const all = joined(own.map(({ text }) => text))
        const expected = () => `the events of ${id ?? "all keys"}: ${all}`
        expect("keys-store.events", joined(got.map(eventLine)) === all, expected)
        return state
      }
    })
  }

export const keys: Port.Port<ApiKeyStore, Store, Session, State> = {
  name: "keys-store",
  tag: ApiKeyStore,
  storeOf: ({ apiKeyStore }) => apiKeyStore,
  initial: { keys: [], events: [], changes: [] },
  key: ({ events, keys }) => `${lines(keys)} ${events.map(({ text }) => text).join()}`,
  kinds: {
    insert: {
      weight: 6,
      clause: "keys-store.insert",
      draw: inserting("insert")
    },
    insertFirst: {
      weight: 4,
      clause: "keys-store.insert-first",
      together: "keys-store.insert-first.atomic",
      draw: inserting("insertFirst")
    },
    update: {
      weight: 12,
      clause: "keys-store.update.atomic",
      together: "keys-store.update.atomic",
      draw: fc
        .record({ id: KeyDraws.id, change: KeyDraws.change, result: Draws.result, event: KeyDraws.event })
        .map(({ change, result, ...given }) => (session) => {
          const id = idOf(session, given.id)
          const using = { hash: newHash(session), now: session.now++ }
          const event = eventOf(given.event, id)
          const updating = () =>
            Port.withFunction<ApiKey, readonly [unknown, ApiKey, KeyEvent | undefined]>(
              (change) =>
                Effect.map(
                  session.store.update(id, change),
                  Option.getOrElse(() => "Option.none")
                ),
              (key) => [result, change.of(key, using), event ?? undefined]
            )
          return Port.call(updating, {
            did: `update ${id}: ${change.name}, and return ${fc.stringify(result)}`,
            show: ({ ending, received }) =>
              `${ending}${received === undefined ? "" : ` for ${line(received)}`}`,
            judge: (state: State, expect, got) => {
              const before = state.keys.find((key) => key.id === id)
              const ends = (clause: ClauseSlug, ending: string) =>
                expect(clause, got?.ending === ending, () => `${ending} of the update of ${id}`)
              if (before === undefined) {
                ends("keys-store.update.none", "Option.none")
                return state
              }
              if (change === KeyDraws.bug) {
                ends("keys-store.update.replaces", Port.A_FAILURE)
                return { ...state, changes: [...state.changes, { id, isUpdate: true }] }
              }
              ends("keys-store.update.answer", Port.THE_RESULT)
              const isReceived = isSame(got?.received, before)
              expect(storing(state, id), isReceived, () => `a change that receives ${line(before)}`)
              return changed(state, change.of(before, using), event, true)
            }
          })
        })
    },
    find: {
      weight: 8,
      clause: "keys-store.find.by-hash",
      together: "keys-store.update.atomic",
      draw: KeyDraws.hash.map(find)
    },
    list: {
      weight: 4,
      clause: "keys-store.list.all",
      together: "keys-store.update.atomic",
      draw: fc.constant(list)
    },
    findById: {
      weight: 2,
      clause: "keys-store.find-by-id",
      method: "find",
      draw: KeyDraws.id.map((given) => (session) => {
        const id = idOf(session, given)
        return Port.call(() => session.store.find?.(id), {
          did: `find by the id ${id}`,
          show: (found) => lines(Option.toArray(found)),
          judge: (state: State, expect, found = Option.none<ApiKey>()) => {
            const stored = state.keys.filter((key) => key.id === id)
            const isRight = lines(Option.toArray(found)) === lines(stored)
            expect("keys-store.find-by-id", isRight, () => lines(stored))
            return state
          }
        })
      })
    },
    events: {
      weight: 2,
      clause: "keys-store.events",
      method: "events",
      draw: fc.option(KeyDraws.id, { nil: undefined }).map(eventsOf)
    },
    seen: {
      weight: 2,
      clause: "keys-store.mark-seen",
      method: "markSeen",
      draw: fc
        .tuple(fc.array(KeyDraws.id, { maxLength: 6 }), fc.nat(30_000))
        .map(([given, day]) => (session) => {
          const ids = [...new Set(given.map((id) => idOf(session, id)))]
          return Port.call(() => session.store.markSeen?.(ids, day), {
            did: `mark ${ids.join(", ")} as seen on day ${day}`,
            show: () => "done",
            judge: (state: State) => ({
              ...state,
              keys: state.keys.map((key) =>
                ids.includes(key.id) ? { ...key, lastSeenDay: Math.max(key.lastSeenDay ?? 0, day) } : key
              )
            })
          })
        })
    }
  },
  together: "keys-store.update.atomic",
  open: (store) => ({ store, inserts: 0, hashes: 0, now: 1 }),
  closing: ({ hashes }) => [
    { kind: "list", begin: list },
    { kind: "events", begin: eventsOf() },
    ...Array.from({ length: hashes + 4 }, (_, hash) => ({ kind: "find", begin: find(KeyDraws.hashOf(hash)) }))
  ],
  scenarios: []
}
