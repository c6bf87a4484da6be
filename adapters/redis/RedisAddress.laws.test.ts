import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as RedisAddress from "./RedisAddress.ts"

const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.constantFrom("localhost", "::1", "2001:db8::1", "redis-1.internal")
)
const port = fc.integer({ min: 1, max: 65_535 })

const parts = fc.record({
  isTls: fc.boolean(),
  username: fc.string({ unit: "grapheme" }),
  password: fc.string({ unit: "grapheme" }),
  hosts: fc.array(fc.record({ host, port }), { minLength: 1, maxLength: 4 }),
  database: fc.integer({ min: 0, max: 15 })
})

describe("RedisAddress.parse", () => {
  it("parses an address into its parts, for any escaped user name and password", () => {
    fc.assert(
      fc.property(parts, ({ database, hosts, isTls, password, username }) => {
        const login =
          username === "" && password === ""
            ? ""
            : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`
        const hostList = hosts.map(RedisAddress.textOf).join(",")
        const parsed = RedisAddress.parse(`redis${isTls ? "s" : ""}://${login}${hostList}/${database}`)
        if (Result.isFailure(parsed)) throw new Error(parsed.failure)
        const { password: secret, ...rest } = parsed.success
        expect(secret === undefined ? "" : Redacted.value(secret)).toBe(password)
        expect(rest).toEqual({ hosts, isTls, database, username: username === "" ? undefined : username })
      })
    )
  })

  it("uses port 6379 and database 0 by default", () => {
    for (const address of ["redis://cache", "redis://cache/", "redis://cache:6379/0"]) {
      expect(RedisAddress.parse(address)).toMatchObject({
        success: { hosts: [{ host: "cache", port: 6379 }], database: 0, isTls: false }
      })
    }
  })

  it("rejects an invalid address with a reason that does not contain the password", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string().map((rest) => `redis://u:s3cret@${rest}`),
      fc
        .string({ unit: fc.constantFrom("s3cret", "@", ":", "/", ",", "?", "#", "[", "]", "1") })
        .map((rest) => `redis://${rest}`)
    )
    fc.assert(
      fc.property(text, (address) => {
        const parsed = RedisAddress.parse(address)
        if (Result.isFailure(parsed)) expect(parsed.failure).not.toContain("s3cret")
        else for (const { host, port } of parsed.success.hosts) expect([host, port]).not.toContain("")
      })
    )
    for (const address of [
      "redis:",
      "redis://",
      "redis://:p@",
      "redis://a,,b",
      "redis://a:99999",
      "redis://a/x",
      "redis://a b"
    ]) {
      expect(RedisAddress.parse(address)).toMatchObject({
        failure: expect.stringMatching(/^must be 'redis:/)
      })
    }
    expect(RedisAddress.parse("redis://a?tls=true")).toMatchObject({
      failure: expect.stringMatching(/^must have no parameters after '\?'/)
    })
  })
})
