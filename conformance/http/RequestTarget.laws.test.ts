import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as LinkHeader from "./LinkHeader.ts"
import * as RequestTarget from "./RequestTarget.ts"

const resolved = (reference: string, target = "/v1/pets?limit=1"): string | undefined => {
  const found = RequestTarget.resolve(reference, target)
  return found && found.path + found.query
}

/** Generates texts of the characters that the value of a query parameter may contain, including escapes. */
const parameterValue = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."abcXYZ019-._~!$'()*,;:@/?".split("")),
      fc.constantFrom("+", "=", "%2B", "%2f", "%25", "%20", "%3D", "%26", "%C3%A9")
    ),
    { minLength: 1, maxLength: 40 }
  )
  .map((parts) => parts.join(""))

const query = fc.uniqueArray(
  fc.tuple(fc.constantFrom("limit", "status", "a", "b%2Bc", "d"), parameterValue),
  {
    selector: ([name]) => name,
    minLength: 1
  }
)

describe("RequestTarget.resolve", () => {
  it("keeps the query of a reference byte for byte", () => {
    fc.assert(
      fc.property(parameterValue, (cursor) => {
        for (const reference of [
          `/v1/pets?cursor=${cursor}`,
          `?cursor=${cursor}`,
          `pets?cursor=${cursor}`,
          `../v1/pets?cursor=${cursor}`,
          `//pets.example/v1/pets?cursor=${cursor}`,
          `https://pets.example:8443/v1/pets?cursor=${cursor}#fragment`
        ]) {
          expect(resolved(reference)).toBe(`/v1/pets?cursor=${cursor}`)
        }
      })
    )
  })

  // Examples of RFC 3986 §5.4, without the host; the base is http://a/b/c/d;p?q.
  it.each([
    ["g", "/b/c/g"],
    ["./g", "/b/c/g"],
    ["/g", "/g"],
    ["?y", "/b/c/d;p?y"],
    ["g?y#s", "/b/c/g?y"],
    ["", "/b/c/d;p?q"],
    ["../../../g", "/g"],
    ["./g/.", "/b/c/g/"],
    ["g?y/../x", "/b/c/g?y/../x"],
    ["http://b", "/"]
  ])("resolves %j to %s", (reference, target) => {
    expect(resolved(reference, "/b/c/d;p?q")).toBe(target)
  })

  it.each(["/a b", "/a\u00e9", "/a%zz", "/a%", '/a"b', "/<a>", "/a\\b", "mailto:a@b", "g:h", "http:g"])(
    "returns undefined for %j, which names no HTTP resource",
    (reference) => {
      expect(resolved(reference)).toBeUndefined()
    }
  )
})

const parameter = (target: string, wanted: string) =>
  RequestTarget.parameters(target).find(([name]) => name === wanted)?.[1]

describe("RequestTarget.withParameter", () => {
  const targetOf = (parameters: ReadonlyArray<readonly [string, string]>): string =>
    `/v1/pets?${parameters.map(([name, value]) => `${name}=${value}`).join("&")}`

  it("replaces or removes a parameter, and leaves all others as written", () => {
    fc.assert(
      fc.property(query, fc.nat(), parameterValue, (parameters, anyIndex, value) => {
        const position = anyIndex % parameters.length
        const name = decodeURIComponent(parameters[position]?.[0] ?? "")
        const others = parameters.filter((_, index) => index !== position)
        const changed = RequestTarget.withParameter(targetOf(parameters), name, value)
        expect(changed).toBe(targetOf([...others, [name, value]]))
        expect(parameter(changed, name)).toBe(value)
        const without = RequestTarget.withParameter(targetOf(parameters), name, undefined)
        expect(without).toBe(others.length === 0 ? "/v1/pets" : targetOf(others))
        expect(parameter(without, name)).toBeUndefined()
      })
    )
  })

  it("appends an absent parameter, and replaces a repeated parameter with a single one", () => {
    expect(RequestTarget.withParameter("/pets", "limit", "2")).toBe("/pets?limit=2")
    expect(RequestTarget.withParameter("/pets?", "limit", "2")).toBe("/pets?limit=2")
    expect(RequestTarget.withParameter("/pets?c=a+b/=", "limit", "2")).toBe("/pets?c=a+b/=&limit=2")
    expect(RequestTarget.withParameter("/pets?limit=1&c=x&limit=3", "limit", "2")).toBe("/pets?c=x&limit=2")
    expect(parameter("/pets?amp;cursor=x", "cursor")).toBeUndefined()
  })
})

describe("LinkHeader.targets", () => {
  const next = (...fields: ReadonlyArray<string>): ReadonlyArray<string> => LinkHeader.targets(fields, "next")

  it.each([
    ["in quotes", '</a>; rel="next"'],
    ["without quotes", "</a>; rel=next"],
    ["without spaces", '</a>;rel="next"'],
    ["with spaces everywhere", ' </a> \t; rel = "next" '],
    ["among other relation types", '</a>; rel="prev  next last"'],
    ["in upper case", '</a>; REL="NEXT"'],
    ["after another parameter", '</a>; title="a, b; rel=prev <x>"; rel=next'],
    ["after a quoted quote", String.raw`</a>; title="say \"x\"; rel=prev"; rel=next`],
    ["after a parameter without value", "</a>; crossorigin; rel=next"],
    ["after another link", "</b>; rel=prev, </a>; rel=next"],
    ["after empty elements", ", ,</a>; rel=next,"],
    ["with a second rel, which is ignored", "</a>; rel=next; rel=prev"]
  ])("finds a next link %s", (_what, field) => {
    expect(next(field)).toEqual(["/a"])
  })

  it("finds a next link in the second of two fields, with commas and semicolons in the target", () => {
    expect(next("</b>; rel=prev", "</a;b,c?x=1,2;3>; rel=next")).toEqual(["/a;b,c?x=1,2;3"])
  })

  it.each([
    ["another relation type", "</a>; rel=prev"],
    ["a longer relation type", '</a>; rel="nextish"'],
    ["a first rel of another relation type", "</a>; rel=prev; rel=next"],
    ["single quotes, which are part of the value", "</a>; rel='next'"],
    ["the relation type in another parameter", '</a>; title="next"'],
    ["no angle brackets", "/a; rel=next"],
    ["text before the target", "x </a>; rel=next"],
    ["a target without an end", "</a; rel=next"],
    ["no text", ""]
  ])("finds no next link in a field with %s", (_what, field) => {
    expect(next(field)).toEqual([])
  })

  it("returns only targets that occur in the text, and does not hang on long texts", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom(...'<>;,="\\ \trelnxta/?'.split("")) })),
        (fields) => {
          for (const target of next(...fields)) expect(fields.join("")).toContain(target)
        }
      )
    )
    for (const part of ["<", "<a>", "<a>;", '<a>;rel="', "<a>,", ";", "<a>; rel=next,"]) {
      next(part.repeat(100_000))
    }
  })
})
