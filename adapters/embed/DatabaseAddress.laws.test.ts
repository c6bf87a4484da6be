import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as DatabaseAddress from "./DatabaseAddress.ts"

const filenameOf = (address: string): unknown => {
  const parsed = DatabaseAddress.parse(address)
  if (Result.isFailure(parsed)) return parsed.failure
  return parsed.success.kind === "sqlite" ? parsed.success.filename : parsed.success.kind
}

const segment = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/[/~:?\p{Cc}]/u.test(text))

const segments = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"))

describe("DatabaseAddress.parse of a SQLite address", () => {
  it("accepts a relative path, and an absolute path with or without an empty host", () => {
    fc.assert(
      fc.property(segments, (path) => {
        expect(filenameOf(`sqlite:${path}`)).toBe(path)
        expect(filenameOf(`sqlite:./${path}`)).toBe(`./${path}`)
        expect(filenameOf(`sqlite:/${path}`)).toBe(`/${path}`)
        expect(filenameOf(`sqlite:///${path}`)).toBe(`/${path}`)
      })
    )
  })

  it("rejects an address with a host", () => {
    fc.assert(
      fc.property(segments, (path) => {
        expect(filenameOf(`sqlite://${path}`)).toMatch(
          /^must have no host .* 'sqlite:PATH' .* 'sqlite:\/\/\/PATH'/
        )
      })
    )
    for (const path of ["", "/", "//"]) expect(filenameOf(`sqlite://${path}x`)).not.toBe("x")
  })

  it("rejects a path that starts with a home directory (~), which only a shell expands", () => {
    fc.assert(
      fc.property(fc.option(segment, { nil: "" }), segments, (user, path) => {
        for (const address of [`sqlite:~${user}/${path}`, `sqlite:~${user}`]) {
          expect(filenameOf(address)).toMatch(
            /^must not start with '~', .* write \$HOME in the shell, or the whole path$/
          )
        }
      })
    )
    expect(filenameOf("sqlite:./~/x")).toBe("./~/x")
    expect(filenameOf("sqlite:a~/x")).toBe("a~/x")
    expect(filenameOf("sqlite:///~/x")).toBe("/~/x")
  })

  it("rejects a control character, a '?' and a 'file:' address, and names the reason and the form to write", () => {
    const control = fc.integer({ min: 0, max: 0x9f }).filter((code) => code < 0x20 || code >= 0x7f)
    fc.assert(
      fc.property(segments, segments, control, (before, after, code) => {
        expect(filenameOf(`sqlite:${before}${String.fromCharCode(code)}${after}`)).toMatch(
          /^must not contain a control character, .* write only the path$/
        )
        expect(filenameOf(`sqlite:${before}?${after}`)).toMatch(
          /^must not contain '\?', .* write 'sqlite:PATH'$/
        )
        expect(filenameOf(`sqlite:file:${before}`)).toMatch(
          /^must not contain 'file:' .* write 'sqlite:PATH'$/
        )
      })
    )
  })

  it.each(["///tmp/y.db?mode=ro", "file:z.db?mode=memory", "/tmp/x.db\r", "x.db\n", "file:z.db", "a\0b"])(
    "rejects '%s', which would otherwise become an empty file of that name",
    (path) => expect(filenameOf(`sqlite:${path}`)).toMatch(/^must not contain /)
  )

  it.each(["", ":memory:"])("rejects the path '%s'", (path) => {
    expect(filenameOf(`sqlite:${path}`)).toMatch(/^must be 'memory:', 'sqlite:PATH' or /)
  })
})

describe("DatabaseAddress.parse", () => {
  it("rejects an invalid address with a reason that does not contain its password", () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.string().map((rest) => `postgres://u:s3cret@h/${rest}`)
    )
    fc.assert(
      fc.property(text, (address) => {
        const parsed = DatabaseAddress.parse(address)
        if (Result.isFailure(parsed)) expect(parsed.failure).not.toContain("s3cret")
        else if (parsed.success.kind === "postgres") expect(Redacted.value(parsed.success.url)).toBe(address)
      })
    )
  })

  it.each([
    ["postgres://u:a,b@h/db", false],
    ["postgres://u@h/a,b", false],
    ["postgres://u@h/db?options=a,b&host=c", false],
    ["postgres://u:a,b@h1:5432,h2:5432/db", true],
    ["postgresql://h1,h2/db", true],
    ["postgres://u@h/db?sslmode=require&host=a,b", true]
  ])("detects that %s has several hosts: %s", (address, hasSeveral) => {
    const parsed = DatabaseAddress.parse(address)
    expect(Result.isFailure(parsed) ? parsed.failure : undefined).toBe(
      hasSeveral
        ? "must name one PostgreSQL host: pass an address that leads to the primary, such as that of a proxy"
        : undefined
    )
  })
})
