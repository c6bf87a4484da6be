/** Defines encodings of the same JSON object (RFC 8259), and content types that mean JSON in UTF-8. */

import type { NewPet } from "../../core/domain/NewPet.ts"
import * as PetFields from "../../core/domain/PetFields.ts"

/** The fields of a creation. */
export interface Fields extends Omit<NewPet, "status"> {
  readonly status?: NewPet["status"] | undefined
}

interface Form {
  readonly write: (fields: Fields) => string
  /** Whether the body is sent with `Transfer-Encoding: chunked`. */
  readonly isChunked?: boolean
  /** Whether a server may reject the form, because the contract leaves that open. */
  readonly isOpen?: boolean
}

const escapeAll =
  (digits: (hex: string) => string) =>
  (text: string): string =>
    // One escape for each UTF-16 code unit, so that a character above U+FFFF becomes a surrogate pair.
    `"${text.replace(/[\s\S]/g, (unit) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`)}"`

const escapedInLowerCase = escapeAll((hex) => hex)
const escapedInUpperCase = escapeAll((hex) => hex.toUpperCase())

type Member = readonly [name: string, json: string]

const members = (fields: Fields, encodeText: (text: string) => string): Array<Member> =>
  PetFields.names.flatMap((name): Array<Member> => {
    const value = fields[name]
    if (value === undefined) return []
    if (typeof value === "string") return [[name, encodeText(value)]]
    return [[name, typeof value === "bigint" ? String(value) : JSON.stringify(value)]]
  })

const object = (all: ReadonlyArray<Member>, text: (name: string) => string = JSON.stringify): string =>
  `{${all.map(([name, json]) => `${text(name)}:${json}`).join(",")}}`

const plain = (fields: Fields): string => object(members(fields, JSON.stringify))

export const forms = {
  plain: { write: plain },
  "every character escaped": { write: (fields) => object(members(fields, escapedInLowerCase)) },
  "escapes in upper case": { write: (fields) => object(members(fields, escapedInUpperCase)) },
  "escaped member names": { write: (fields) => object(members(fields, JSON.stringify), escapedInLowerCase) },
  "white space": {
    write: (fields) =>
      `\r\n\t {${members(fields, JSON.stringify)
        .map(([name, json]) => ` "${name}"\t:\n${json} `)
        .join(" ,\r\n")}} \n`
  },
  "members reversed": { write: (fields) => object(members(fields, JSON.stringify).toReversed()) },
  "an exponent": {
    write: (fields) =>
      object(
        members(fields, JSON.stringify).map(([name, json]) =>
          name === "categoryId" ? [name, `${json}e0`] : [name, json]
        )
      ),
    isOpen: true
  },
  chunked: { write: plain, isChunked: true, isOpen: true }
} as const satisfies { readonly [name: string]: Form }

export type FormName = keyof typeof forms

/** Returns the form with this name, with the type `Form`, which allows access to its optional members. */
export const formOf = (name: FormName): Form => forms[name]

/** Content types by name; the first one is that of the contract. */
export const types = {
  "application/json": "application/json",
  "with a charset": "application/json; charset=utf-8",
  "in other case": "Application/JSON",
  "charset in quotes": 'application/json;charset="UTF-8"'
} as const satisfies { readonly [name: string]: string }

export type TypeName = keyof typeof types
