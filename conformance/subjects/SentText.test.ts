import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as SentText from "./SentText.ts"

const key = "ast_main0f3kQ9zLw2mB7vXc4nRt8yHj"

const show = (sent: Parameters<typeof SentText.describe>[0]) => SentText.describe(sent, { main: key })

describe("SentText.describe", () => {
  it("shows method, path, body, credential and other headers", () => {
    expect(show({ path: "/pets" })).toBe("GET /pets")
    expect(show({ path: "/pets", key: "tiny" })).toBe("GET /pets (tiny key)")
    expect(show({ path: "/pets", key: "none" })).toBe("GET /pets (no key)")
    expect(show({ path: "/pets", authorization: [] })).toBe("GET /pets (no Authorization)")
    expect(show({ path: "/pets", authorization: ["Token x", "Bearer y"] })).toBe(
      "GET /pets (Authorization: Token x, Authorization: Bearer y)"
    )
    expect(show({ method: "POST", path: "/pets", json: '{"name":"Rex"}' })).toBe('POST /pets {"name":"Rex"}')
    expect(
      show({ method: "POST", path: "/pets", headers: [["Content-Type", "text/plain"]], body: "x" })
    ).toBe("POST /pets x (Content-Type: text/plain)")
    expect(
      show({ method: "POST", path: "/pets", headers: [["Content-Type", "application/json"]], body: "{}" })
    ).toBe("POST /pets {}")
  })

  it("shows only the beginning of a long path or body", () => {
    const long = "xy ".repeat(200)
    expect(show({ path: `/${long}` }).length).toBeLessThan(180)
    expect(show({ path: "/", method: "POST", body: long })).toBe(`POST / ${"xy ".repeat(53)}… (600)`)
    expect(show({ path: "/", body: new Uint8Array([0x68, 0x69]) })).toBe("GET / hi")
  })

  it("replaces values that are made from a key with a placeholder", () => {
    expect(show({ path: "/pets", headers: [["X-API-Key", key]] })).toBe("GET /pets (X-API-Key: ‹key:main›)")
    expect(show({ path: "/", authorization: [`Bearer ${key}`] })).toBe(
      "GET / (Authorization: Bearer ‹key:main›)"
    )
    const credential = "the key twice"
    expect(show({ path: "/pets", credential, authorization: [`Bearer ${key}${key}`] })).toBe(
      "GET /pets (Authorization: the key twice)"
    )
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.boolean(), (start, end, isReversed) => {
        const [from, to] = [start % key.length, end % key.length].sort((a, b) => a - b)
        const part = key.slice(from, (to ?? 0) + 1)
        const value = isReversed ? [...part].toReversed().join("") : part
        const line = show({ path: "/pets", authorization: [`Basic ${value}`] })
        if (value.length >= 5) expect(line).toBe("GET /pets (Authorization: ‹made from a key›)")
      })
    )
  })
})
