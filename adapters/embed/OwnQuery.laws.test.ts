/** Checks that operations of a host get the query as their validators describe it, and that validators decide on it. */
import * as fc from "fast-check"
import { afterEach, describe, expect, it } from "vitest"
import * as z from "zod"
import { type AnimalStore, defineOperation, openAnimalStore } from "./index.ts"
import type { Validator } from "./Validator.ts"

const opened: Array<AnimalStore> = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

/** Opens a store with an operation that returns its query; the returned function sends it a query. */
const open = async (query: Validator) => {
  const success = { body: z.any() }
  const run = (input: { query: unknown }) => ({ body: input.query })
  const store = await openAnimalStore({
    logLevel: "none",
    operations: [defineOperation({ id: "search", method: "GET", path: "/search", query, success, run })]
  })
  opened.push(store)
  const { key } = await store.keys.issue({ plan: "Business" })
  const headers = { Authorization: `Bearer ${key}` }
  return async (search: string) => {
    const response = await store.fetch(new Request(`http://localhost/v1/search?${search}`, { headers }))
    const body = JSON.parse(await response.text())
    return response.status === 200 ? body : body.message
  }
}

const safe = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }

const values = {
  integer: fc.maxSafeInteger(),
  // Without -0, which texts do not have.
  number: fc.double({ ...safe, noNaN: true }).map((value) => value || 0),
  boolean: fc.boolean()
}

/** A type of JSON, and a value of it. */
const typed = fc.oneof(
  ...Object.entries(values).map(([type, value]) => fc.record({ type: fc.constant(type), value }))
)

/** Every way in which a JSON Schema can say that a parameter is of a type. */
const forms: ReadonlyArray<(type: string, value: number | boolean) => object> = [
  (type) => ({ type }),
  (type) => ({ type: [type, "null"] }),
  (type) => ({ anyOf: [{ type }, { type: "null" }] }),
  (type) => ({ oneOf: [{ type: "null" }, { type }] }),
  (type) => ({ $ref: "#/$defs/Value", $defs: { Value: { type } } }),
  (_, value) => ({ const: value }),
  (_, value) => ({ enum: ["none", value] })
]

describe("the query of an operation of a host", () => {
  it("has numbers and booleans, however the schema of a parameter names their type", () =>
    fc.assert(
      fc.asyncProperty(fc.constantFrom(...forms), typed, async (form, { type, value }) => {
        const { $defs = {}, ...schema } = { $defs: undefined, ...form(type, value) }
        const send = await open({ type: "object", properties: { value: schema }, required: ["value"], $defs })
        expect(await send(`value=${encodeURIComponent(value)}`)).toEqual({ value })
      }),
      { numRuns: 60 }
    ))

  it("has texts where a text is no value of the type", async () => {
    const send = await open({
      type: "object",
      properties: { value: { anyOf: [{ type: "integer" }, { const: "all" }] } }
    })
    expect(await send("value=all")).toEqual({ value: "all" })
    expect(await send("value=07")).toContain("The query is invalid: value: ")
  })

  it.each<[string, Validator]>([
    ["a JSON Schema", { type: "object", properties: { a: {} }, additionalProperties: false }],
    ["zod", z.strictObject({ a: z.string().optional() })]
  ])("is invalid if %s allows no other parameters", async (_, validator) => {
    const send = await open(validator)
    expect(await send("a=x")).toEqual({ a: "x" })
    expect(await send("a=x&b=1")).toMatch(/^The query is invalid: .*b/)
  })

  it("has the parameters that a validator allows without listing them", async () => {
    const send = await open(z.looseObject({ a: z.int() }))
    expect(await send("a=1&b=2")).toEqual({ a: 1, b: "2" })
    expect(await send("a=1&b=2&b=3")).toBe("The query string contains a repeated parameter.")
  })
})
