import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Int64 from "../domain/Int64.ts"
import * as PetName from "../domain/PetName.ts"
import { parameters as listParameters } from "../operations/ListPets.ts"
import * as Json from "./Json.ts"
import * as NewPetBody from "./NewPetBody.ts"
import * as QueryParameters from "./QueryParameters.ts"

/** Maximum CPU time in milliseconds: far more than linear time for these inputs, and far less than quadratic time. */
const BOUND_MS = 1_000

/** Expects that one of three runs takes less than `BOUND_MS`; CPU time barely depends on the machine's load. */
const expectQuick = (work: () => void): void => {
  const isQuick = (): boolean => {
    const start = process.cpuUsage()
    work()
    const { system, user } = process.cpuUsage(start)
    return (user + system) / 1000 < BOUND_MS
  }
  expect(isQuick() || isQuick() || isQuick(), `takes more than ${BOUND_MS} ms of CPU time`).toBe(true)
}

const filled = (prefix: string, item: string, suffix: string, size: number): string =>
  prefix + item.repeat(Math.floor((size - prefix.length - suffix.length) / item.length)) + suffix

const members = (count: number, name: (index: number) => string): string =>
  `{${Array.from({ length: count }, (_, index) => `"${name(index)}":1`).join(",")}}`

const SIZE = 65_536

const bodies: ReadonlyArray<readonly [string, string]> = [
  ["a number of 64,000 digits", filled('{"name":"a","categoryId":', "9", "}", SIZE)],
  ["a number with zeros between two digits", filled('{"name":"a","categoryId":1', "0", "1}", SIZE)],
  ["a number with leading zeros in its fraction", filled('{"name":"a","categoryId":0.', "0", "1}", SIZE)],
  ["a fraction of zeros", filled('{"name":"a","categoryId":1.', "0", "}", SIZE)],
  ["an exponent of 64,000 digits", filled('{"name":"a","categoryId":1e', "9", "}", SIZE)],
  ["a negative exponent of 64,000 digits", filled('{"name":"a","categoryId":1e-', "9", "}", SIZE)],
  ["a name of 64,000 characters", filled('{"name":"', "a", '","categoryId":1}', SIZE)],
  ["a name of emoji", filled('{"name":"', "😀", '","categoryId":1}', SIZE / 2)],
  ["a name of escapes", filled('{"name":"', "\\n", '","categoryId":1}', SIZE)],
  ["a name of \\u escapes", filled('{"name":"', "\\u0020", '","categoryId":1}', SIZE)],
  ["a string without a closing quote", filled('{"name":"', "\\\\", "", SIZE)],
  ["a member name of 64,000 characters", filled('{"', "k", '":1}', SIZE)],
  ["thousands of member names", members(6000, (index) => `k${index}`)],
  ["thousands of member names that are integers", members(6000, (index) => String(index * 4096))],
  ["600 member names with a long common prefix", members(600, (index) => `${"k".repeat(90)}${index}`)],
  ["a long array", filled("[", "1,", "1]", SIZE)],
  ["thousands of empty arrays", filled('{"a":[', "[],", "[]]}", SIZE)],
  ["nested arrays", filled("", "[", "", SIZE)],
  ["nested objects", filled("", '{"a":', "", SIZE)],
  ["white space", filled("", " ", "", SIZE)],
  ["white space after the object", filled("{}", "\n", "x", SIZE)]
]

describe("NewPetBody.decode", () => {
  it.each(bodies)("takes linear time for a body with %s", (_, text) => {
    const bytes = new TextEncoder().encode(text)
    expectQuick(() => NewPetBody.decode(bytes, false))
    expectQuick(() => NewPetBody.decode(bytes, true))
  })
})

describe("Int64.fromJsonNumber", () => {
  it.each([
    ["100,000 digits", "9".repeat(100_000)],
    ["100,000 zeros that the exponent cancels", `1${"0".repeat(100_000)}e-100000`],
    ["100,000 zeros between two digits", `1${"0".repeat(100_000)}1`],
    ["100,000 leading zeros in the fraction", `0.${"0".repeat(100_000)}1`],
    ["100,000 digits in the fraction, canceled by the exponent", `0.${"0".repeat(99_999)}1e100000`],
    ["an exponent of 100,000 digits", `1e${"9".repeat(100_000)}`],
    ["a negative exponent of 100,000 digits", `1e-${"9".repeat(100_000)}`],
    ["an exponent of 999,999,999", "1e999999999"]
  ])("takes linear time for a number with %s", (_, text) => {
    expectQuick(() => Int64.fromJsonNumber(text))
  })

  it("parses an int64 with 100,000 zeros that its exponent cancels", () => {
    expect(Int64.fromJsonNumber(`-12${"0".repeat(100_000)}e-100000`)).toBe(-12n)
    expect(Int64.fromJsonNumber(`0.${"0".repeat(99_999)}12e100001`)).toBe(12n)
  })
})

describe("Int64.fromCanonicalText", () => {
  it("takes linear time for an id of 100,000 digits", () => {
    expectQuick(() => Int64.fromCanonicalText("9".repeat(100_000)))
  })
})

describe("Json.parse", () => {
  it("rejects 200,000 nested brackets at the first bracket that is too deep", () => {
    expectQuick(() => {
      const parsed = Json.parse("[".repeat(200_000))
      expect(Result.isFailure(parsed) ? parsed.failure.position : undefined).toBe(Json.maxDepth)
    })
  })

  it.each([
    ["words", (index: number) => `k${index}`],
    ["integers", (index: number) => String(index)]
  ])("takes linear time for an object with 100,000 names that are %s", (_, name) => {
    const text = members(100_000, name)
    expectQuick(() => {
      expect(Result.isSuccess(Json.parse(text))).toBe(true)
    })
  })
})

describe("QueryParameters.decode", () => {
  it("takes linear time for 10,000 query parameters", () => {
    const query = Array.from({ length: 10_000 }, (_, index) => `p${index}=%20`).join("&")
    expectQuick(() => QueryParameters.decode(listParameters, query, false))
    expectQuick(() => QueryParameters.decode(listParameters, "&".repeat(100_000), true))
    expectQuick(() => QueryParameters.decode(listParameters, `limit=${"1".repeat(100_000)}`, false))
  })
})

describe("PetName.problem", () => {
  it("takes linear time for a name of a million characters", () => {
    expectQuick(() => PetName.problem(" ".repeat(1_000_000)))
  })
})
