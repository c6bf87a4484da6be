/** Draws keys, changes and events, and hashes and ids that are hard to tell apart. */
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../core/access/ApiKey.ts"
import * as KeyEvent from "../../core/access/KeyEvent.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as Draws from "./Draws.ts"

type Key = ApiKey.ApiKey

/** The latest time of a `Date`, in epoch ms. */
const LATEST = 8_640_000_000_000_000

/**
 * Returns hash number n: 64 hexadecimal digits. The hashes are hard to tell apart: most share a long prefix or suffix,
 * and hashes 2n and 2n+1 are equal if compared as numbers, such as 01 and 1e0.
 */
export const hashOf = (number: number): string => {
  const digits = String(Math.floor(number / 2) + 1)
  return number % 2 === 0 ? digits.padStart(64, "0") : `${digits}e`.padEnd(64, "0")
}

/** Other hashes: another digit at one end, or all digits moved by one position. */
export const edits = {
  none: (hash: string) => hash,
  first: (hash: string) => `f${hash.slice(1)}`,
  last: (hash: string) => `${hash.slice(0, -1)}f`,
  left: (hash: string) => `${hash.slice(1)}0`,
  right: (hash: string) => `0${hash.slice(0, -1)}`
}

/** The number of a key in the order of insertion, or an id of no key, which is similar to those of keys. */
export const id = Draws.weighted<number | string>(
  [5, fc.nat(1)],
  [5, fc.nat(6)],
  [2, fc.nat(60)],
  [1, fc.constantFrom("key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%")]
)

/** Returns id number n; ids 2n and 2n+1 differ only in letter case. */
export const idOf = (wanted: number | string): string =>
  typeof wanted === "string" ? wanted : wanted % 2 === 0 ? `key_a${wanted}` : `key_A${wanted - 1}`

/** What a change may depend on: a text, a new hash, and a time. */
export interface Given {
  readonly text: string | undefined
  readonly hash: string
  readonly now: number
}

const rotated =
  (overlapMs: number) =>
  (key: Key, { hash, now }: Given): Key =>
    Result.getOrElse(ApiKey.rotate(key, hash, overlapMs, now), () => key)

/** Changes of keys by name. */
export const changes = {
  rotate: rotated(10),
  "rotate at once": rotated(0),
  revoke: (key, { now }) => ApiKey.revoke(key, now),
  relabel: (key, { text }) => ({ ...key, label: text }),
  move: (key, { text }) => ({ ...key, account: text }),
  annotate: (key, { text }) => ({ ...key, metadata: text === undefined ? text : { ...key.metadata, text } }),
  replan: (key) => ({ ...key, plan: "Pro", limits: { perMinute: 7, perDay: Plan.maxRequests } }),
  advance: (key) => ({ ...key, createdAt: Math.min(key.createdAt + 1, LATEST) }),
  nothing: (key) => ({ ...key }),
  /** A bug of the caller. */
  throw: undefined
} satisfies { readonly [name: string]: ((key: Key, given: Given) => Key) | undefined }

/** Results of changes that a store might inspect by mistake. */
export const results = {
  "the key": (key: Key) => key,
  "a string": () => "a string",
  "the number 0": () => 0,
  null: () => null,
  undefined: () => undefined
}

const time = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, LATEST - 1, LATEST),
  fc.nat(1_000),
  fc.nat(LATEST)
)
const requests = fc.oneof(fc.constantFrom(1, Plan.maxRequests), fc.integer({ min: 1, max: Plan.maxRequests }))

const member = fc.option(
  fc.oneof(Draws.text, fc.boolean(), fc.maxSafeInteger(), fc.array(Draws.text, { maxLength: 2 }))
)

/** A key without its id and its hashes. */
export const draft = fc.record(
  {
    plan: fc.constantFrom(...Plan.names),
    limits: fc.record({ perMinute: requests, perDay: requests }, Draws.usual),
    label: Draws.text,
    account: Draws.text,
    metadata: fc.dictionary(Draws.text, member, { ...Draws.usual, maxKeys: 3 }),
    createdAt: time,
    revokedAt: time,
    expiresAt: time,
    /** The creation time of the current secret. */
    secretAt: time,
    /** The previous secret, if it is still stored. */
    previous: fc.record({ createdAt: time, expiresAt: time })
  },
  { ...Draws.usual, requiredKeys: ["plan", "limits", "createdAt", "secretAt"] }
)
export type Draft = typeof draft extends fc.Arbitrary<infer Value> ? Value : never

const value = fc.option(fc.oneof(Draws.text, fc.maxSafeInteger()))

/** An event without its key. */
export const event = fc.option(
  fc.record({
    at: fc.nat(LATEST),
    actor: Draws.text,
    action: fc.constantFrom(...KeyEvent.actions),
    changes: fc.dictionary(
      fc.constantFrom("plan", "perMinute", "perDay", "label", "expiresAt"),
      fc.record({ from: value, to: value }, Draws.usual),
      Draws.usual
    )
  })
)
