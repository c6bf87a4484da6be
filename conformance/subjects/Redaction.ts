/** Redacts declared keys in text: replaces every form in which a subject may return a key with the name of that key. */
import * as KeyText from "./KeyText.ts"

/** Minimum length of a secret that is replaced: the key `1` must not remove every `1` from the report. */
const MIN_LENGTH = 8

/** A form of a key, with ASCII letters in lower case. */
interface Form extends KeyText.Spelled {
  readonly key: string
}

/** Matches a word that may be a credential, and the scheme before it. */
const words = /(?:\b(Bearerx?|Basic|Token)(\s+["\\]*))?([\w.~+/=-]+)/gi

/**
 * Returns a function that replaces each secret with a placeholder such as `‹key:main›`. It ignores ASCII case, and also
 * finds secrets in other encodings, as in `Basic` credentials. Programs send truncated, mistyped and reversed keys, and
 * a server may return them in a message, so it also replaces
 *
 * - a reversed secret, in the same encodings;
 * - a part of a secret or of a reversed secret that is at least `partLength` long;
 * - a word that shares a prefix and a suffix with one of them, if their lengths add up to `partLength`; after `Bearer`,
 *   `Bearerx`, `Basic` or `Token`, half of the length is enough.
 */
export const make = (secrets: KeyText.Secrets): ((text: string) => string) => {
  const forms = Object.entries(secrets).flatMap(([key, secret = ""]) =>
    secret.length < MIN_LENGTH ? [] : formsOf(key, secret)
  )
  const plain = forms.filter(({ minimum, spelled }) => minimum < spelled.length)
  const hideParts = KeyText.replacer(forms, placeholder)
  const hideSimilar = (text: string): string =>
    text.replace(words, (found, scheme = "", space = "", word: string) => {
      // A dot at the end may be that of a sentence.
      const folded = [fold(word), fold(word).replace(/\.$/, "")]
      const similar = plain.find(({ minimum, spelled }) => {
        const enough = scheme === "" ? minimum : Math.floor(spelled.length / 2)
        return folded.some((each) => lengthOfCommonEnds(spelled, each) >= enough)
      })
      return similar === undefined ? found : scheme + space + placeholder(similar)
    })
  return (text) => hideSimilar(hideParts(text, fold(text)))
}

const placeholder = ({ key }: Form): string => `‹key:${key}›`

/** Converts ASCII letters to lower case. Other letters are unchanged, so positions in the text stay the same. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * Minimum length of a part that is replaced wherever it occurs: half of the secret, but at least 8 characters, because
 * fewer can occur by chance; 7 for a secret of 8 characters.
 */
const partLength = ({ length }: string): number =>
  Math.min(Math.max(MIN_LENGTH, Math.floor(length / 2)), length - 1)

/** Returns a secret and its reverse, of which parts are replaced, and their encodings, which are replaced as a whole. */
const formsOf = (key: string, secret: string): ReadonlyArray<Form> =>
  [secret, [...secret].toReversed().join("")].flatMap((text) => [
    { key, spelled: fold(text), minimum: partLength(text) },
    ...encodingsOf(text)
      .filter((encoded) => encoded.length >= MIN_LENGTH && encoded !== text)
      .map((encoded) => ({ key, spelled: fold(encoded), minimum: encoded.length }))
  ])

/** Returns a text in JSON, in JSON inside JSON, in URLs, forms and HTML, and in base64. */
const encodingsOf = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  const json = JSON.stringify(text).slice(1, -1)
  const percent = encodeURIComponent(bytes.toString())
  return [
    json,
    JSON.stringify(json).slice(1, -1),
    percent,
    percent.replaceAll("%20", "+"),
    bytes.toString("hex").replaceAll(/../g, "%$&"),
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset))
  ]
}

/**
 * Returns the part of base64-encoded bytes that does not depend on the bytes before and after them. The bytes begin
 * `offset` bytes into a group of three.
 */
const base64At = (bytes: Uint8Array, offset: number): ReadonlyArray<string> => {
  const shifted = Buffer.concat([new Uint8Array(offset), bytes])
  const end = Math.floor((shifted.length * 8) / 6)
  return (["base64", "base64url"] as const).map((kind) =>
    shifted.toString(kind).slice(Math.ceil((offset * 8) / 6), end)
  )
}

/** Returns the total length of the prefix and the suffix that two strings have in common. */
const lengthOfCommonEnds = (a: string, b: string): number => {
  const max = Math.min(a.length, b.length)
  let prefix = 0
  while (prefix < max && a[prefix] === b[prefix]) prefix++
  let suffix = 0
  while (suffix < max - prefix && a.at(-1 - suffix) === b.at(-1 - suffix)) suffix++
  return prefix + suffix
}
