import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { text } from "../http/Wire.ts"
import * as Bodies from "./Bodies.ts"
import * as Credentials from "./Credentials.ts"
import * as Headers from "./Headers.ts"
import { moments } from "./Moments.ts"
import * as Names from "./Names.ts"
import * as Paths from "./Paths.ts"
import * as Queries from "./Queries.ts"

const KEY = "ast_Ab9x0Qz7k2"
const members: Bodies.Members = [
  ["name", '"Rex \\"\u00e9"'],
  ["categoryId", "17"],
  ["status", '"sold"']
]
const written = (form: Bodies.Form): string => {
  const body = form.write(members)
  return typeof body === "string" ? body : [...body].join(" ")
}
const parsed = (form: Bodies.Form): unknown => {
  const body = form.write(members)
  try {
    return JSON.parse(typeof body === "string" ? body : text(body))
  } catch {
    return undefined
  }
}

describe("each table", () => {
  const tables: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    limits: [...Queries.limits, ...Queries.unusualLimits],
    statuses: [...Queries.statuses, ...Queries.unusualStatuses],
    others: Queries.others,
    paths: Paths.paths,
    methods: Paths.methods,
    ids: Paths.otherIds,
    spellings: Object.values(Paths.spellings).map((spell) => spell(15n)),
    contents: Object.values(Names.contents),
    whole: Names.whole,
    headers: [...Headers.accepts, ...Headers.others],
    credentials: [Credentials.invalid, Credentials.near, Credentials.open].flatMap((table) =>
      Object.values(table).map((derive) => derive(KEY))
    ),
    forms: [...Object.values(Bodies.forms), ...Object.values(Bodies.unusualForms)].map((form) => [
      written(form),
      form.headers
    ]),
    additions: Object.values(Bodies.additions),
    types: Bodies.contentTypes,
    categories: Bodies.categories,
    ...Bodies.fieldValues
  }

  it.each(Object.entries(tables))("has each value once: %s", (_, values) => {
    const texts = values.map((value) => JSON.stringify(value))
    expect(texts.filter((each, index) => texts.indexOf(each) < index)).toEqual([])
  })
})

describe("Bodies", () => {
  it.each(Object.entries(Bodies.forms))("writes the same members as %s", (_, form) => {
    expect(parsed(form)).toEqual({ name: 'Rex "\u00e9', categoryId: 17, status: "sold" })
  })

  it("writes hardly an unusual form from which JSON.parse reads the animal", () => {
    const readable = Object.entries(Bodies.unusualForms).filter(([, form]) => {
      const value = parsed(form)
      return typeof value === "object" && value !== null && "name" in value
    })
    expect(readable.map(([name]) => name)).toEqual([
      "Latin-1",
      "an invalid byte",
      "an overlong NUL",
      "a surrogate in UTF-8",
      "gzip as coding",
      "identity as coding"
    ])
  })
})

describe("Names.ofLength", () => {
  it("returns a name of exactly this length, in code points, UTF-16 units and bytes", () => {
    const unit = fc.constantFrom(...Object.values(Names.units))
    const input = [fc.constantFrom(...Names.characters), fc.integer({ min: 20, max: 300 }), unit] as const
    fc.assert(
      fc.property(...input, (characters, length, count) => {
        const name = Names.ofLength("Abc", characters, length, count)
        expect(count(name)).toBe(length)
        expect(name.startsWith("Abc")).toBe(true)
      })
    )
  })
})

describe("Credentials", () => {
  it.each(Object.entries({ ...Credentials.invalid, ...Credentials.near }))(
    "never sends the valid credential as %s",
    (_, derive) => {
      const { authorization, key } = derive(KEY)
      expect(authorization === undefined && key === undefined).toBe(false)
      expect(authorization).not.toEqual([`Bearer ${KEY}`])
    }
  )

  it("appends a query parameter to a path with or without a query", () => {
    const credential = { query: "key=a" }
    expect(Credentials.withCredential({ path: "/pets" }, credential).path).toBe("/pets?key=a")
    expect(Credentials.withCredential({ path: "/pets?limit=1" }, credential).path).toBe("/pets?limit=1&key=a")
  })
})

describe("moments", () => {
  const now = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2030, 0) })

  it.each(Object.entries(moments))("has none in the past: %s", (_, next) => {
    fc.assert(
      fc.property(now, (ms) => {
        expect(next(ms)).toBeGreaterThanOrEqual(ms)
      })
    )
  })
})
