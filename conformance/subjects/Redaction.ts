/** Redacts declared keys in text: replaces every form in which a subject may return a key with the name of that key. */
import * as KeyText from "./KeyText.ts"

/** Minimum length of what is replaced: the key `1` must not remove every `1` from the report. */
const MIN_LENGTH = 8

/**
 * Returns a function that replaces each secret of at least 8 characters with a placeholder such as `‹key:main›`. It
 * ignores ASCII case. Programs send truncated, mistyped and reversed keys, and a server may return them in a message or
 * in another encoding, so it also replaces
 *
 * - 8 characters or more of a secret, of its reverse, and of their encodings;
 * - a word that begins and ends like a secret or its reverse, with 8 characters in all; 7 if the secret has 8;
 * - a word after an authentication scheme that begins with half of a secret.
 */
export const make = (secrets: KeyText.Secrets): ((text: string) => string) => {
  const texts = Object.entries(secrets).flatMap(([key, secret = ""]) =>
    secret.length < MIN_LENGTH
      ? []
      : [secret, [...secret].toReversed().join("")].map((text) => ({ text, shown: `‹key:${key}›` }))
  )
  const forms = texts.flatMap(({ shown, text }) =>
    [text, ...encodingsOf(text)].map((encoded) => ({ shown, spelled: fold(encoded) }))
  )
  const escapes = texts.map(({ shown, text }) => ({ shown, spelled: fold(percentOf(text)) }))
  const replacers = [
    KeyText.replacer(escapes, 3 * MIN_LENGTH, ({ shown }) => shown),
    KeyText.replacer(forms, MIN_LENGTH, ({ shown }) => shown)
  ]
  const mistyped = texts.map(({ shown, text }) => ({ shown, words: mistypingsOf(text) }))
  return (text) =>
    mistyped.reduce(
      (result, { shown, words }) => result.replace(words, shown),
      replacers.reduce((result, replace) => replace(result, fold(result)), text)
    )
}

const percentOf = (text: string): string => Buffer.from(text).toString("hex").replaceAll(/../g, "%$&")

/** Converts ASCII letters to lower case. Other letters are unchanged, so positions in the text stay the same. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Matches words that begin and end like a text. */
const mistypingsOf = (text: string): RegExp => {
  const literal = (part: string) => part.replace(/\W/g, "\\$&")
  const characters = Math.min(MIN_LENGTH, text.length - 1)
  const ends = Array.from({ length: characters + 1 }, (_, begin) => {
    const end = text.length - characters + begin
    return `${literal(text.slice(0, begin))}[\\w.~+/=-]{0,${text.length}}${literal(text.slice(end))}`
  })
  const half = `(?<=(?:bearerx?|basic|token)\\s+["\\\\]*)${literal(text.slice(0, text.length >> 1))}[\\w.~+/=-]*`
  return new RegExp(`${half}|(?<![\\w.~+/=-])(?:${ends.join("|")})`, "gi")
}

/** Returns a text in JSON, in JSON inside JSON, in URLs, in HTML, and in base64. */
const encodingsOf = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  const json = JSON.stringify(text).slice(1, -1)
  return [
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(bytes.toString()),
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    // Of base64, the part that does not depend on the bytes before and after.
    ...[0, 1, 2].flatMap((offset) => {
      const shifted = Buffer.concat([new Uint8Array(offset), bytes])
      const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6)]
      return (["base64", "base64url"] as const).map((kind) => shifted.toString(kind).slice(from, to))
    })
  ]
}
