import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Configuration, Contact, Label, parse } from "./Configuration.ts"

describe("Configuration.parse", () => {
  const read = (content: unknown): Promise<Configuration | string> =>
    Effect.runPromise(
      Effect.match(parse(typeof content === "string" ? content : JSON.stringify(content)), {
        onSuccess: (configuration) => configuration,
        onFailure: (failure) => failure.message
      })
    )

  it("accepts a file with all members or no member", async () => {
    expect(await read({})).toEqual({})
    const complete = {
      $schema: "./conformance.schema.json",
      name: "mine",
      url: "http://127.0.0.1:3000/v1",
      keys: {
        main: "env:MAIN",
        tiny: { key: "t", perMinute: 5, perDay: 50 },
        victim: { key: "v", perMinute: 3, perDay: 30 },
        revoked: "r",
        expired: "e"
      },
      clock: "http://127.0.0.1:4000/clock",
      level: "design",
      declared: { categories: [1, 2], bans: true },
      budget: { requests: 100, seconds: 10 },
      only: ["core"],
      exclude: ["list.*"],
      iOwnThisServer: true
    }
    expect(await read(complete)).toEqual(complete)
  })

  it.each([
    [{ key: "x" }, '["key"]'],
    [{ keys: { mian: "x" } }, '["keys"]["mian"]'],
    [{ keys: { tiny: { key: "t", perMinute: 5, perDay: 50, perHour: 1 } } }, '["keys"]["tiny"]["perHour"]'],
    [{ declared: { ban: true } }, '["declared"]["ban"]'],
    [{ budget: { minutes: 1 } }, '["budget"]["minutes"]'],
    [{ i_own_this_server: true }, '["i_own_this_server"]']
  ])("rejects an unknown member: %j", async (content, member) => {
    const message = await read(content)
    expect(message).toMatch(/^the configuration file is wrong: /)
    expect(message).toContain(member)
  })

  it.each([
    ["nonsense"],
    [""],
    ["[]"],
    ["null"],
    [{ level: "strict" }],
    [{ url: 5 }],
    [{ url: "" }],
    [{ keys: { main: "" } }],
    [{ keys: { tiny: "t:5:50" } }],
    [{ keys: { tiny: { key: "t", perMinute: 0, perDay: 5 } } }],
    [{ keys: { tiny: { key: "t", perMinute: 1.5, perDay: 5 } } }],
    [{ keys: { tiny: { key: "t", perMinute: "5", perDay: 5 } } }],
    [{ keys: { tiny: { key: "t", perMinute: 5 } } }],
    [{ implementation: { version: "1" } }],
    [{ implementation: { name: "x".repeat(101) } }],
    [{ implementation: { name: "x", contact: "http://shop.example" } }],
    [{ declared: { categories: [] } }],
    [{ declared: { categories: [1.5] } }],
    [{ declared: { categories: [2 ** 60] } }],
    [{ declared: { categories: ["9223372036854775808"] } }],
    [{ declared: { categories: ["1e3"] } }],
    [{ budget: { requests: -1 } }],
    [{ only: "core" }],
    [{ iOwnThisServer: "yes" }]
  ])("rejects an invalid file with a one-line message: %j", async (content) => {
    expect(await read(content)).toMatch(/^the configuration file is wrong: .{5}[^\n]*$/)
  })

  it("fails with a message that never contains a key, even if the key is in the wrong place", async () => {
    const secret = fc.string({ unit: fc.constantFrom(..."abcXYZ0189._~-"), minLength: 12, maxLength: 30 })
    const shapes: ReadonlyArray<(value: string) => string> = [
      (value) => value,
      (value) => `{"keys":{"main":"${value}"`,
      (value) => `{"keys":{"main":"${value}",}}`,
      (value) => JSON.stringify(value),
      (value) => JSON.stringify({ keys: value }),
      (value) => JSON.stringify({ key: value }),
      (value) => JSON.stringify({ keys: { main: [value] } }),
      (value) => JSON.stringify({ keys: { main: { key: value } } }),
      (value) => JSON.stringify({ keys: { tiny: `${value}:5:50` } }),
      (value) => JSON.stringify({ keys: { tiny: { key: [value], perMinute: value, perDay: 1 } } }),
      (value) => JSON.stringify({ keys: { main: value, tiny: { key: value } } }),
      (value) => JSON.stringify({ level: value })
    ]
    await fc.assert(
      fc.asyncProperty(secret, fc.constantFrom(...shapes), async (key, shape) => {
        const message = await read(shape(key))
        expect(message).toMatch(/^the configuration file is wrong: /)
        expect(message).not.toContain(key)
      }),
      { numRuns: 200 }
    )
  })
})

describe("a text about the implementation", () => {
  it("has at most 100 characters", () => {
    expect(Schema.is(Label)("x".repeat(100))).toBe(true)
    expect(Schema.is(Label)("x".repeat(101))).toBe(false)
  })

  it("is an email address or an https URL without credentials if it is the contact", () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ["https"] }), (url) => Schema.is(Contact)(url.slice(0, 100)))
    )
    fc.assert(fc.property(fc.constantFrom("shop@shop.example", "a.b+c@x.y.z"), Schema.is(Contact)))
    for (const invalid of [
      "javascript:alert(1)",
      "javascript:a@b.c",
      "http://shop.example",
      "https://user:word@shop.example",
      "shop",
      "a@b",
      "https://shop.example/<script>\n",
      "data:text/html,a@b.c",
      "https://shop.example/".padEnd(101, "x")
    ]) {
      expect([invalid, Schema.is(Contact)(invalid)]).toEqual([invalid, false])
    }
  })
})
