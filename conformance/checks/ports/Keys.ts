/** Provides API keys and recorded calls for the laws of `ApiKeyStore`. */
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type { ApiKey, StoredSecret } from "../../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../../core/access/KeyEvent.ts"
import * as Plan from "../../../core/limits/Plan.ts"
import type { ApiKeyStore, KeyUpdate } from "../../../core/ports/ApiKeyStore.ts"
import { expect } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { portCall } from "../../subjects/PortCall.ts"
import * as Texts from "./Texts.ts"

export type Keys = ApiKeyStore["Service"]

/** The latest time of a `Date`, in epoch ms. */
const LATEST = 8_640_000_000_000_000

const time = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, LATEST - 1, LATEST),
  fc.integer({ min: 0, max: 1_000 }),
  fc.nat(LATEST)
)

const requests = fc.oneof(fc.constantFrom(1, Plan.maxRequests), fc.integer({ min: 1, max: Plan.maxRequests }))

/** A key without its id and its hashes, which `make` adds. */
export interface Draft extends Omit<ApiKey, "id" | "secrets"> {
  /** The creation time of the current secret, and the times of the previous secret if it is still stored. */
  readonly secrets: readonly [number, { readonly createdAt: number; readonly expiresAt: number } | undefined]
}

export const draft: fc.Arbitrary<Draft> = fc.record({
  plan: fc.constantFrom(...Plan.names),
  limits: fc.record({ perMinute: requests, perDay: requests }, { noNullPrototype: true }),
  label: fc.option(Texts.text, { nil: undefined }),
  createdAt: time,
  revokedAt: fc.option(time, { nil: undefined }),
  expiresAt: fc.option(time, { nil: undefined }),
  lastSeenDay: fc.constant(undefined),
  secrets: fc.tuple(
    time,
    fc.option(fc.record({ createdAt: time, expiresAt: time }, { noNullPrototype: true }), { nil: undefined })
  )
})

/** An ordinary draft. */
export const plain: Draft = {
  plan: "Free",
  limits: Plan.standard.Free,
  label: undefined,
  createdAt: 1,
  revokedAt: undefined,
  expiresAt: undefined,
  // Only a store with `markSeen` has to store this field.
  lastSeenDay: undefined,
  secrets: [1, undefined]
}

/** Drafts that together cover every unusual label, every plan, and the minimum and maximum of each number. */
export const boundaryDrafts: ReadonlyArray<Draft> = [
  plain,
  { ...plain, revokedAt: 0 },
  { ...plain, expiresAt: 0 },
  { ...plain, createdAt: 0, secrets: [0, { createdAt: 0, expiresAt: 0 }] },
  {
    plan: "Enterprise",
    limits: { perMinute: Plan.maxRequests, perDay: Plan.maxRequests },
    label: "maximum",
    createdAt: LATEST,
    revokedAt: LATEST,
    expiresAt: LATEST,
    lastSeenDay: undefined,
    secrets: [LATEST, { createdAt: LATEST, expiresAt: LATEST }]
  },
  ...Plan.names.map((plan, index) => ({
    ...plain,
    plan,
    limits: { perMinute: index + 1, perDay: Math.min(2 ** (8 * index), Plan.maxRequests) }
  })),
  ...Texts.awkward.map((label, index) => ({ ...plain, label, createdAt: 1_000 - index }))
]

/**
 * Returns hash number n: 64 hexadecimal digits. The hashes are hard to tell apart: most share a long prefix or suffix,
 * and hashes 2n and 2n+1 are equal if compared as numbers, such as 01 and 1e0.
 */
export const hash = (number: number): string => {
  const digits = String(Math.floor(number / 2) + 1)
  return number % 2 === 0 ? digits.padStart(64, "0") : `${digits}e`.padEnd(64, "0")
}

/** Returns id number n; ids 2n and 2n+1 differ only in letter case. */
export const id = (number: number): string => (number % 2 === 0 ? `key_a${number}` : `key_A${number - 1}`)

