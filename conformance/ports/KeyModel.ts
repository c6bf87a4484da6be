/** The contract of `ApiKeyStore` as an array of keys. */
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { type Judged, type Law, law, type Model } from "./Port.ts"

/** A call with its arguments. */
export type Input =
  | { readonly do: "insert" | "insertFirst"; readonly key: ApiKey; readonly event: KeyEvent | undefined }
  | {
      readonly do: "update"
      readonly id: string
      /** What the change does, for messages. */
      readonly action: string
      readonly change: (key: ApiKey) => ApiKey
      readonly event: KeyEvent | undefined
    }
  /** An update whose change throws. */
  | { readonly do: "throw"; readonly id: string }
  | { readonly do: "find"; readonly hash: string }
  | { readonly do: "list" }
  | { readonly do: "events"; readonly id: string | undefined }
  | { readonly do: "seen"; readonly ids: ReadonlyArray<string>; readonly day: number }

export interface Output {
  readonly says: string
  /** The keys that the call returned, or that the change of an update received. */
  readonly keys: ReadonlyArray<ApiKey>
}

export interface State {
  readonly keys: ReadonlyArray<ApiKey>
  readonly events: ReadonlyArray<KeyEvent>
  /** Every hash that a key ever had. */
  readonly hashes: ReadonlySet<string>
  /** The method that last changed each key, and the last change of any key. */
  readonly changed: ReadonlyMap<string, Input["do"]>
  readonly last: { readonly id: string; readonly by: Input["do"] } | undefined
  readonly marksSeen: boolean
}

const isSame = (a: ApiKey, b: ApiKey): boolean => identity(a) === identity(b)

/** Encodes every field except `lastSeenDay`, which only a store with `markSeen` has to keep. */
const identity = (key: ApiKey): string =>
  JSON.stringify(
    [
      ...[key.id, key.plan, key.limits.perMinute, key.limits.perDay],
      ...[key.label, key.createdAt, key.revokedAt, key.expiresAt],
      ...key.secrets.map(({ createdAt, expiresAt, hash }) => [hash, createdAt, expiresAt])
    ],
    (_name, value: unknown) => (value === undefined ? "absent" : value === null ? "null" : value)
  )

const short = (hash: string): string => `${hash.slice(0, 4)}…${hash.slice(-4)}`

const line = (key: ApiKey): string => {
  const { createdAt, expiresAt, id, label, limits, plan, revokedAt, secrets } = key
  const optional = (name: string, value: unknown): ReadonlyArray<string> =>
    value === undefined
      ? []
      : [`${name} ${typeof value === "string" ? JSON.stringify(value) : String(value)}`]
  const all = [
    ...[id, plan, `${limits.perMinute}/${limits.perDay}`, ...optional("label", label)],
    ...[`created at ${createdAt}`, ...optional("revoked at", revokedAt)],
    ...[...optional("expires at", expiresAt), ...optional("last seen on day", key.lastSeenDay)],
    ...secrets.map((secret) =>
      [
        `secret ${short(secret.hash)} created at ${secret.createdAt}`,
        ...optional("expires at", secret.expiresAt)
      ].join(", ")
    )
  ]
  return `{${all.join(", ")}}`
}

export const lines = (keys: ReadonlyArray<ApiKey>): string =>
  keys.length === 0 ? "none" : keys.map(line).join(", ")

export const eventText = (events: ReadonlyArray<KeyEvent>): string =>
  events.length === 0
    ? "none"
    : events
        .map(({ action, actor, at, changes, keyId }) =>
          JSON.stringify([
            at,
            actor,
            keyId,
            action,
            Object.entries(changes)
              .map(([field, { from, to }]) => [field, from, to])
              .sort()
          ])
        )
        .join(", ")

/** The clause about what the last change of a key stored. */
const storing = ({ changed, last }: State, id: string): ClauseSlug => {
  if (changed.get(id) === "update" || changed.get(id) === "throw") return "keys-store.update.replaces"
  // A key that was not touched changed with the last change of another key.
  if (last !== undefined && last.id !== id)
    return last.by === "update" || last.by === "throw" ? "keys-store.update.replaces" : "keys-store.insert"
  return "keys-store.exact"
}

