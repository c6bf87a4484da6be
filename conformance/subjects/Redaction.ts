/** Redacts declared keys in text: replaces every form in which a subject may return a key with the name of that key. */

import type { Secrets } from "./KeyText.ts"

/** Minimum length of a secret that is replaced: the key `1` must not remove every `1` from the report. */
const MIN_LENGTH = 8

/**
 * Returns a function that replaces each secret with a placeholder such as `‹key:main›`, longest first. It ignores ASCII
 * case, and also finds secrets in other encodings, as in `Basic` credentials. Programs send truncated, mistyped and
 * reversed keys, and a server may return them in a message; `‹part of key:main›` replaces
 *
 * - a reversed secret, in the same encodings;
 * - a secret in which one character is different;
 * - a part of a secret or of a reversed secret that is at least `partLength` long;
 * - a credential after `Bearer`, `Bearerx`, `Basic` or `Token` that shares a prefix and a suffix with a secret or a
 *   reversed secret, if their lengths add up to at least half of the secret.
 */
export const make = (secrets: Secrets): ((text: string) => string) => {
  const searches = Object.entries(secrets).flatMap(([name, secret = ""]) =>
    secret.length < MIN_LENGTH ? [] : [{ name, secret, replaceParts: partsOf(secret) }]
  )
  // A placeholder must not contain any part of a secret, and the name of one key may resemble the secret of another.
  const firstSafe = (...candidates: ReadonlyArray<string>): string =>
    candidates.find((candidate) =>
      searches.every(({ replaceParts }) => replaceParts(candidate, "") === candidate)
    ) ?? "‹key›"
  const named = searches.map((search) => ({
    ...search,
    whole: firstSafe(`‹key:${search.name}›`),
    part: firstSafe(`‹part of key:${search.name}›`, "‹part of key›")
  }))
  // Of equal forms, the last entry is kept, so the forms of whole secrets come last.
  const placeholders = new Map<string, string>([
    ...named.flatMap(({ part, secret }) =>
      formsOf(reverse(secret)).map((form) => [fold(form), part] as const)
    ),
    ...named
      .toReversed()
      .flatMap(({ secret, whole }) => formsOf(secret).map((form) => [fold(form), whole] as const))
  ])
  const replacements = [
    ...(placeholders.size === 0 ? [] : [replaceForms(placeholders)]),
    ...named.flatMap(({ part, replaceParts, secret }) => [
      (text: string) => replaceParts(text, part),
      replaceSimilarCredentials(secret, part)
    ])
  ]
  return (text) => replacements.reduce((result, replace) => replace(result), text)
}

/** Replaces forms of secrets, the longest first. */
const replaceForms = (placeholders: ReadonlyMap<string, string>): ((text: string) => string) => {
  const forms = [...placeholders.keys()]
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
  const pattern = new RegExp(forms.join("|"), "gi")
  return (text) => text.replace(pattern, (found) => placeholders.get(fold(found)) ?? "‹key›")
}

/** Converts ASCII letters to lower case. Other letters are unchanged, so positions in the text stay the same. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

const reverse = (text: string): string => [...text].toReversed().join("")

/** Returns a secret and its reverse, both folded. */
const spellingsOf = (secret: string): ReadonlyArray<string> => [fold(secret), fold(reverse(secret))]

/**
 * Minimum length of a part that is replaced wherever it occurs: half of the secret, but at least 8 characters, because
 * fewer can occur by chance; 7 for a secret of 8 characters.
 */
const partLength = ({ length }: string): number =>
  Math.min(Math.max(MIN_LENGTH, Math.floor(length / 2)), length - 1)

/** Returns the encodings of a secret. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  const wellFormed = Buffer.from(secret).toString()
  const bytes = Buffer.from(wellFormed)
  const json = JSON.stringify(secret).slice(1, -1)
  const percent = encodeURIComponent(wellFormed)
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    percent,
    percent.replaceAll("%20", "+"),
    [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset))
  ].filter((form) => form.length >= MIN_LENGTH)
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

/**
 * Replaces a credential after a scheme if its prefix and suffix match at least half of a secret or of a reversed
 * secret.
 */
const replaceSimilarCredentials = (secret: string, placeholder: string): ((text: string) => string) => {
  const spellings = spellingsOf(secret)
  const isSimilar = (token: string): boolean =>
    spellings.some((spelling) => lengthOfCommonEnds(spelling, token) >= Math.floor(secret.length / 2))
  return (text) =>
    text.replace(
      /\b(Bearerx?|Basic|Token)(\s+["\\]*)([^\s"\\]+)/gi,
      (found, scheme: string, space: string, token: string) =>
        isSimilar(fold(token)) ? `${scheme}${space}${placeholder}` : found
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

/** Creates a function that replaces parts of a secret, and the secret with one wrong character. */
const partsOf = (secret: string): ((text: string, placeholder: string) => string) => {
  const spellings = spellingsOf(secret)
  const size = partLength(secret)
  const grams = new Set<string>()
  for (const spelling of spellings) {
    for (let at = 0; at + size <= spelling.length; at++) grams.add(spelling.slice(at, at + size))
  }
  /** Returns the end of a match at an index of a folded text. */
  const endOf = (folded: string, at: number): number | undefined => {
    if (spellings.some((spelling) => isMistyped(spelling, folded, at))) return at + secret.length
    if (!grams.has(folded.slice(at, at + size))) return undefined
    let end = at + size
    const isPart = (part: string): boolean => spellings.some((spelling) => spelling.includes(part))
    while (end < folded.length && isPart(folded.slice(at, end + 1))) end++
    return end
  }
  return (text, placeholder) => {
    const folded = fold(text)
    let clean = ""
    let copied = 0
    for (let at = 0; at + size <= text.length; ) {
      const end = endOf(folded, at)
      if (end !== undefined) clean += text.slice(copied, at) + placeholder
      copied = end ?? copied
      at = end ?? at + 1
    }
    return clean + text.slice(copied)
  }
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
