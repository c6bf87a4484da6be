/** Redacts declared keys in texts: replaces every form in which a subject may return a key by the name of the key. */

/** Secrets by name; the names appear in the report. */
export interface Secrets {
  readonly [name: string]: string | undefined
}

/** Minimum length of a secret that is replaced wherever it occurs. */
const MIN_LENGTH = 8

/**
 * Returns a function that replaces each secret by a mark such as `‹key:main›`: the longest first, ignoring ASCII case,
 * and also if percent-encoded, escaped for JSON or HTML, or inside base64, as in `Basic` credentials.
 *
 * Laws send truncated, mistyped and reversed keys, and a server may return them in a message. Therefore a mark such as
 * `‹part of key:main›` replaces
 *
 * - a secret written backwards, in the same encodings;
 * - a secret in which one character is different;
 * - a part of a secret, or of a secret backwards, that is at least `partLength` long;
 * - a credential after `Bearer`, `Bearerx`, `Basic` or `Token` whose beginning and end together agree with those of a
 *   secret, or of a secret backwards, in at least half of the length of the secret.
 *
 * A secret of fewer than 8 characters may occur anywhere by chance: a key `1` must not remove every `1` from the
 * report. It is replaced only as the credential after `Bearer` or `Basic`. An empty secret is ignored.
 */
export const make = (secrets: Secrets): ((text: string) => string) => {
  const named = Object.entries(secrets).flatMap(([name, secret]) =>
    secret === undefined || secret === "" ? [] : [{ name, secret }]
  )
  const long = named.filter(({ secret }) => secret.length >= MIN_LENGTH)
  const searches = long.map(({ name, secret }) => ({ name, secret, find: finderOf(secret) }))
  // A mark must not contain a secret or a part of one, but the name of one key may resemble the secret of another.
  const safest = (...candidates: ReadonlyArray<string>): string =>
    candidates.find((candidate) => searches.every(({ find }) => find(fold(candidate), 0) === undefined)) ??
    "‹key›"
  const mark = (name: string): string => safest(`‹key:${name}›`)
  const partMark = (name: string): string => safest(`‹part of key:${name}›`, "‹part of key›")

  const marks = new Map<string, string>()
  const add = (form: string, replacement: string): void => {
    if (!marks.has(fold(form))) marks.set(fold(form), replacement)
  }
  for (const { name, secret } of long) for (const form of formsOf(secret)) add(form, mark(name))
  for (const { name, secret } of long) {
    for (const form of formsOf(backwards(secret))) add(form, partMark(name))
  }
  const whole = alternatives([...marks.keys()])
  const short = named.filter(({ secret }) => secret.length < MIN_LENGTH)
  const shortMarks = new Map(short.map(({ name, secret }) => [secret, mark(name)]))
  const credential = new RegExp(
    `\\b(Bearer|Basic)(\\s+)(${alternatives([...shortMarks.keys()]).source})(?![\\w.~+/=-])`,
    "gi"
  )
  const parts = searches.flatMap(({ find, name, secret }) => [
    partsOf(find, partMark(name)),
    similarCredentials(secret, partMark(name))
  ])

  return (text) => {
    let clean = text
    if (marks.size > 0) clean = clean.replace(whole, (found) => marks.get(fold(found)) ?? "‹key›")
    if (shortMarks.size > 0) {
      clean = clean.replace(credential, (found: string, scheme: string, space: string, secret: string) =>
        shortMarks.has(secret) ? `${scheme}${space}${shortMarks.get(secret)}` : found
      )
    }
    return parts.reduce((result, replace) => replace(result), clean)
  }
}

/** Converts ASCII letters to lower case. Other letters stay, so that no character changes its position. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

const backwards = (text: string): string => [...text].toReversed().join("")

/** A secret forwards and backwards, folded. */
const spellingsOf = (secret: string): ReadonlyArray<string> => [fold(secret), fold(backwards(secret))]

/**
 * Minimum length of a part that is replaced wherever it occurs: half of the secret, but 8 characters or more, because
 * fewer may occur by chance. Of a secret of 8 characters, it is all but one.
 */
