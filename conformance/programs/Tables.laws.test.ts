import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { text } from "../http/Wire.ts"
import * as Bodies from "./Bodies.ts"
import * as Credentials from "./Credentials.ts"
import * as Headers from "./Headers.ts"
import * as Names from "./Names.ts"
import * as Paths from "./Paths.ts"
import * as Queries from "./Queries.ts"
import { boundaries, midnight, zones } from "./scenarios/Moments.ts"

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
    spellings: Paths.spellings.map((spell) => spell(15n)),
    contents: Names.contents,
    whole: Names.whole,
    headers: [...Headers.accepts, ...Headers.others],
    credentials: [Credentials.invalid, Credentials.near, Credentials.open]
      .flat()
      .map((derive) => derive(KEY)),
    forms: [...Bodies.forms, ...Bodies.unusualForms].map((form) => [written(form), form.headers]),
    additions: Bodies.additions,
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
  it.each(Bodies.forms.map((form) => ({ form })))("writes the same members in form %#", ({ form }) => {
    expect(parsed(form)).toEqual({ name: 'Rex "\u00e9', categoryId: 17, status: "sold" })
  })

  it("writes an unusual form from which JSON.parse reads the animal only with raw bytes or codings", () => {
    const readable = Bodies.unusualForms.filter((form) => {
      const value = parsed(form)
      return typeof value === "object" && value !== null && "name" in value
    })
    for (const form of readable) expect(form.headers ?? form.write(members)).not.toBeTypeOf("string")
    expect(readable).toHaveLength(6)
  })

  it("adds members to valid JSON", () => {
    for (const added of Bodies.additions) expect(parsed(Bodies.adding(added))).toHaveProperty("name")
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
  it("sends the valid credential neither as an invalid one nor as one that is near", () => {
    for (const derive of [...Credentials.invalid, ...Credentials.near]) {
      const { authorization, key } = derive(KEY)
      expect(authorization === undefined && key === undefined).toBe(false)
      expect(authorization).not.toEqual([`Bearer ${KEY}`])
    }
  })

  it("appends a query parameter to a path with or without a query", () => {
    const credential = { query: "key=a" }
    expect(Credentials.withCredential({ path: "/pets" }, credential).path).toBe("/pets?key=a")
    expect(Credentials.withCredential({ path: "/pets?limit=1" }, credential).path).toBe("/pets?limit=1&key=a")
  })
})

describe("boundaries", () => {
  const now = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2030, 0) })
  const all = { ...boundaries, ...Object.fromEntries(zones.map((zone) => [zone, midnight(zone)])) }

  it.each(Object.entries(all))("are ahead, the next one first: %s", (_, next) => {
    fc.assert(
      fc.property(now, (ms) => {
        expect(next(ms)).toBeGreaterThan(ms)
        expect(next(next(ms) - 1)).toBe(next(ms))
      })
    )
  })

  it("are those of the calendar", () => {
    const from = (name: keyof typeof boundaries) =>
      new Date(boundaries[name](Date.UTC(2026, 11, 1, 9))).toISOString()
    expect(from("month")).toBe("2027-01-01T00:00:00.000Z")
  })
})
