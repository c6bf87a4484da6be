import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Html from "./Html.ts"
import * as Json from "./Json.ts"
import * as JUnit from "./JUnit.ts"
import { report } from "./Report.arbitrary.ts"
import { example } from "./Report.fixture.ts"
import * as Terminal from "./Terminal.ts"

const parseOrThrow = (text: string) => Result.getOrThrow(Json.parse(text))

const rejectionOf = (text: string): string => {
  const result = Json.parse(text)
  if (Result.isSuccess(result)) throw new Error("it was accepted")
  return result.failure.message
}

describe("a report as JSON", () => {
  it("is parsed back to the same value", () => {
    fc.assert(
      fc.property(report, (value) => {
        expect(parseOrThrow(Json.render(value))).toEqual(value)
      })
    )
  })

  it("is rejected, or parsed to a report that can be rendered, if a part is missing or changed", () => {
    const paths = pathsOf(JSON.parse(Json.render(example)))
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.constantFrom(undefined, null, {}, [], -1.5, "zz"),
        (path, value) => {
          const json = replaceAt(JSON.parse(Json.render(example)), path, value)
          const result = Json.parse(JSON.stringify(json) ?? "")
          if (Result.isFailure(result)) expect(result.failure.message).toMatch(/^this is not a report/)
          else for (const { render } of [Json, Terminal, JUnit, Html]) render(result.success)
        }
      ),
      { numRuns: 300 }
    )
  })

  it("is rejected with a reason if it is not JSON, has another schema version or is invalid", () => {
    expect(rejectionOf("{")).toBe("this is not a report of schema version 1: Expected a valid JSON string")
    expect(rejectionOf("[]")).toMatch(/^this is not a report of schema version 1: Expected object/)
    expect(rejectionOf(JSON.stringify({ ...example, schemaVersion: 2 }))).toMatch(
      /^this is not a report of schema version 1: Expected 1\s+at \["schemaVersion"\]/
    )
    expect(rejectionOf(JSON.stringify({ ...example, verdict: "fine" }))).toMatch(/"verdict"/)
    expect(rejectionOf(JSON.stringify({ ...example, seed: undefined }))).toMatch(/"seed"/)
  })

  it("is accepted with unknown fields, which are ignored", () => {
    expect(parseOrThrow(JSON.stringify({ ...example, later: 1 }))).toEqual(example)
  })
})

type Path = ReadonlyArray<string | number>

const pathsOf = (value: unknown): ReadonlyArray<Path> => [
  [],
  ...(typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => pathsOf(inner).map((path) => [key, ...path]))
    : [])
]

const replaceAt = (value: unknown, [key, ...rest]: Path, replacement: unknown): unknown => {
  if (key === undefined) return replacement
  if (Array.isArray(value)) {
    return value.map((inner, index) => (String(index) === key ? replaceAt(inner, rest, replacement) : inner))
  }
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, inner]) => [
      name,
      name === key ? replaceAt(inner, rest, replacement) : inner
    ])
  )
}
