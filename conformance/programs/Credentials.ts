/** Lists credentials (contract §5): valid, missing, invalid, and near misses of the main key. */
import type { Sent } from "./Program.ts"

/** The parts of a request that carry a credential. */
export interface Credential extends Pick<Sent, "authorization" | "headers" | "key"> {
  /** A query parameter. */
  readonly query?: string
}

/** Derives a credential from the main key. */
export type Derived = (key: string) => Credential

/** Sends values of `Authorization`, in which `KEY` stands for the key. */
const as =
  (...values: ReadonlyArray<string>): Derived =>
  (key) => ({ authorization: values.map((value) => value.replaceAll("KEY", () => key)) })

/** Sends the key in another header. */
const header =
  (name: string, value = "KEY"): Derived =>
  (key) => ({ authorization: [], headers: [[name, value.replaceAll("KEY", () => key)]] })

const otherCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase()

// A distant character, because the low bits of the last character of base64 may have no meaning.
const otherCharacter = (character: string): string => (/[0-4a-m]/i.test(character) ? "z" : "a")

/** Replaces the character at a part of the key, from 0 to 1, by another one. */
const changeAt = (part: number) => (key: string) => {
  const at = Math.round((key.length - 1) * part)
  return key.slice(0, at) + otherCharacter(key.charAt(at)) + key.slice(at + 1)
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
  ...["", "Bearer"].map((value) => as(value)),
  ...["", "undefined", "%", "' OR '1'='1", "a".repeat(513), "a".repeat(4_000)].map((token) =>
    as(`Bearer ${token}`)
  )
]

/** Credentials that differ a little from the main key or its form; the nearest ones first. */
export const near: ReadonlyArray<Derived> = [
  ...[
    ...[changeLetter, otherCase, (key: string) => key.toUpperCase()],
    ...[changeAt(0), changeAt(0.5), changeAt(1)],
    ...[(key: string) => key.slice(1), (key: string) => key.slice(0, -1)],
    ...[(key: string) => `0${key}`, (key: string) => `${key}0`],
    (key: string) => key.slice(0, key.length >> 1),
    (key: string) => [...key].toReversed().join(""),
    (key: string) => percent(key.charAt(0)) + key.slice(1),
    percent
  ].map(
    (write): Derived =>
      (key) => ({ authorization: [`Bearer ${write(key)}`] })
  ),
  ...["KEY.", "KEY and more", "KEYKEY", '"KEY"', "'KEY'", "<KEY>", "Bearer KEY"].map((token) =>
    as(`Bearer ${token}`)
  ),
  ...["Basic KEY", "Token KEY", "Bearerx KEY", "Bear KEY"].map((value) => as(value)),
  ...["Bearer:KEY", "Bearer=KEY", "KEY", "BearerKEY"].map((value) => as(value)),
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
  header("authorization", "Bearer KEY"),
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
