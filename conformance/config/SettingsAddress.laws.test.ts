import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { errorMessage, resolve, resolveOrThrow } from "./Settings.fixture.ts"

describe("an address in the settings", () => {
  it.each([
    ["http://127.0.0.1:3000/v1/", "http://127.0.0.1:3000/v1", "/v1"],
    ["http://127.0.0.1:3000/v1///", "http://127.0.0.1:3000/v1", "/v1"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000/", "/"],
    ["http://127.0.0.1:3000/", "http://127.0.0.1:3000/", "/"],
    ["HTTP://LOCALHOST/api/v1", "http://localhost/api/v1", "/api/v1"],
    ["https://[::1]:8443/v1", "https://[::1]:8443/v1", "/v1"]
  ])("is normalized: %s becomes %s", (given, href, pathname) => {
    const { url } = resolveOrThrow({ url: given })
    expect([url.href, url.pathname]).toEqual([href, pathname])
  })

  it.each([
    "",
    "junk",
    "localhost:3000/v1",
    "ftp://localhost/v1",
    "file:///etc/passwd",
    "//localhost/v1",
    "http://"
  ])("is rejected if it is not a valid http or https URL: %j", (url) => {
    expect(errorMessage({ url })).toBe("--url: must be an address that begins with http:// or https://")
    expect(errorMessage({ clock: url })).toBe(
      "--clock: must be an address that begins with http:// or https://"
    )
  })

  it.each([
    "http://localhost/v1?x=1",
    "http://localhost/v1#x",
    "http://user@localhost/v1",
    "http://user:secret@localhost/v1",
    "http://:secret@localhost/v1",
    "http://127.0.0.1@evil.example/v1"
  ])("is rejected if it has a query, a fragment or credentials: %s", (url) => {
    expect(errorMessage({ url })).toBe("--url: must be an address without a query, a fragment or credentials")
    expect(errorMessage({ clock: url })).toBe(
      "--clock: must be an address without a query, a fragment or credentials"
    )
  })

  // The URL parser normalizes other forms of an IP address, such as `0x7f.1`, so they are accepted.
  it.each([
    "localhost",
    "LocalHost",
    "a.localhost",
    "127.0.0.1",
    "127.255.0.3",
    "127.1",
    "0x7f.1",
    "0177.0.0.1",
    "2130706433",
    "[::1]",
    "[0:0:0:0:0:0:0:1]"
  ])("needs no confirmation if the host is this machine: %s", (host) => {
    expect(Result.isSuccess(resolve({ url: `http://${host}:3000/v1` }))).toBe(true)
    expect(Result.isSuccess(resolve({ clock: `http://${host}:3000/clock` }))).toBe(true)
  })

  it.each([
    "example.com",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "localhost.evil.example",
    "evil-localhost",
    "notlocalhost",
    "126.0.0.1",
    "128.0.0.1",
    "0.0.0.0",
    "192.168.0.1",
    "0x80.1",
    "[::2]",
    "[::ffff:192.0.2.1]",
    "[::]"
  ])("needs confirmation if the host may be another machine: %s", (host) => {
    const url = `http://${host}:3000/v1`
    expect(errorMessage({ url })).toMatch(
      /^--url: .* is not this machine\. .* add --i-own-this-server if it is yours$/
    )
    expect(errorMessage({ clock: url })).toMatch(/^--clock: .* is not this machine\./)
    expect(Result.isSuccess(resolve({ url, iOwnThisServer: true }))).toBe(true)
    expect(Result.isSuccess(resolve({ url, clock: url }, { iOwnThisServer: true }))).toBe(true)
    expect(Result.isSuccess(resolve({ url, iOwnThisServer: false }, {}))).toBe(false)
  })

  it("is accepted only if it is on this machine; otherwise the message begins with --url, for any text", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.ipV4Extended(), fc.ipV6()),
        (url) => {
          for (const given of [url, `http://${url}/v1`]) {
            const result = resolve({ url: given })
            if (Result.isFailure(result)) expect(result.failure.message).toMatch(/^--url: /)
            else expect(result.success.url.hostname).toMatch(/^(.*localhost|127\..*|\[::1\])$/)
          }
        }
      )
    )
  })
})
