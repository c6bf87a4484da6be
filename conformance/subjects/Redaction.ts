/** Redacts declared keys in texts: every form in which a subject may return a key is replaced by the key's name. */

/** Secrets by name; the names appear in the report. */
export interface Secrets {
  readonly [name: string]: string | undefined
}

/** Minimum length of a secret that is replaced wherever it occurs. */
const MIN_LENGTH = 8

/** Minimum length of a part of a secret that is replaced. */
const MIN_PART = 16

/**
 * A function that replaces each secret with a mark such as `‹key:main›`: the longest first, ignoring ASCII case, and
 * also if percent-encoded, escaped for JSON or HTML, or inside base64, as in `Basic` credentials. A part of a secret is
 * also replaced (laws send truncated and mistyped keys) if it is at least half of it and has 16 characters or more.
 *
 * A secret of fewer than 8 characters may occur anywhere by chance: a key `1` must not remove every `1` from the report.
 * It is replaced only as the credential after `Bearer` or `Basic`. An empty secret is ignored.
 */
export const make = (secrets: Secrets): ((text: string) => string) => {
  const named = Object.entries(secrets).flatMap(([name, secret]) =>
    secret === undefined || secret === "" ? [] : [{ name, secret }]
  )
  const long = named.filter(({ secret }) => secret.length >= MIN_LENGTH)
  // A mark must not contain another secret: the name of a key may equal the secret of another.
  const mark = (name: string): string =>
    [`‹key:${name}›`, "‹key›"].find((candidate) =>
      long.every(({ secret }) => !fold(candidate).includes(fold(secret)))
    ) ?? "‹key›"

  const marks = new Map<string, string>()
  for (const { name, secret } of long) {
    for (const form of formsOf(secret)) if (!marks.has(fold(form))) marks.set(fold(form), mark(name))
  }
  const whole = alternatives([...marks.keys()])
  const short = named.filter(({ secret }) => secret.length < MIN_LENGTH)
  const shortMarks = new Map(short.map(({ name, secret }) => [secret, mark(name)]))
  const credential = new RegExp(
    `\\b(Bearer|Basic)(\\s+)(${alternatives([...shortMarks.keys()]).source})(?![\\w.~+/=-])`,
    "gi"
  )
  const parts = long.map(({ name, secret }) => partsOf(secret, mark(name)))

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

/** Lower case for ASCII only, so that no character changes its position. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** A pattern for the texts that prefers the longest match. */
const alternatives = (texts: ReadonlyArray<string>): RegExp =>
  new RegExp(
    [...texts]
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
      .join("|"),
    "gi"
  )

/** The encodings of a secret. */
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
 * The base64 of bytes that begin `offset` bytes into a group of three, independent of the bytes before and
 * after.
 */
const base64At = (bytes: Uint8Array, offset: number): ReadonlyArray<string> => {
  const shifted = Buffer.concat([new Uint8Array(offset), bytes])
  const sure = Math.floor((shifted.length * 8) / 6)
  return (["base64", "base64url"] as const).map((kind) =>
    shifted.toString(kind).slice(Math.ceil((offset * 8) / 6), sure)
  )
}

/** Replaces long parts of a secret. */
const partsOf = (secret: string, mark: string): ((text: string) => string) => {
  const whole = fold(secret)
  const size = Math.max(MIN_PART, Math.ceil(whole.length / 2))
  const grams = new Set<string>()
  for (let at = 0; at + size <= whole.length; at++) grams.add(whole.slice(at, at + size))
  if (grams.size === 0) return (text) => text
  const partMark = mark.replace("‹", "‹part of ")
  return (text) => {
    const folded = fold(text)
    let clean = ""
    let kept = 0
    for (let at = 0; at + size <= folded.length; at++) {
      if (!grams.has(folded.slice(at, at + size))) continue
      let end = at + size
      while (end < folded.length && whole.includes(folded.slice(at, end + 1))) end++
      clean += text.slice(kept, at) + partMark
      kept = end
      at = end - 1
    }
    return kept === 0 ? text : clean + text.slice(kept)
  }
}
