/** Writes texts that contain keys, parts of keys or other spellings of them, without the keys. */
import * as Schema from "effect/Schema"

/** The declared keys. */
export const names = ["main", "tiny", "victim", "revoked", "expired"] as const

/** The declared key that a request is sent with; `none` without a key, `other` for a credential that is made up. */
export type KeyName = (typeof names)[number] | "none" | "other"

export type Secrets = { readonly [name in KeyName]?: string | undefined }

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

/** A text to be found, also if only a part of it occurs that has at least the minimum length. */
export interface Spelled {
  readonly spelled: string
  readonly minimum: number
}

/** Characters `from` to `to` of a spelled text. */
export interface Part<A> {
  readonly of: A
  readonly from: number
  readonly to: number
}

/** Length of the beginnings that are indexed. */
const INDEXED = 5

/** Creates a function that returns the longest part of any of the texts at an index of a text; of equal ones, the first. */
export const search = <A extends Spelled>(all: ReadonlyArray<A>) => {
  const index = new Map<number, Map<string, Array<readonly [A, number]>>>()
  for (const each of all) {
    const size = Math.min(INDEXED, each.minimum)
    const ofSize = index.get(size) ?? new Map<string, Array<readonly [A, number]>>()
    if (size > 0) index.set(size, ofSize)
    for (let from = 0; from + each.minimum <= each.spelled.length; from++) {
      const start = each.spelled.slice(from, from + size)
      ofSize.set(start, [...(ofSize.get(start) ?? []), [each, from]])
    }
  }
  return (text: string, at: number): Part<A> | undefined => {
    let longest: Part<A> | undefined
    for (const [size, beginnings] of index) {
      for (const [each, from] of beginnings.get(text.slice(at, at + size)) ?? []) {
        let to = from + size
        while (to < each.spelled.length && each.spelled[to] === text[at + to - from]) to++
        const isLonger = longest === undefined || to - from > longest.to - longest.from
        if (to - from >= each.minimum && isLonger) longest = { of: each, from, to }
      }
    }
    return longest
  }
}

/** Minimum length of a part of a key that must not be shown. */
const PART_LENGTH = 5

const searchOf = (secrets: Secrets) =>
  search(
    names.flatMap((key) =>
      kinds.map((as) => {
        const spelled = spellings[as].of(secrets[key] ?? "")
        return { key, as, spelled, minimum: Math.min(PART_LENGTH, spelled.length) }
      })
    )
  )

const searches = new WeakMap<Secrets, ReturnType<typeof searchOf>>()

/** Splits a text into literal pieces and parts of keys. */
export const of = (text: string, secrets: Secrets): KeyText => {
  // Created once, because every text of a run is searched.
  const partAt = searches.get(secrets) ?? searchOf(secrets)
  searches.set(secrets, partAt)
  const pieces: Array<string | KeyPart> = []
  let literal = ""
  for (let at = 0; at < text.length; ) {
    const part = partAt(text, at)
    if (part === undefined) {
      literal += text[at++]
      continue
    }
    if (literal !== "") pieces.push(literal)
    literal = ""
    const { from, of, to } = part
    pieces.push({ key: of.key, as: of.as, from, to })
    at += to - from
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
