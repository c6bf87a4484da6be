/** Lists credentials (contract §5): valid, missing, invalid, and near misses of the main key. */
import type { Sent } from "./Program.ts"

/** The parts of a request that carry a credential. */
export interface Credential extends Pick<Sent, "authorization" | "headers" | "key"> {
  /** A query parameter. */
  readonly query?: string
}

/** Derives a credential from the main key. */
export type Derived = (key: string) => Credential

const withKey = (text: string, key: string): string => text.replaceAll("KEY", () => key)

/** Sends values of `Authorization`, in which `KEY` stands for the key. */
const as =
  (...values: ReadonlyArray<string>): Derived =>
  (key) => ({ authorization: values.map((value) => withKey(value, key)) })

const bearer =
  (write: (key: string) => string): Derived =>
  (key) => ({ authorization: [`Bearer ${write(key)}`] })

/** Sends the key elsewhere than in `Authorization`. */
const header =
  (name: string, value = "KEY"): Derived =>
  (key) => ({ authorization: [], headers: [[name, withKey(value, key)]] })

const otherCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase()

/** Replaces the letter or digit at a part of the key, from 0 to 1, by another one. */
const changeAt = (part: number, change: (character: string) => string) => (key: string) => {
  const places = [...key.matchAll(/[A-Za-z0-9]/g)].map(({ index }) => index)
  const at = places[Math.round((places.length - 1) * part)] ?? 0
  return key.slice(0, at) + change(key.charAt(at)) + key.slice(at + 1)
}

// A distant character, because the low bits of the last character of base64 may have no meaning.
const otherCharacter = (character: string): string => {
  if (/[0-9]/.test(character)) return character < "5" ? "9" : "0"
  return character.toLowerCase() < "n" ? "z" : "a"
}

const changeLetter = (key: string): string =>
  key.replace(/[A-Za-z](?=[^A-Za-z]*$)/, (letter) => otherCase(letter))

const percent = (text: string): string =>
  text.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`)

/** Credentials that are no key, or no valid one; the most usual ones first. */
export const invalid: ReadonlyArray<Derived> = [
  as(),
  as("Bearer no-such-key-0123456789"),
  () => ({ key: "revoked" }),
  () => ({ key: "expired" }),
  ...["", "Bearer", "Bearer ", "Bearer undefined", "Bearer %", "Bearer ' OR '1'='1"].map((value) =>
    as(value)
  ),
  ...[513, 4_000].map((length) => as(`Bearer ${"a".repeat(length)}`))
]

/** Credentials that differ a little from the main key or its form; the nearest ones first. */
export const near: ReadonlyArray<Derived> = [
  ...[0, 0.5, 1].map((part) => bearer(changeAt(part, otherCharacter))),
  bearer((key) => key.slice(1)),
  bearer((key) => key.slice(0, -1)),
  as("Bearer 0KEY"),
  as("Bearer KEY0"),
  bearer(changeLetter),
  bearer(otherCase),
  bearer((key) => key.toUpperCase()),
  bearer((key) => key.slice(0, key.length >> 1)),
  bearer((key) => [...key].toReversed().join("")),
  bearer((key) => percent(key.charAt(0)) + key.slice(1)),
  bearer(percent),
  ...["KEY.", "KEY and more", "KEYKEY", '"KEY"', "'KEY'", "<KEY>", "Bearer KEY"].map((token) =>
    as(`Bearer ${token}`)
  ),
  ...[
    "Basic KEY",
    "Token KEY",
    "Bearerx KEY",
    "Bear KEY",
    "Bearer:KEY",
    "Bearer=KEY",
    "KEY",
    "BearerKEY"
  ].map((value) => as(value)),
  (key) => ({ authorization: [`Basic ${btoa(`animals:${key}`)}`] }),
  header("X-API-Key"),
  header("Api-Key"),
  header("X-Authorization", "Bearer KEY"),
  header("Proxy-Authorization", "Bearer KEY"),
  header("Cookie", "token=KEY; api_key=KEY"),
  ...["access_token", "api_key", "key", "token"].map(
    (name): Derived =>
      (key) => ({ authorization: [], query: `${name}=${encodeURIComponent(key)}` })
  )
]

/** Credentials that a service may accept or reject. */
export const open: ReadonlyArray<Derived> = [
  ...["bearer KEY", "BEARER KEY", "Bearer  KEY", "Bearer\tKEY", "Bearer KEY "].map((value) => as(value)),
  as("Bearer no-such-key, Bearer KEY"),
  as("Bearer KEY", "Bearer KEY"),
  as("Bearer KEY", "Bearer no-such-key"),
  as("Bearer no-such-key", "Bearer KEY")
]

/** Returns the request with another credential. */
export const withCredential = (sent: Sent, { query: parameter, ...credential }: Credential): Sent => ({
  ...sent,
  ...credential,
  headers: [...(sent.headers ?? []), ...(credential.headers ?? [])],
  path: parameter === undefined ? sent.path : `${sent.path}${sent.path.includes("?") ? "&" : "?"}${parameter}`
})
