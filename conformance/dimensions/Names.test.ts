import { describe, expect, it } from "vitest"
import * as Bodies from "./Bodies.ts"
import * as Names from "./Names.ts"

const all = Object.keys(Names.characters).flatMap((characters) =>
  Object.keys(Names.lengths).map((length) => ({
    characters: characters as Names.CharactersName,
    length: length as Names.LengthName
  }))
)

describe("Names.of", () => {
  it.each(all)(
    "returns a name of the given length in normalization form C ($characters, $length)",
    ({ characters, length }) => {
      const name = Names.of("Token", characters, length)
      const { count, size } = Names.lengths[length]
      expect(count(name)).toBe(size)
      expect(name.normalize("NFC")).toBe(name)
      expect(name.trim()).toBe(name)
      expect(/\p{Surrogate}/u.test(name)).toBe(false)
    }
  )
})

describe("letters for names", () => {
  it.each(Object.entries(Names.letters))(
    "are unchanged by NFKC normalization, so that any change to them is an error: %s",
    (_, letters) => {
      expect(letters.normalize("NFKC")).toBe(letters)
    }
  )
})

describe("a form of a JSON body", () => {
  it.each(Object.keys(Bodies.forms))("encodes the same fields: %s", (form) => {
    for (const status of ["sold", undefined]) {
      const name = Names.of("Token", "one to four bytes", "short")
      const fields = { name, categoryId: 1_000n, status }
      const json: unknown = JSON.parse(Bodies.formOf(form as Bodies.FormName).write(fields))
      expect(json).toEqual({ name, categoryId: 1_000, ...(status === undefined ? {} : { status }) })
    }
  })
})
