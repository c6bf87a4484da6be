/**
 * Writes texts that contain keys, parts of keys or other spellings of them, with placeholders instead of the keys, such
 * as `Bearer ‹key:main›` and `Bearer ‹key:main in upper case, characters 0 to 9›`.
 */
import * as Arr from "effect/Array"

/** The declared keys. */
export const names = ["main", "tiny", "victim", "revoked", "expired"] as const

/** The declared key that a request is sent with; `none` without a key. */
export type KeyName = (typeof names)[number] | "none"

export type Secrets = { readonly [name in KeyName]?: string | undefined }

/** The spellings in which programs send keys, each with its operator in bash if there is one. */
const spellings = {
  "": { of: (key: string) => key, operator: "" },
  " in upper case": { of: (key: string) => key.toUpperCase(), operator: "^^" },
  " in lower case": { of: (key: string) => key.toLowerCase(), operator: ",," },
  " reversed": { of: (key: string) => [...key].toReversed().join(""), operator: undefined },
  " percent-encoded": {
    of: (key: string) => key.replace(/[ -~]/g, (unit) => `%${unit.charCodeAt(0).toString(16)}`),
    operator: undefined
  }
} as const
type Spelling = keyof typeof spellings

const kinds = Object.keys(spellings) as ReadonlyArray<Spelling> // exactly its keys

/** Characters `from` to `to` of a spelling of a key; all of them if `range` is absent. */
interface KeyPart {
  readonly key: (typeof names)[number]
  readonly as: Spelling
  readonly range?: readonly [from: number, to: number] | undefined
}

const placeholders = new RegExp(
  `‹key:(${names.join("|")})(${kinds.toReversed().join("|")})(?:, characters (\\d+) to (\\d+))?›`,
  "g"
)

/** Replaces each placeholder; returns `undefined` if `write` has nothing for one of them. */
const written = (text: string, write: (part: KeyPart) => string | undefined): string | undefined => {
  const result = text.replace(
    placeholders,
    (placeholder, key: KeyPart["key"], as: Spelling, from: string | undefined, to: string | undefined) =>
      write({ key, as, range: from === undefined ? undefined : [Number(from), Number(to)] }) ?? placeholder
  )
  return result.search(placeholders) === -1 ? result : undefined
}

/** Returns the text with the keys; `undefined` if a key is not known. */
export const resolve = (text: string, secrets: Secrets): string | undefined =>
  written(text, ({ as, key, range = [] }) => {
    const secret = secrets[key]
    return secret && spellings[as].of(secret).slice(...range)
  })

/** Returns the text for a word in double quotes of bash, with variables such as `${KEY^^}`; `undefined` if it needs others. */
export const inBash = (text: string): string | undefined =>
  written(text.replace(/["$`\\]/g, "\\$&"), ({ as, key, range }) => {
    const name = key === "main" ? "KEY" : key.toUpperCase()
    const { operator } = spellings[as]
    if (range === undefined) return operator === undefined ? undefined : `\${${name}${operator}}`
    return operator === "" ? `\${${name}:${range[0]}:${range[1] - range[0]}}` : undefined
  })?.replace(/\$\{([A-Z]+)\}(?!\w)/g, "$$$1")

/**
 * Creates a function that replaces in a text every part of any of the spellings that has `minimum` characters or is a
 * whole spelling, the longest first, by what `write` returns. Parts are sought in `folded`, which has the same length as
 * the text.
 */
export const replacer = <A extends { readonly spelled: string }>(
  all: ReadonlyArray<A>,
  minimum: number,
  write: (of: A, from: number, to: number) => string
) => {
  const size = Math.min(minimum, ...all.map(({ spelled }) => spelled.length))
  const parts = all.flatMap((of) => {
    const least = Math.min(minimum, of.spelled.length)
    return Array.from({ length: of.spelled.length - least + 1 }, (_, from) => ({ of, from, least }))
  })
  const beginnings = new Map(
    Object.entries(Arr.groupBy(parts, ({ from, of }) => of.spelled.slice(from, from + size)))
  )
  return (text: string, folded = text): string => {
    let [result, copied] = ["", 0]
    for (let at = 0; at < text.length; at = Math.max(at + 1, copied)) {
      const [longest] = (beginnings.get(folded.slice(at, at + size)) ?? [])
        .map(({ from, least, of }) => {
          let length = size
          while (from + length < of.spelled.length && of.spelled[from + length] === folded[at + length])
            length++
          return { of, from, least, length }
        })
        .filter(({ least, length }) => length >= least)
        .toSorted((a, b) => b.length - a.length)
      if (longest === undefined) continue
      const { from, length, of } = longest
      result += text.slice(copied, at) + write(of, from, from + length)
      copied = at + length
    }
    return result + text.slice(copied)
  }
}

/** Minimum length of a part of a key that must not be shown. */
const PART_LENGTH = 5

const replacerOf = (secrets: Secrets) =>
  replacer(
    names.flatMap((key) =>
      kinds.flatMap((as) => {
        const spelled = spellings[as].of(secrets[key] ?? "")
        return spelled === "" ? [] : [{ key, as, spelled }]
      })
    ),
    PART_LENGTH,
    ({ as, key, spelled }, from, to) =>
      `‹key:${key}${as}${to - from === spelled.length ? "" : `, characters ${from} to ${to}`}›`
  )

const replacers = new WeakMap<Secrets, ReturnType<typeof replacerOf>>()

/** Replaces keys and parts of them by placeholders. */
export const of = (text: string, secrets: Secrets): string => {
  // Created once, because every text of a run is searched.
  const replace = replacers.get(secrets) ?? replacerOf(secrets)
  replacers.set(secrets, replace)
  return replace(text)
}
