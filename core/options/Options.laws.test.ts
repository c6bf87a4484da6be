import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { InvalidOption } from "./InvalidOption.ts"
import { misspelled } from "./Misspelling.arbitrary.ts"
import * as Options from "./Options.ts"
import * as Rule from "./Rule.ts"

interface Example {
  readonly host: string
  readonly port: number
  readonly strict: boolean
  readonly mode: "closed" | "open"
  readonly onError: () => void
  readonly window: { readonly strikes: number; readonly withinMs: number }
  readonly timeoutMs?: number | undefined
}

const windowRules: Options.Rules<Example["window"]> = {
  strikes: Rule.integer({ min: 1, max: 9 }),
  withinMs: Rule.integer({ min: 0, max: 99 })
}

const rules: Options.Rules<Example> = {
  host: Rule.text,
  port: Rule.integer({ min: 0, max: 65_535 }),
  strict: Rule.boolean,
  mode: Rule.oneOf(["closed", "open"]),
  onError: Rule.callback(),
  window: Options.record(windowRules, ({ strikes, withinMs }) => strikes <= withinMs, "must fit"),
  timeoutMs: Rule.number
}

const names = Object.keys(rules)

const window = fc.record({
  strikes: fc.integer({ min: 1, max: 9 }),
  withinMs: fc.integer({ min: 9, max: 99 })
})

const valid = fc.record(
  {
    host: fc.string(),
    port: fc.integer({ min: 0, max: 65_535 }),
    strict: fc.boolean(),
    mode: fc.constantFrom("closed", "open"),
    onError: fc.constant(() => undefined),
    window,
    timeoutMs: fc.option(fc.double(), { nil: undefined })
  },
  { requiredKeys: [] }
)

const types: { readonly [name in keyof Required<Example>]: string } = {
  host: "string",
  port: "number",
  strict: "boolean",
  mode: "string",
  onError: "function",
  window: "object",
  timeoutMs: "number"
}

const errorOf = (given: unknown): InvalidOption => {
  const checked = Options.check(rules, given)
  if (Result.isSuccess(checked)) throw new Error("the options were accepted")
  return checked.failure
}

describe("Options.check", () => {
  it("accepts valid options, and returns the options that are not undefined", () => {
    fc.assert(
      fc.property(valid, (given) => {
        const present = Object.entries(given).filter(([, value]) => value !== undefined)
        expect(Options.check(rules, given)).toEqual(Result.succeed(Object.fromEntries(present)))
      })
    )
    expect(Options.check(rules)).toEqual(Result.succeed({}))
  })

  it("rejects an object with a misspelled name, and suggests the correct name", () => {
    fc.assert(
      fc.property(valid, misspelled(names), fc.anything(), (given, [name, typed], value) => {
        const error = errorOf({ ...given, [typed]: value })
        expect(error).toBeInstanceOf(InvalidOption)
        expect(error.option).toBe(typed)
        expect(error.reason).toMatch(/^unknown option; did you mean .*\?$/)
        expect(error.reason.slice("unknown option; did you mean ".length, -1).split(" or ")).toContain(name)
      }),
      { numRuns: 500 }
    )
  })

  it("rejects a misspelled field in an option, and suggests the correct field", () => {
    fc.assert(
      fc.property(window, misspelled(Object.keys(windowRules)), (fields, [name, typed]) => {
        const error = errorOf({ window: { ...fields, [typed]: 1 } })
        expect(error.option).toBe("window")
        expect(error.reason).toContain(`unknown field ${typed}; did you mean ${name}?`)
      })
    )
  })

  it("rejects every value of a wrong type, and names the option in the message", () => {
    fc.assert(
      fc.property(valid, fc.constantFrom(...names), fc.anything(), (given, name, value) => {
        const type = types[name as keyof Example] // a name of the table
        fc.pre(value !== undefined && (typeof value !== type || value === null))
        const error = errorOf({ ...given, [name]: value })
        expect(error.option).toBe(name)
        expect(error.message).toMatch(new RegExp(`^${name}: must `))
      }),
      { numRuns: 1_000 }
    )
  })

  it("rejects values that are not plain objects", () => {
    const given = [null, 5, "sqlite:x", true, [], ["host"], new Map([["host", 1]]), Promise.resolve({})]
    for (const value of [...given, () => undefined, Symbol("x"), 1n]) {
      expect(errorOf(value)).toMatchObject({ option: "options", reason: "must be an object" })
    }
  })

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", ""])(
    "rejects the name '%s' in a parsed JSON object as an unknown option",
    (name) => {
      const given: unknown = JSON.parse(`{"port":1,"${name}":{"host":"evil","strict":true}}`)
      expect(errorOf(given)).toMatchObject({
        option: name,
        reason: expect.stringMatching(/^unknown option; /)
      })
      expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    }
  )

  it("reads each option once, so that a getter cannot return another value later", () => {
    let reads = 0
    const given = {
      get port() {
        return reads++ === 0 ? 80 : "abc"
      }
    }
    const checked = Options.check(rules, given)
    expect(checked).toEqual(Result.succeed({ port: 80 }))
    expect(reads).toBe(1)
  })

  it("reads options of a class instance and of an object without a prototype", () => {
    class Settings {
      readonly host = "a"
    }
    expect(Options.check(rules, new Settings())).toEqual(Result.succeed({ host: "a" }))
    const bare: object = Object.assign(Object.create(null), { host: "b" })
    expect(Options.check(rules, bare)).toEqual(Result.succeed({ host: "b" }))
  })

  it("rejects a missing option only if it is required", () => {
    const checked = Options.check(rules, { port: 1 }, ["host"])
    expect(Result.isFailure(checked) && checked.failure.message).toBe("host: is required")
    expect(Options.check(rules, { host: "a" }, ["host"])).toEqual(Result.succeed({ host: "a" }))
  })

  it("reports a missing field, an invalid field, and fields that are invalid in combination", () => {
    expect(errorOf({ window: { strikes: 1 } }).message).toBe("window: must have the field withinMs")
    expect(errorOf({ window: { strikes: 5, withinMs: 1 } }).message).toBe("window: must fit")
    expect(errorOf({ window: { strikes: 0, withinMs: 1 } }).message).toBe(
      "window: strikes must be a whole number from 1 to 9"
    )
  })

  it("lists all known names if no known name is similar, and otherwise suggests all similar names", () => {
    expect(errorOf({ color: 1 }).message).toBe(`color: unknown option; known names: ${names.join(", ")}`)
    expect(errorOf({ hort: 1 }).message).toBe("hort: unknown option; did you mean host or port?")
    expect(errorOf({ "TIMEOUT-MS": 1 }).message).toBe("TIMEOUT-MS: unknown option; did you mean timeoutMs?")
  })

  it("rejects a name of 16 megabytes without comparing it, which would take many seconds of CPU time", () => {
    const begin = process.cpuUsage()
    expect(errorOf({ ["x".repeat(16_000_000)]: 1 }).reason).toMatch(/^unknown option; known names: /)
    const { system, user } = process.cpuUsage(begin)
    expect(user + system).toBeLessThan(5_000_000)
  })
})