/** Creates the key with this number, and with hashes from `newHash`. */
export const make = (
  { secrets: [createdAt, previous], ...fields }: Draft,
  number: number,
  newHash: () => string
): ApiKey => {
  const current: StoredSecret = { hash: newHash(), createdAt, expiresAt: undefined }
  return {
    ...fields,
    id: id(number),
    secrets: previous === undefined ? [current] : [current, { hash: newHash(), ...previous }]
  }
}

/** Creates a key from each draft, with its own hashes. */
export const makeAll = (drafts: ReadonlyArray<Draft>): ReadonlyArray<ApiKey> => {
  let hashes = 0
  return drafts.map((draft, index) => make(draft, index, () => hash(hashes++)))
}

export const insert = (keys: Keys, key: ApiKey, trial: Trial, event?: KeyEvent) =>
  portCall(
    trial,
    `insert ${describe(key)}`,
    () => keys.insert(key, event),
    () => "done"
  )

export const insertFirst = (keys: Keys, key: ApiKey, trial: Trial, event?: KeyEvent) =>
  portCall(
    trial,
    `insert ${describe(key)} if it is the first`,
    () => keys.insertFirst(key, event),
    (isFirst) => (isFirst ? "inserted" : "not inserted")
  )

export const find = (keys: Keys, wanted: string, trial: Trial) =>
  portCall(
    trial,
    `find by the hash ${short(wanted)}`,
    () => keys.findByHash(wanted),
    (found) => describeAll(Option.toArray(found))
  )

export const update = <A>(keys: Keys, keyId: string, action: string, change: KeyUpdate<A>, trial: Trial) =>
  portCall(
    trial,
    `${action} ${keyId}`,
    () => keys.update(keyId, change),
    (result) => (Option.isSome(result) ? "done" : "none")
  )

export const list = (keys: Keys, trial: Trial) => portCall(trial, "list", () => keys.list, describeAll)

/** Whether two keys are equal in every field except `lastSeenDay`, with their secrets in the same order. */
export const isSame = (a: ApiKey, b: ApiKey): boolean =>
  a.id === b.id &&
  a.plan === b.plan &&
  a.limits.perMinute === b.limits.perMinute &&
  a.limits.perDay === b.limits.perDay &&
  a.label === b.label &&
  a.createdAt === b.createdAt &&
  a.revokedAt === b.revokedAt &&
  a.expiresAt === b.expiresAt &&
  a.secrets.length === b.secrets.length &&
  a.secrets.every((secret, index) => {
    const other = b.secrets[index]
    return (
      other !== undefined &&
      secret.hash === other.hash &&
      secret.createdAt === other.createdAt &&
      secret.expiresAt === other.expiresAt
    )
  })

/** Fails unless these are the expected keys, in this order. */
export const expectAll = (actual: ReadonlyArray<ApiKey>, expected: ReadonlyArray<ApiKey>, what: string) =>
  expect(
    actual.length === expected.length &&
      actual.every((key, index) => {
        const wanted = expected[index]
        return wanted !== undefined && isSame(key, wanted)
      }),
    `${what}: ${describeAll(expected)}`,
    describeAll(actual)
  )

const short = (wanted: string): string => `${wanted.slice(0, 4)}…${wanted.slice(-4)}`

/** Describes a key for messages. */
export const describe = ({
  createdAt,
  expiresAt,
  id: keyId,
  label,
  limits,
  plan,
  revokedAt,
  secrets
}: ApiKey): string =>
  `{${[
    keyId,
    plan,
    `${limits.perMinute}/${limits.perDay}`,
    ...(label === undefined ? [] : [`label ${JSON.stringify(label)}`]),
    `created at ${createdAt}`,
    ...(revokedAt === undefined ? [] : [`revoked at ${revokedAt}`]),
    ...(expiresAt === undefined ? [] : [`expires at ${expiresAt}`]),
    ...secrets.map(
      (secret) =>
        `secret ${short(secret.hash)} created at ${secret.createdAt}${
          secret.expiresAt === undefined ? "" : `, expires at ${secret.expiresAt}`
        }`
    )
  ].join(", ")}}`

/** Describes keys for messages. */
export const describeAll = (found: ReadonlyArray<ApiKey>): string =>
  found.length === 0 ? "none" : found.map(describe).join(", ")
