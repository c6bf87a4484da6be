/** The contract of `ApiKeyStore` as an array of keys. */
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Judge, type Law, law } from "./Port.ts"

export interface Output {
  readonly says: string
  /** The keys that the call returned, or that the change of an update received. */
  readonly keys: ReadonlyArray<ApiKey>
}

/** What an update shows: an unknown key, the result of the change, or a failure. */
export const [NONE, SAME, FAILED] = ["Option.none", "the result", "a failure"]

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

/** Encodes every field except `lastSeenDay`, which only a store with `markSeen` has to store. */
const identity = ({ lastSeenDay: _, ...key }: ApiKey): string => JSON.stringify(fieldsOf(key))

const fieldsOf = (key: Omit<ApiKey, "lastSeenDay">): ReadonlyArray<unknown> =>
  [
    ...[key.id, key.plan, key.limits.perMinute, key.limits.perDay],
    ...[key.label, key.createdAt, key.revokedAt, key.expiresAt],
    ...key.secrets.flatMap(({ createdAt, expiresAt, hash }) => [hash, createdAt, expiresAt])
  ].map((value) => (value === undefined ? "absent" : value === null ? "null" : value))

const isSame = (a: ApiKey, b: ApiKey): boolean => identity(a) === identity(b)

export const short = (hash: string): string => `${hash.slice(0, 4)}…${hash.slice(-4)}`

export const line = ({ limits, secrets, ...key }: ApiKey): string => {
  const times = { createdAt: key.createdAt, revokedAt: key.revokedAt, expiresAt: key.expiresAt }
  const shown = Object.entries({ label: key.label, ...times, lastSeenDay: key.lastSeenDay })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `, ${name} ${JSON.stringify(value)}`)
  const ofSecrets = secrets.map(
    ({ createdAt, expiresAt, hash }) =>
      `, secret ${short(hash)} of ${createdAt}${expiresAt === undefined ? "" : ` until ${expiresAt}`}`
  )
  return `{${key.id}, ${key.plan}, ${limits.perMinute}/${limits.perDay}${shown.join("")}${ofSecrets.join("")}}`
}

const lines = (keys: ReadonlyArray<ApiKey>): string =>
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
  return changed.get(id) === "update" || (isOther && last.by === "update")
    ? "keys-store.update.replaces"
    : isOther
      ? "keys-store.insert"
      : "keys-store.exact"
}

const seeing = {
  insert: "keys-store.find.sees-insert",
  insertFirst: "keys-store.find.sees-insert-first",
  update: "keys-store.find.sees-update"
} as const satisfies { readonly [change in Change]: ClauseSlug }

const lawsOfFind = (state: State, hash: string, found: ReadonlyArray<ApiKey>): ReadonlyArray<Law> => {
  const owner = state.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
  if (owner === undefined) {
    const clause = state.hashes.has(hash) ? "keys-store.find.dropped-secret" : "keys-store.find.none"
    return [law(clause, found.length === 0, () => `no key with the hash ${short(hash)}`)]
  }
  const expected = () => `the key with this hash: ${line(owner)}`
  const index = owner.secrets.findIndex((secret) => secret.hash === hash)
  const isFound = found.length > 0
  const by = state.changed.get(owner.id) ?? "insert"
  const isExpired = owner.revokedAt !== undefined || owner.secrets[index]?.expiresAt !== undefined
  return [
    ...(index > 0 ? [law("keys-store.find.each-secret", isFound, expected)] : []),
    ...(isExpired ? [law("keys-store.find.revoked", isFound, expected)] : []),
    law(seeing[by], isFound, expected),
    law("keys-store.find.by-hash", found.length === 1 && found[0]?.id === owner.id, expected),
    law(
      by === "update" ? seeing.update : "keys-store.exact",
      found.every((key) => isSame(key, owner)),
      expected
    )
  ]
}

const seenDays = (keys: ReadonlyArray<ApiKey>): string =>
  keys.map(({ lastSeenDay }) => lastSeenDay ?? "never").join(", ")