const seeing = { insert: "insert", insertFirst: "insert-first" } as const

const afterFind = (state: State, hash: string, found: ReadonlyArray<ApiKey>): ReadonlyArray<Law> => {
  const owner = state.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash))
  if (owner === undefined) {
    const clause = state.hashes.has(hash) ? "keys-store.find.dropped-secret" : "keys-store.find.none"
    return [law(clause, found.length === 0, () => `no key with the hash ${short(hash)}`)]
  }
  const expected = () => `the key with this hash: ${line(owner)}`
  const index = owner.secrets.findIndex((secret) => secret.hash === hash)
  const isFound = found.length > 0
  const by = state.changed.get(owner.id)
  const sees =
    `keys-store.find.sees-${by === "insert" || by === "insertFirst" ? seeing[by] : "update"}` as const
  const isExpired = owner.revokedAt !== undefined || owner.secrets[index]?.expiresAt !== undefined
  return [
    ...(index > 0 ? [law("keys-store.find.each-secret", isFound, expected)] : []),
    ...(isExpired ? [law("keys-store.find.revoked", isFound, expected)] : []),
    law(sees, isFound, expected),
    law("keys-store.find.by-hash", found.length === 1 && found.every(({ id }) => id === owner.id), expected),
    law(
      by === "update" ? sees : "keys-store.exact",
      found.every((key) => isSame(key, owner)),
      expected
    )
  ]
}

const seenDays = (keys: ReadonlyArray<ApiKey>): string =>
  keys.map(({ lastSeenDay }) => lastSeenDay ?? "never").join(", ")

const afterList = (state: State, listed: ReadonlyArray<ApiKey>): ReadonlyArray<Law> => {
  const { keys, last } = state
  const expected = () => `in the list: ${lines(keys)}`
  const own = keys.map((key) => listed.filter(({ id }) => id === key.id))
  const isWhole = own.every(({ length }) => length === 1) && listed.length === keys.length
  const wasFirst = last?.by === "insertFirst"
  return [
    law(wasFirst ? "keys-store.insert-first" : "keys-store.list.all", isWhole, expected),
    law(
      "keys-store.list.order",
      listed.every(({ id }, index) => id === keys[index]?.id),
      expected
    ),
    ...keys.map((key, index) =>
      law(storing(state, key.id), own[index]?.every((shown) => isSame(shown, key)) === true, () => line(key))
    ),
    ...(state.marksSeen
      ? [
          law(
            "keys-store.mark-seen",
            seenDays(listed) === seenDays(keys),
            () => `last seen on the days ${seenDays(keys)}`
          )
        ]
      : [])
  ]
}

const changedBy = (state: State, by: Input["do"], key: ApiKey, event: KeyEvent | undefined): State => ({
  ...state,
  keys: state.keys.some(({ id }) => id === key.id)
    ? state.keys.map((other) => (other.id === key.id ? key : other))
    : [...state.keys, key],
  events: event === undefined ? state.events : [...state.events, event],
  hashes: new Set([...state.hashes, ...key.secrets.map(({ hash }) => hash)]),
  changed: new Map(state.changed).set(key.id, by),
  last: { id: key.id, by }
})

const afterUpdate = (
  state: State,
  { change, event, id }: Input & { readonly do: "update" },
  output: Output | undefined
): Judged<State> => {
  const before = state.keys.find((key) => key.id === id)
  if (before === undefined) {
    const isNone = output?.says === NONE
    const expected = () => `Option.none for the update of ${id}`
    return {
      laws: output === undefined ? [] : [law("keys-store.update.none", isNone, expected)],
      next: state
    }
  }
  const received = () => `a change that receives ${line(before)}`
  const laws =
    output === undefined
      ? []
      : [
          law("keys-store.update.answer", output.says === SAME, () => "the result of the change"),
          law(
            storing(state, id),
            output.keys.length === 1 && output.keys.every((key) => isSame(key, before)),
            received
          )
        ]
  return { laws, next: changedBy(state, "update", change(before), event) }
}

