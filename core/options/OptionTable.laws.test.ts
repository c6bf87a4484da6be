import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as OptionTable from "./OptionTable.ts"
import * as Rule from "./Rule.ts"

interface Example {
  readonly strict: boolean
  readonly timeoutMs: number
  readonly url: string | undefined
  readonly log: (() => void) | undefined
}

const table = {
  strict: OptionTable.flag("strict", Rule.boolean, true),
  timeoutMs: OptionTable.flag("timeout", Rule.milliseconds({ min: 0, max: 60_000 }), 1_500),
  url: OptionTable.flag("url", Rule.text, undefined, { defaultText: "off" }),
  log: OptionTable.programOnly(Rule.callback<() => void>(), undefined, "a function")
} satisfies OptionTable.OptionTable<Example>

const given: fc.Arbitrary<Partial<Example>> = fc.record(
  {
    strict: fc.boolean(),
    timeoutMs: fc.integer({ min: 0, max: 60_000 }),
    url: fc.option(fc.string(), { nil: undefined }),
    log: fc.constant(() => undefined)
  },
  { requiredKeys: [] }
)

describe("OptionTable.resolve", () => {
  it("returns each given option, and the default of each option that is absent or undefined", () => {
    fc.assert(
      fc.property(given, (options) => {
        const resolved = Result.getOrThrow(OptionTable.resolve<Example>(table, options))
        const present = Object.entries(options).filter(([, value]) => value !== undefined)
        expect(resolved).toEqual({
          strict: true,
          timeoutMs: 1_500,
          url: undefined,
          log: undefined,
          ...Object.fromEntries(present)
        })
      })
    )
  })

  it("fails with the first invalid option", () => {
    const resolved = OptionTable.resolve<Example>(table, { timeoutMs: 60_001, url: 5 })
    expect(Result.isFailure(resolved) && resolved.failure.message).toBe(
      "timeoutMs: must be a whole number from 0 to 60000"
    )
  })
})

describe("OptionTable.flag", () => {
  it("describes its default as a user would type it", () => {
    expect(table.strict.defaultText).toBe("on")
    expect(table.timeoutMs.defaultText).toBe("1500ms")
    expect(table.url.defaultText).toBe("off")
    expect(OptionTable.flag("port", Rule.integer({ min: 0, max: 9 }), undefined).defaultText).toBe("none")
  })
})