const lawsOfList = (state: State, listed: ReadonlyArray<ApiKey>): ReadonlyArray<Law> => {
  const { keys, last } = state
  const expected = () => `in the list: ${lines(keys)}`
  const shown = keys.map(({ id }) => listed.find((key) => key.id === id))
  const isWhole = listed.length === keys.length && shown.every((key) => key !== undefined)
  const days = () => `last seen on the days ${seenDays(keys)}`
  return [
    law(last?.by === "insertFirst" ? "keys-store.insert-first" : "keys-store.list.all", isWhole, expected),
    law(
      "keys-store.list.order",
      listed.every(({ id }, index) => id === keys[index]?.id),
      expected
    ),
    ...keys.map((key, index) => {
      const own = shown[index]
      return law(storing(state, key.id), own !== undefined && isSame(own, key), () => line(key))
    }),
    // A store without `markSeen` never shows a day.
    law("keys-store.mark-seen", seenDays(listed) === seenDays(keys), days)
  ]
}

const changedBy = (state: State, by: Change, key: ApiKey, event: KeyEvent | undefined): State => ({
  keys: state.keys.some(({ id }) => id === key.id)
    ? state.keys.map((other) => (other.id === key.id ? key : other))
    : [...state.keys, key],
  events: event === undefined ? state.events : [...state.events, event],
  hashes: new Set([...state.hashes, ...key.secrets.map(({ hash }) => hash)]),
  changed: new Map(state.changed).set(key.id, by),
  last: { id: key.id, by }
})

type KeyJudge = Judge<State, Output>

const nothing: Output = { says: "", keys: [] }

export const insert =
  (key: ApiKey, event: KeyEvent | undefined): KeyJudge =>
  (state) => ({ laws: [], next: changedBy(state, "insert", key, event) })

export const insertFirst =
  (key: ApiKey, event: KeyEvent | undefined): KeyJudge =>
  (state, { says } = nothing) => {
    const isFirst = state.keys.length === 0
    const expected = () => `${isFirst} for a key that is ${isFirst ? "" : "not "}the first`
    return {
      laws: [law("keys-store.insert-first", says === String(isFirst), expected)],
      next: isFirst ? changedBy(state, "insertFirst", key, event) : state
    }
  }

/** An update; without `change`, its change throws. */
export const update =
  (id: string, change: ((key: ApiKey) => ApiKey) | undefined, event: KeyEvent | undefined): KeyJudge =>
  (state, { keys, says } = nothing) => {
    const before = state.keys.find((key) => key.id === id)
    if (before === undefined) {
      const expected = () => `${NONE} for the update of ${id}`
      return { laws: [law("keys-store.update.none", says === NONE, expected)], next: state }
    }
    if (change === undefined) {
      const expected = () => `a failure of the update of ${id}`
      return {
        laws: [law("keys-store.update.replaces", says === FAILED, expected)],
        next: { ...state, last: { id, by: "update" } }
      }
    }
    const isReceived = keys.length === 1 && keys.every((key) => isSame(key, before))
    return {
      laws: [
        law("keys-store.update.answer", says === SAME, () => "the result of the change"),
        law(storing(state, id), isReceived, () => `a change that receives ${line(before)}`)
      ],
      next: changedBy(state, "update", change(before), event)
    }
  }

export const find =
  (hash: string): KeyJudge =>
  (state, { keys } = nothing) => ({ laws: lawsOfFind(state, hash, keys), next: state })

export const list: KeyJudge = (state, { keys } = nothing) => ({ laws: lawsOfList(state, keys), next: state })

export const events =
  (id: string | undefined): KeyJudge =>
  (state, { says } = nothing) => {
    const all = eventText(state.events.filter(({ keyId }) => id === undefined || keyId === id))
    const expected = () => `the events of ${id ?? "all keys"}: ${all}`
    return { laws: [law("keys-store.events", says === all, expected)], next: state }
  }

export const seen =
  (ids: ReadonlyArray<string>, day: number): KeyJudge =>
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

export const stateKey = ({ events: all, keys }: State): string =>
  `${keys.map(identity).join()} ${seenDays(keys)} ${eventText(all)}`

export const rank = ({ keys: [before], says }: Output): number =>
  says === "true" ? -1 : (before?.createdAt ?? 0)

export const show = ({ keys, says }: Output): string =>
  says === "" ? lines(keys) : [says, ...keys.map(line)].join(", ")
