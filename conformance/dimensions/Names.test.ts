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
    "returns a name in normalization form C with the length '$length' from '$characters'",
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

describe("Names.letters", () => {
  it.each(Object.entries(Names.letters))(
    "contains only letters that NFKC normalization does not change, in '%s'",
    (_, letters) => {
      expect(letters.normalize("NFKC")).toBe(letters)
    }
  )
})

describe("Bodies.formOf", () => {
  it.each(Object.keys(Bodies.forms))("returns a form that encodes the same fields, for '%s'", (form) => {
    for (const status of ["sold", undefined] as const) {
      const name = Names.of("Token", "one to four bytes", "short")
      const fields = { name, categoryId: 1_000n, status }
      const json: unknown = JSON.parse(Bodies.formOf(form as Bodies.FormName).write(fields))
      expect(json).toEqual({ name, categoryId: 1_000, ...(status === undefined ? {} : { status }) })
    }
  })
})
