import { describe, expect, it } from "vitest"
import * as Bodies from "./Bodies.ts"
import * as Names from "./Names.ts"

const all = Object.keys(Names.characters).flatMap((characters) =>
  Object.keys(Names.lengths).map((length) => ({
    characters: characters as Names.CharactersName,
    length: length as Names.LengthName
  }))
)

describe("a name", () => {
  it.each(all)("of $characters has a length of $length, in normal form C", ({ characters, length }) => {
    const name = Names.of("Token", characters, length)
    const { count, size } = Names.lengths[length]
    expect(count(name)).toBe(size)
    expect(name.normalize("NFC")).toBe(name)
    expect(name.trim()).toBe(name)
    expect(/\p{Surrogate}/u.test(name)).toBe(false)
  })
})

describe("a form of a body", () => {
  it.each(Object.keys(Bodies.forms))("%s means the same object", (form) => {
    for (const status of ["sold", undefined]) {
      const name = Names.of("Token", "one to four bytes", "short")
      const fields = { name, categoryId: 1_000n, status }
      const json: unknown = JSON.parse(Bodies.formOf(form as Bodies.FormName).write(fields))
      expect(json).toEqual({ name, categoryId: 1_000, ...(status === undefined ? {} : { status }) })
    }
  })
})
