/**
 * Derives invalid values of `Authorization` from a valid key. Cases contain only the names of the values, so that no
 * key is reported.
 */
import * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { type Failure, inapplicable } from "../../evaluation/Outcome.ts"

/** Classes of characters, each with its first and its last character. */
const kinds = [
  { pattern: /[a-z]/, ends: ["a", "z"] },
  { pattern: /[A-Z]/, ends: ["A", "Z"] },
  { pattern: /[0-9]/, ends: ["0", "9"] }
] as const

const distance = (a: string, b: string): number => Math.abs(a.charCodeAt(0) - b.charCodeAt(0))

/**
 * Replaces one letter or digit of the key with another of the same class. `part` selects it: 0 the first, 1 the last.
 * The new character occurs elsewhere in the key if possible, because keys may use few characters, such as hexadecimal
 * digits. It has the most distant code, because the low bits of the last character of base64 may have no meaning.
 */
const withOtherCharacter = (key: string, part: number): string => {
  const places = [...key.matchAll(/[A-Za-z0-9]/g)].map(({ index }) => index)
  const at = places[Math.round((places.length - 1) * part)] ?? 0
  const given = key.charAt(at)
  const { ends, pattern } = kinds.find((kind) => kind.pattern.test(given)) ?? kinds[2]
  const farthest = (characters: ReadonlyArray<string>): string =>
    characters.reduce((best, next) => (distance(next, given) > distance(best, given) ? next : best), given)
  const own = farthest([...key].filter((character) => pattern.test(character)))
  return key.slice(0, at) + (own === given ? farthest(ends) : own) + key.slice(at + 1)
}

/** Values of `Authorization` that are derived from a valid key and are not valid credentials. */
export const credentials = {
  "no credential": () => [],
  "the scheme alone": () => ["Bearer"],
  "an empty token": () => ["Bearer "],
  "a key that was never issued": () => ["Bearer no-such-key-0123456789"],
  "a key in our format that was never issued": () => ["Bearer ast_0000000000000000000000000000000000000"],
  "the key backwards": (key) => [`Bearer ${[...key].toReversed().join("")}`],
  "the key without a scheme": (key) => [key],
  "the key as Basic": (key) => [`Basic ${key}`],
  "the key as a Basic password": (key) => [`Basic ${btoa(`animals:${key}`)}`],
  "the key as Token": (key) => [`Token ${key}`],
  "the key as Bearerx": (key) => [`Bearerx ${key}`],
  "the key and one more character": (key) => [`Bearer ${key}0`],
  "the key and more words": (key) => [`Bearer ${key} and more`],
  "one character before the key": (key) => [`Bearer 0${key}`],
  "the key without its last character": (key) => [`Bearer ${key.slice(0, -1)}`],
  "the key without its first character": (key) => [`Bearer ${key.slice(1)}`],
  "the key with another first character": (key) => [`Bearer ${withOtherCharacter(key, 0)}`],
  "the key with another character in the middle": (key) => [`Bearer ${withOtherCharacter(key, 0.5)}`],
  "the key with another last character": (key) => [`Bearer ${withOtherCharacter(key, 1)}`],
  "half of the key": (key) => [`Bearer ${key.slice(0, Math.floor(key.length / 2))}`],
  "the key twice": (key) => [`Bearer ${key}${key}`],
  "the key in quotes": (key) => [`Bearer "${key}"`],
  "the first character percent-encoded": (key) => [
    `Bearer %${key.charCodeAt(0).toString(16)}${key.slice(1)}`
  ],
  "two headers with the key": (key) => [`Bearer ${key}`, `Bearer ${key}`],
  "two headers, the key second": (key) => ["Bearer no-such-key-0123456789", `Bearer ${key}`],
  "513 characters": () => [`Bearer ${"a".repeat(513)}`],
  "4000 characters": () => [`Bearer ${"a".repeat(4_000)}`]
} as const satisfies { readonly [name: string]: (key: string) => ReadonlyArray<string> }

export type Credential = keyof typeof credentials

/**
 * Returns the fields that send the credential. Fails with `Inapplicable` if it equals the key, as a reversed palindrome
 * does.
 */
export const fieldsOf = (
  credential: Credential,
  { facts }: Http
): Effect.Effect<Pick<Sent, "authorization" | "credential">, Failure> => {
  const authorization: ReadonlyArray<string> = credentials[credential](facts.mainKey)
  const isTheKey = authorization.length === 1 && authorization[0] === `Bearer ${facts.mainKey}`
  return isTheKey
    ? inapplicable(`for this main key, ${credential} is the key itself`)
    : Effect.succeed({ authorization, credential })
}