export const model: Model<State, Input, Output> = {
  initial: {
    keys: [],
    events: [],
    hashes: new Set(),
    changed: new Map(),
    last: undefined,
    marksSeen: true
  },
  step: (state, input, output) => {
    switch (input.do) {
      case "insert":
        return { laws: [], next: changedBy(state, "insert", input.key, input.event) }
      case "insertFirst": {
        const isFirst = state.keys.length === 0
        const expected = () => (isFirst ? "true for the first key" : "false for a key that is not the first")
        const holds = output?.says === String(isFirst)
        return {
          laws: output === undefined ? [] : [law("keys-store.insert-first", holds, expected)],
          next: isFirst ? changedBy(state, "insertFirst", input.key, input.event) : state
        }
      }
      case "update":
        return afterUpdate(state, input, output)
      case "throw": {
        const expected = () => `a failure of the update of ${input.id}`
        const isKnown = state.keys.some(({ id }) => id === input.id)
        const fails = law(
          "keys-store.update.none",
          (output?.says === FAILED) === isKnown,
          isKnown ? expected : () => NONE
        )
        const last = { id: input.id, by: "throw" } as const
        return { laws: [fails], next: isKnown ? { ...state, last } : state }
      }
      case "find":
        return { laws: output === undefined ? [] : afterFind(state, input.hash, output.keys), next: state }
      case "list":
        return { laws: output === undefined ? [] : afterList(state, output.keys), next: state }
      case "events": {
        const { id } = input
        const all = eventText(state.events.filter(({ keyId }) => id === undefined || keyId === id))
        const expected = () => `the events of ${id ?? "all keys"}: ${all}`
        return { laws: [law("keys-store.events", output?.says === all, expected)], next: state }
      }
      case "seen": {
        const { day, ids } = input
        const keys = state.keys.map((key) =>
          ids.includes(key.id) ? { ...key, lastSeenDay: Math.max(key.lastSeenDay ?? 0, day) } : key
        )
        return { laws: [], next: { ...state, keys } }
      }
    }
  },
  key: ({ events, keys }) => `${keys.map(identity).join()} ${seenDays(keys)} ${events.length}`,
  rank: (input, { says, keys: [before] }) =>
    input.do === "insertFirst" ? Number(says !== "true") : Number(before?.createdAt ?? 0),
  failing: (input) => {
    switch (input.do) {
      case "insert":
        return "keys-store.insert"
      case "insertFirst":
        return "keys-store.insert-first"
      case "update":
      case "throw":
        return "keys-store.update.atomic"
      case "find":
        return "keys-store.find.by-hash"
      case "list":
        return "keys-store.list.all"
      case "events":
        return "keys-store.events"
      case "seen":
        return "keys-store.mark-seen"
    }
  },
  concurrent: (inputs) =>
    inputs.some((input) => input.do === "update")
      ? "keys-store.update.atomic"
      : "keys-store.insert-first.atomic",
  showInput: (input) => {
    switch (input.do) {
      case "insert":
        return `insert ${line(input.key)}`
      case "insertFirst":
        return `insert ${line(input.key)} if it is the first`
      case "update":
        return `${input.action} ${input.id}`
      case "throw":
        return `update ${input.id} with a change that throws`
      case "find":
        return `find by the hash ${short(input.hash)}`
      case "list":
        return "list"
      case "events":
        return `events of ${input.id ?? "all keys"}`
      case "seen":
        return `mark ${input.ids.join(", ")} as seen on day ${input.day}`
    }
  },
  showOutput: ({ keys, says }) =>
    says === "" ? lines(keys) : keys.length === 0 ? says : `${says}, ${lines(keys)}`
}

/** What a call shows of an unknown key, of the result of a change, and of a change that threw. */
export const [NONE, SAME, FAILED] = ["Option.none", "the result", "a failure"]
