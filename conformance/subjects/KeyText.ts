/** Writes texts that contain keys, parts of keys or other spellings of them, without the keys. */
import * as Schema from "effect/Schema"
import type { KeyName } from "../evaluation/Http.ts"

export type Secrets = { readonly [name in KeyName]?: string | undefined }

/** The declared keys. */
export const names = ["main", "tiny", "victim", "revoked", "expired"] as const

/** The spellings in which programs send keys, each with its description, and its operator in bash if there is one. */
const spellings = {
  exact: { of: (key: string) => key, words: "", operator: "" },
  upper: { of: (key: string) => key.toUpperCase(), words: " in upper case", operator: "^^" },
  lower: { of: (key: string) => key.toLowerCase(), words: " in lower case", operator: ",," },
  swapped: {
    of: (key: string) =>
      key.replace(/[a-z]/gi, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase())),
    words: " in swapped case",
    operator: "~~"
  },
  reversed: {
    of: (key: string) => [...key].toReversed().join(""),
    words: " reversed",
    operator: undefined
  },
  percent: {
    of: (key: string) => key.replace(/[ -~]/g, (unit) => `%${unit.charCodeAt(0).toString(16)}`),
    words: " percent-encoded",
    operator: undefined
  }
} as const

const kinds = Object.keys(spellings) as ReadonlyArray<keyof typeof spellings> // exactly its keys

/** Characters `from` to `to` of a spelling of a key. */
const KeyPart = Schema.Struct({
  key: Schema.Literals(names),
  as: Schema.Literals(kinds),
  from: Schema.Int,
  to: Schema.Int
})
type KeyPart = typeof KeyPart.Type

/** A text without keys: literal pieces, and parts of keys. */
export const KeyText = Schema.Array(Schema.Union([Schema.String, KeyPart]))
export type KeyText = typeof KeyText.Type

/** Minimum length of a part of a key that must not be shown. */
const PART_LENGTH = 5

/** The beginning of a part of a key: the spelling of the key, and the index in it. */
interface Beginning extends Omit<KeyPart, "to"> {
  readonly spelled: string
}

/** The shortest parts of all keys, by their length and text. */
type Index = ReadonlyMap<number, ReadonlyMap<string, ReadonlyArray<Beginning>>>

const indexes = new WeakMap<Secrets, Index>()

/** Returns the index of some keys, which is created once, because every text of a run is searched. */
const indexOf = (secrets: Secrets): Index => {
  const known = indexes.get(secrets)
  if (known !== undefined) return known
  const index = new Map<number, Map<string, Array<Beginning>>>()
  for (const key of names) {
    for (const as of kinds) {
      const spelled = spellings[as].of(secrets[key] ?? "")
      const size = Math.min(PART_LENGTH, spelled.length)
      const ofSize = index.get(size) ?? new Map<string, Array<Beginning>>()
      if (size > 0) index.set(size, ofSize)
      for (let from = 0; from + size <= spelled.length; from++) {
        const start = spelled.slice(from, from + size)
        ofSize.set(start, [...(ofSize.get(start) ?? []), { key, as, spelled, from }])
      }
    }
  }
  indexes.set(secrets, index)
  return index
}

/** Returns the longest part of a key at an index of a text; of equal ones, the first. */
const partAt = (text: string, at: number, index: Index): KeyPart | undefined => {
  let longest: KeyPart | undefined
  for (const [size, beginnings] of index) {
    for (const { as, from, key, spelled } of beginnings.get(text.slice(at, at + size)) ?? []) {
      let to = from + size
      while (to < spelled.length && spelled[to] === text[at + to - from]) to++
      if (longest === undefined || to - from > longest.to - longest.from) longest = { key, as, from, to }
    }
  }
  return longest
}

/** Splits a text into literal pieces and parts of keys. */
export const of = (text: string, secrets: Secrets): KeyText => {
  const index = indexOf(secrets)
  const pieces: Array<string | KeyPart> = []
  let literal = ""
  for (let at = 0; at < text.length; ) {
    const part = partAt(text, at, index)
    if (part === undefined) {
      literal += text[at++]
      continue
    }
    if (literal !== "") pieces.push(literal)
    literal = ""
    pieces.push(part)
    at += part.to - part.from
  }
  return literal === "" ? pieces : [...pieces, literal]
}

/** Returns the text with the keys; `undefined` if a key is not known. */
export const resolve = (text: KeyText, secrets: Secrets): string | undefined => {
  let resolved = ""
  for (const piece of text) {
    const secret = typeof piece === "string" ? "" : secrets[piece.key]
    if (secret === undefined) return undefined
    resolved += typeof piece === "string" ? piece : spellings[piece.as].of(secret).slice(piece.from, piece.to)
  }
  return resolved
}

const isWhole = ({ as, from, key, to }: KeyPart, secrets: Secrets): boolean =>
  from === 0 && to === spellings[as].of(secrets[key] ?? "").length

/** Returns the text with names of keys instead of the keys, such as `Bearer ‹key:main in upper case›`. */
export const describe = (text: KeyText, secrets: Secrets): string =>
  text
    .map((piece) => {
      if (typeof piece === "string") return piece
      return `‹${isWhole(piece, secrets) ? "" : "part of "}key:${piece.key}${spellings[piece.as].words}›`
    })
    .join("")

/** Returns an expression of bash for a part of a key in a variable, such as `${KEY^^}`; `undefined` if there is none. */
export const variable = (part: KeyPart, secrets: Secrets): string | undefined => {
  const name = part.key === "main" ? "KEY" : part.key.toUpperCase()
  const { operator } = spellings[part.as]
  if (isWhole(part, secrets)) return operator === "" ? `$${name}` : operator && `\${${name}${operator}}`
  return operator === "" ? `\${${name}:${part.from}:${part.to - part.from}}` : undefined
}