const partLength = ({ length }: string): number =>
  Math.min(Math.max(MIN_LENGTH, Math.floor(length / 2)), length - 1)

/** Creates a pattern that matches any of the texts, and prefers the longest match. */
const alternatives = (texts: ReadonlyArray<string>): RegExp =>
  new RegExp(
    [...texts]
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
      .join("|"),
    "gi"
  )

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
 * Returns the part of the base64 of bytes that does not depend on the bytes before and after them. The bytes begin
 * `offset` bytes into a group of three.
 */
const base64At = (bytes: Uint8Array, offset: number): ReadonlyArray<string> => {
  const shifted = Buffer.concat([new Uint8Array(offset), bytes])
  const sure = Math.floor((shifted.length * 8) / 6)
  return (["base64", "base64url"] as const).map((kind) =>
    shifted.toString(kind).slice(Math.ceil((offset * 8) / 6), sure)
  )
}

/** Replaces a credential after a scheme if its ends agree with half of a secret, or of the secret backwards. */
const similarCredentials = (secret: string, mark: string): ((text: string) => string) => {
  const spellings = spellingsOf(secret)
  const isSimilar = (token: string): boolean =>
    spellings.some((spelling) => lengthOfCommonEnds(spelling, token) >= Math.floor(secret.length / 2))
  return (text) =>
    text.replace(
      /\b(Bearerx?|Basic|Token)(\s+["\\]*)([^\s"\\]+)/gi,
      (found, scheme: string, space: string, token: string) =>
        isSimilar(fold(token)) ? `${scheme}${space}${mark}` : found
    )
}

/** The number of characters that two texts have in common at their beginnings and at their ends. */
const lengthOfCommonEnds = (one: string, other: string): number => {
  const most = Math.min(one.length, other.length)
  let first = 0
  while (first < most && one[first] === other[first]) first++
  let last = 0
  while (last < most - first && one.at(-1 - last) === other.at(-1 - last)) last++
  return first + last
}

/** The beginning and the end of a place in a text. */
type Place = readonly [from: number, to: number]

/** Finds the first part of a secret in a folded text, or the secret with a different character, from an index on. */
type Finder = (folded: string, from: number) => Place | undefined

const finderOf = (secret: string): Finder => {
  const spellings = spellingsOf(secret)
  const size = partLength(secret)
  const grams = new Set<string>()
  for (const spelling of spellings) {
    for (let at = 0; at + size <= spelling.length; at++) grams.add(spelling.slice(at, at + size))
  }
  return (folded, from) => {
    for (let at = from; at + size <= folded.length; at++) {
      if (spellings.some((spelling) => isMistyped(spelling, folded, at))) return [at, at + secret.length]
      if (!grams.has(folded.slice(at, at + size))) continue
      let end = at + size
      const isPart = (part: string): boolean => spellings.some((spelling) => spelling.includes(part))
      while (end < folded.length && isPart(folded.slice(at, end + 1))) end++
      return [at, end]
    }
    return undefined
  }
}

/**
 * Whether a text contains the spelling at an index, with at most one other character in place of its own. The ends must
 * agree: without one of them, it is a part, and the character beside a part is not of the secret.
 */
const isMistyped = (spelling: string, text: string, at: number): boolean => {
  const last = spelling.length - 1
  if (spelling[0] !== text[at] || spelling[last] !== text[at + last]) return false
  let wrong = 0
  for (let index = 1; index < last; index++) {
    if (spelling[index] !== text[at + index] && ++wrong > 1) return false
  }
  return true
}

/** Replaces what a finder finds. */
const partsOf =
  (find: Finder, mark: string) =>
  (text: string): string => {
    const folded = fold(text)
    let clean = ""
    let kept = 0
    for (let place = find(folded, 0); place !== undefined; place = find(folded, kept)) {
      clean += text.slice(kept, place[0]) + mark
      kept = place[1]
    }
    return clean + text.slice(kept)
  }
