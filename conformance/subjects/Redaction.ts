/** Redacts declared keys in text: replaces every form in which a subject may return a key with the name of that key. */
import * as KeyText from "./KeyText.ts"

/** Minimum length of a secret that is replaced: the key `1` must not remove every `1` from the report. */
const MIN_LENGTH = 8

/** A form of a key, with ASCII letters in lower case. */
interface Form extends KeyText.Spelled {
  readonly key: string
  readonly isReversed: boolean
}

/**
 * Returns a function that replaces each secret with a placeholder such as `‹key:main›`. It ignores ASCII case, and also
 * finds secrets in other encodings, as in `Basic` credentials. Programs send truncated, mistyped and reversed keys, and
 * a server may return them in a message; `‹part of key:main›` replaces
 *
 * - a reversed secret, in the same encodings;
 * - a secret in which one character is different;
 * - a part of a secret or of a reversed secret that is at least `partLength` long;
 * - a credential after `Bearer`, `Bearerx`, `Basic` or `Token` that shares a prefix and a suffix with a secret or a
 *   reversed secret, if their lengths add up to at least half of the secret.
 */
export const make = (secrets: KeyText.Secrets): ((text: string) => string) => {
  const forms = Object.entries(secrets).flatMap(([key, secret = ""]) =>
    secret.length < MIN_LENGTH ? [] : [false, true].flatMap((isReversed) => formsOf(key, secret, isReversed))
  )
  const plain = forms.filter(({ minimum, spelled }) => minimum < spelled.length)
  const exactPartAt = KeyText.search(forms)
  const partAt = (folded: string, at: number): KeyText.Part<Form> | undefined => {
    const mistyped = plain.find(({ spelled }) => isMistyped(spelled, folded, at))
    return mistyped ? { of: mistyped, from: 0, to: mistyped.spelled.length } : exactPartAt(folded, at)
  }
  const hide = (text: string): string => {
    const folded = fold(text)
    let clean = ""
    let copied = 0
    for (let at = 0; at < text.length; ) {
      const part = partAt(folded, at)
      if (part === undefined) {
        at++
        continue
      }
      const { from, of, to } = part
      const end = at + to - from
      clean += text.slice(copied, at) + safe(of.key, !of.isReversed && folded.slice(at, end) === of.spelled)
      copied = at = end
    }
    return clean + text.slice(copied)
  }
  /** Returns a placeholder; one that resembles a secret would be replaced in its turn. */
  const safe = (key: string, isWhole: boolean): string => {
    const candidates = isWhole ? [`‹key:${key}›`] : [`‹part of key:${key}›`, "‹part of key›"]
    const isSafe = (each: string) => ![...each].some((_, at) => partAt(fold(each), at) !== undefined)
    return candidates.find(isSafe) ?? "‹key›"
  }
  const hideSimilar = (text: string): string =>
    text.replace(
      /\b(Bearerx?|Basic|Token)(\s+["\\]*)([^\s"\\]+)/gi,
      (found, scheme: string, space: string, token: string) => {
        const similar = plain.find(
          ({ spelled }) => lengthOfCommonEnds(spelled, fold(token)) >= Math.floor(spelled.length / 2)
        )
        return similar === undefined ? found : `${scheme}${space}${safe(similar.key, false)}`
      }
    )
  return (text) => hideSimilar(hide(text))
}

/** Converts ASCII letters to lower case. Other letters are unchanged, so positions in the text stay the same. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * Minimum length of a part that is replaced wherever it occurs: half of the secret, but at least 8 characters, because
 * fewer can occur by chance; 7 for a secret of 8 characters.
 */
const partLength = ({ length }: string): number =>
  Math.min(Math.max(MIN_LENGTH, Math.floor(length / 2)), length - 1)

/** Returns a secret or its reverse, of which parts are replaced, and its encodings, which are replaced as a whole. */
const formsOf = (key: string, secret: string, isReversed: boolean): ReadonlyArray<Form> => {
  const text = isReversed ? [...secret].toReversed().join("") : secret
  const wellFormed = Buffer.from(text).toString()
  const bytes = Buffer.from(wellFormed)
  const json = JSON.stringify(text).slice(1, -1)
  const percent = encodeURIComponent(wellFormed)
  const encodings = [
    json,
    JSON.stringify(json).slice(1, -1),
    percent,
    percent.replaceAll("%20", "+"),
    [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset))
  ].filter((form) => form.length >= MIN_LENGTH && form !== text)
  const form = (spelled: string, minimum: number) => ({ key, isReversed, spelled: fold(spelled), minimum })
  return [form(text, partLength(text)), ...encodings.map((each) => form(each, each.length))]
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

/**
 * Whether a text contains the spelling at an index, with at most one wrong character. The first and the last character
 * must match: otherwise the match is only a part, whose neighboring character must not be redacted.
 */
const isMistyped = (spelling: string, text: string, at: number): boolean => {
  const last = spelling.length - 1
  return (
    spelling[0] === text[at] &&
    spelling[last] === text[at + last] &&
    lengthOfCommonEnds(spelling, text.slice(at, at + spelling.length)) >= last
  )
}
