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

/** A hash, or one with another digit at one end, or with all digits moved by one position. */
export const hash = fc
  .tuple(
    fc.nat(60),
    fc.constantFrom(
      (hash: string) => hash,
      (hash: string) => `f${hash.slice(1)}`,
      (hash: string) => `${hash.slice(0, -1)}f`,
      (hash: string) => `${hash.slice(1)}0`,
      (hash: string) => `0${hash.slice(0, -1)}`
    )
  )
  .map(([number, edit]) => edit(hashOf(number)))

/** Returns id number n; ids 2n and 2n+1 differ only in letter case. */
export const idOf = (number: number): string => (number % 2 === 0 ? `key_a${number}` : `key_A${number - 1}`)

/** The number of a key among those that were inserted, or an id of no key. */
export type Id = number | string
export const id = Draws.weighted<Id>(
  [8, fc.nat(60)],
  [1, fc.constantFrom("key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%")]
)

const time = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, LATEST - 1, LATEST),
  fc.nat(1_000),
  fc.nat(LATEST)
)
const requests = fc.oneof(fc.constantFrom(1, Plan.maxRequests), fc.integer({ min: 1, max: Plan.maxRequests }))

const member = fc.option(
  fc.oneof(Draws.text, fc.boolean(), fc.maxSafeInteger(), fc.array(Draws.text, { maxLength: 2 }))
)

const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const fields = {
  plan: fc.constantFrom(...Plan.names),
  limits: fc.record({ perMinute: requests, perDay: requests }, Draws.usual),
  label: optional(Draws.text),
  account: optional(Draws.text),
  metadata: optional(fc.dictionary(Draws.text, member, { ...Draws.usual, maxKeys: 3 })),
  createdAt: time,
  revokedAt: optional(time),
  expiresAt: optional(time)
}

/** A key without its id and its hashes; `previous` is the previous secret, if it is still stored. */
export const draft = fc.record(
  { ...fields, secretAt: time, previous: optional(fc.record({ createdAt: time, expiresAt: time })) },
  Draws.usual
)
export type Draft = typeof draft extends fc.Arbitrary<infer Value> ? Value : never

/** A change of a key, which may depend on a new hash and the time. */
interface Change {
  readonly name: string
  readonly of: (key: Key, given: { readonly hash: string; readonly now: number }) => Key
}

const rotate = (overlapMs: number): Change => ({
  name: `rotate its secret in ${overlapMs} ms`,
  of: (key, { hash, now }) => Result.getOrElse(ApiKey.rotate(key, hash, overlapMs, now), () => key)
})

/** A bug of the caller. */
export const bug: Change = {
  name: "throw",
  of: () => {
    throw new Error("a bug in the change")
  }
}

export const change = Draws.weighted<Change>(
  [3, fc.constantFrom(rotate(10), rotate(0), bug)],
  [
    4,
    fc.record(fields, { ...Draws.usual, requiredKeys: [] }).map((changed) => ({
      name: `change ${fc.stringify(changed)}`,
      of: (key) => ({ ...key, ...changed })
    }))
  ]
)

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
