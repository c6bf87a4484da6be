/** Lists credentials (contract §5): valid, missing, invalid, and near misses of the main key. */
import type { Sent } from "./Program.ts"

/** The parts of a request that carry a credential. */
export interface Credential extends Pick<Sent, "authorization" | "headers" | "key"> {
  /** A query parameter. */
  readonly query?: string
}

/** Derives a credential from the main key. */
export type Derived = (key: string) => Credential

/** Sends values of `Authorization`. */
const as =
  (...write: ReadonlyArray<(key: string) => string>): Derived =>
  (key) => ({ authorization: write.map((each) => each(key)) })

const bearer = (write: (key: string) => string): Derived => as((key) => `Bearer ${write(key)}`)

/** Sends the key elsewhere than in `Authorization`. */
const header =
  (name: string, write = (key: string) => key): Derived =>
  (key) => ({ authorization: [], headers: [[name, write(key)]] })

const query =
  (name: string): Derived =>
  (key) => ({ authorization: [], query: `${name}=${encodeURIComponent(key)}` })

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
export const invalid: Readonly<Record<string, Derived>> = {
  none: as(),
  "a key that was never issued": bearer(() => "no-such-key-0123456789"),
  "a revoked key": () => ({ key: "revoked" }),
  "an expired key": () => ({ key: "expired" }),
  "an empty value": as(() => ""),
  "the scheme alone": as(() => "Bearer"),
  "an empty token": as(() => "Bearer "),
  "a word of a program": bearer(() => "undefined"),
  "a wildcard": bearer(() => "%"),
  "a condition of SQL": bearer(() => "' OR '1'='1"),
  "a token of 513 characters": bearer(() => "a".repeat(513)),
  "a token of 4,000 characters": bearer(() => "a".repeat(4_000))
}

/** Credentials that differ a little from the main key or its form; the nearest ones first. */
export const near: Readonly<Record<string, Derived>> = {
  "another first character": bearer(changeAt(0, otherCharacter)),
  "another character in the middle": bearer(changeAt(0.5, otherCharacter)),
  "another last character": bearer(changeAt(1, otherCharacter)),
  "without the first character": bearer((key) => key.slice(1)),
  "without the last character": bearer((key) => key.slice(0, -1)),
  "one character before": bearer((key) => `0${key}`),
  "one character after": bearer((key) => `${key}0`),
  "one letter in the other case": bearer(changeLetter),
  "the key in the other case": bearer(otherCase),
  "the key in capitals": bearer((key) => key.toUpperCase()),
  "half of the key": bearer((key) => key.slice(0, key.length >> 1)),
  "a dot after": bearer((key) => `${key}.`),
  "words after": bearer((key) => `${key} and more`),
  "the key twice": bearer((key) => key + key),
  backwards: bearer((key) => [...key].toReversed().join("")),
  "the first character percent-encoded": bearer((key) => percent(key.charAt(0)) + key.slice(1)),
  "all characters percent-encoded": bearer(percent),
  "in quotes": bearer((key) => `"${key}"`),
  "in single quotes": bearer((key) => `'${key}'`),
  "in angle brackets": bearer((key) => `<${key}>`),
  "as Basic": as((key) => `Basic ${key}`),
  "as a Basic password": as((key) => `Basic ${btoa(`animals:${key}`)}`),
  "as Token": as((key) => `Token ${key}`),
  "as Bearerx": as((key) => `Bearerx ${key}`),
  "as Bear": as((key) => `Bear ${key}`),
  "after a colon": as((key) => `Bearer:${key}`),
  "after an equals sign": as((key) => `Bearer=${key}`),
  "without a scheme": as((key) => key),
  "without a space": as((key) => `Bearer${key}`),
  "the scheme twice": bearer((key) => `Bearer ${key}`),
  "in X-API-Key": header("X-API-Key"),
  "in Api-Key": header("Api-Key"),
  "in X-Authorization": header("X-Authorization", (key) => `Bearer ${key}`),
  "in Proxy-Authorization": header("Proxy-Authorization", (key) => `Bearer ${key}`),
  "in a cookie": header("Cookie", (key) => `token=${key}; api_key=${key}`),
  "in ?access_token": query("access_token"),
  "in ?api_key": query("api_key"),
  "in ?key": query("key"),
  "in ?token": query("token")
}

/** Credentials that a service may accept or reject. */
export const open: Readonly<Record<string, Derived>> = {
  "the scheme in small letters": as((key) => `bearer ${key}`),
  "the scheme in capitals": as((key) => `BEARER ${key}`),
  "two spaces": as((key) => `Bearer  ${key}`),
  "a tab": as((key) => `Bearer\t${key}`),
  "a space after": as((key) => `Bearer ${key} `),
  "two headers with the key": as(
    (key) => `Bearer ${key}`,
    (key) => `Bearer ${key}`
  ),
  "two headers, the key first": as(
    (key) => `Bearer ${key}`,
    () => "Bearer no-such-key"
  ),
  "two headers, the key second": as(
    () => "Bearer no-such-key",
    (key) => `Bearer ${key}`
  ),
  "a list, the key second": as((key) => `Bearer no-such-key, Bearer ${key}`)
}

/** Returns the request with another credential. */
export const withCredential = (sent: Sent, { query: parameter, ...credential }: Credential): Sent => ({
  ...sent,
  ...credential,
  headers: [...(sent.headers ?? []), ...(credential.headers ?? [])],
  path: parameter === undefined ? sent.path : `${sent.path}${sent.path.includes("?") ? "&" : "?"}${parameter}`
})
