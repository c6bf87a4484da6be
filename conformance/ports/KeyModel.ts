/** The contract of `ApiKeyStore` as an array of keys. */
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Judge, type Law, law } from "./Port.ts"

type Change = "insert" | "insertFirst" | "update"

export interface State {
  readonly keys: ReadonlyArray<ApiKey>
  readonly events: ReadonlyArray<KeyEvent>
  /** Every hash that a key ever had. */
  readonly hashes: ReadonlySet<string>
  /** The method that last changed each key, and the last change of any key. */
  readonly changed: ReadonlyMap<string, Change>
  readonly last: { readonly id: string; readonly by: Change } | undefined
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
export const short = (text: string): string =>
  text.replaceAll(/([0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})/g, "$1…$2")

export const line = (key: ApiKey): string =>
  `${short(identity(key))}${key.lastSeenDay === undefined ? "" : ` seen on day ${key.lastSeenDay}`}`

export const lines = (keys: ReadonlyArray<ApiKey>): string =>
  keys.length === 0 ? "none" : keys.map(line).join(", ")

export const eventText = (events: ReadonlyArray<KeyEvent>): string => {
  const sorted = (changes: KeyEvent["changes"]) =>
    Object.entries(changes).map(([field, { from, to }]) => [field, from, to])
  const texts = events.map(({ action, actor, at, changes, keyId }) =>
    JSON.stringify([at, actor, keyId, action, sorted(changes).sort()])
  )
  return texts.length === 0 ? "none" : texts.join(", ")
}

/** The clause about what a key is after the last change. */
const storing = ({ changed, last }: State, id: string): ClauseSlug => {
  // A key that was not touched may have changed with the last change of another key.
  const isOther = last !== undefined && last.id !== id
  if (changed.get(id) === "update" || (isOther && last.by === "update")) return "keys-store.update.replaces"
  return isOther ? "keys-store.insert" : "keys-store.exact"
}

const seeing = {
  insert: "keys-store.find.sees-insert",
  insertFirst: "keys-store.find.sees-insert-first",
  update: "keys-store.find.sees-update"
} as const satisfies { readonly [change in Change]: ClauseSlug }

type KeyJudge<Output> = Judge<State, Output>

const changedBy = (state: State, by: Change, key: ApiKey, event: KeyEvent | undefined): State => ({
  keys: state.keys.some(({ id }) => id === key.id)
    ? state.keys.map((other) => (other.id === key.id ? key : other))
    : [...state.keys, key],
  events: event === undefined ? state.events : [...state.events, event],
  hashes: new Set([...state.hashes, ...key.secrets.map(({ hash }) => hash)]),
  changed: new Map(state.changed).set(key.id, by),
  last: { id: key.id, by }
})

/** An insert; the output of `insertFirst` is whether the key was added. */
export const insert =
  (by: "insert" | "insertFirst", key: ApiKey, event: KeyEvent | undefined): KeyJudge<unknown> =>
  (state, isAdded) => {
    const isFirst = state.keys.length === 0
    const expected = () => `${isFirst} for a key that is ${isFirst ? "" : "not "}the first`
    return {
      laws: by === "insert" ? [] : [law("keys-store.insert-first", isAdded === isFirst, expected)],
      next: by === "insert" || isFirst ? changedBy(state, by, key, event) : state
    }
  }

/** How an update ended, and the key that the change received. */
export interface Updated {
  readonly result: "Option.none" | "the result" | "another result" | "a failure"
  readonly received: ApiKey | undefined
}

/** An update; without `change`, its change throws. */
export const update =
  (
    id: string,
    change: ((key: ApiKey) => ApiKey) | undefined,
    event: KeyEvent | undefined
  ): KeyJudge<Updated> =>
  (state, got) => {
    const before = state.keys.find((key) => key.id === id)
    const returns = (clause: ClauseSlug, result: Updated["result"]): Law =>
      law(clause, got?.result === result, () => `${result} of the update of ${id}`)
    if (before === undefined) return { laws: [returns("keys-store.update.none", "Option.none")], next: state }
    if (change === undefined) {
      const laws = [returns("keys-store.update.replaces", "a failure")]
      return { laws, next: { ...state, last: { id, by: "update" } } }
    }
    const receives = () => `a change that receives ${line(before)}`
    return {
      laws: [
        returns("keys-store.update.answer", "the result"),
        law(storing(state, id), isSame(got?.received, before), receives)
      ],
      next: changedBy(state, "update", change(before), event)
    }
  }

export const find =
  (hash: string): KeyJudge<ReadonlyArray<ApiKey>> =>
  (state, found = []) => {
    const owner = state.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
    if (owner === undefined) {
      const clause = state.hashes.has(hash) ? "keys-store.find.dropped-secret" : "keys-store.find.none"
      const none = law(clause, found.length === 0, () => `no key with the hash ${short(hash)}`)
      return { laws: [none], next: state }
    }
    const expected = () => `the key with this hash: ${line(owner)}`
    const index = owner.secrets.findIndex((secret) => secret.hash === hash)
    const isFound = found.length > 0
    const by = state.changed.get(owner.id) ?? "insert"
    const isExpired = owner.revokedAt !== undefined || owner.secrets[index]?.expiresAt !== undefined
    const isExact = found.every((key) => isSame(key, owner))
    const laws = [
      ...(index > 0 ? [law("keys-store.find.each-secret", isFound, expected)] : []),
      ...(isExpired ? [law("keys-store.find.revoked", isFound, expected)] : []),
      law(seeing[by], isFound, expected),
      law("keys-store.find.by-hash", found[0]?.id === owner.id, expected),
      law(by === "update" ? seeing.update : "keys-store.exact", isExact, expected)
    ]
    return { laws, next: state }
  }

const seenDays = (keys: ReadonlyArray<ApiKey>): string =>
  keys.map(({ lastSeenDay }) => lastSeenDay ?? "never").join(", ")

export const list: KeyJudge<ReadonlyArray<ApiKey>> = (state, listed = []) => {
  const { keys, last } = state
  const expected = () => `in the list: ${lines(keys)}`
  const shown = keys.map(({ id }) => listed.find((key) => key.id === id))
  const isWhole = listed.length === keys.length && shown.every((key) => key !== undefined)
  const isInOrder = listed.every(({ id }, index) => id === keys[index]?.id)
  const days = () => `last seen on the days ${seenDays(keys)}`
  const laws = [
    law(last?.by === "insertFirst" ? "keys-store.insert-first" : "keys-store.list.all", isWhole, expected),
    law("keys-store.list.order", isInOrder, expected),
    ...keys.map((key, index) => {
      const own = shown[index]
      return law(storing(state, key.id), isSame(own, key), () => line(key))
    }),
    // A store without `markSeen` never shows a day.
    law("keys-store.mark-seen", seenDays(listed) === seenDays(keys), days)
  ]
  return { laws, next: state }
}

export const events =
  (id: string | undefined): KeyJudge<ReadonlyArray<KeyEvent>> =>
  (state, got = []) => {
    const all = eventText(state.events.filter(({ keyId }) => id === undefined || keyId === id))
    const expected = () => `the events of ${id ?? "all keys"}: ${all}`
    return { laws: [law("keys-store.events", eventText(got) === all, expected)], next: state }
  }

export const seen =
  (ids: ReadonlyArray<string>, day: number): KeyJudge<void> =>
  (state) => {
    const keys = state.keys.map((key) =>
      ids.includes(key.id) ? { ...key, lastSeenDay: Math.max(key.lastSeenDay ?? 0, day) } : key
    )
    return { laws: [], next: { ...state, keys } }
  }

export const initial: State = {
  keys: [],
  events: [],
  hashes: new Set(),
  changed: new Map(),
  last: undefined
}

export const key = ({ events: all, keys }: State): string =>
  `${keys.map(identity).join()} ${seenDays(keys)} ${eventText(all)}`
