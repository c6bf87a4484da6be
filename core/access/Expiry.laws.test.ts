import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Expiry from "./Expiry.ts"

const LATEST = 8_640_000_000_000_000
const now = 1_800_000_000_000

describe("Expiry.resolve", () => {
  it("returns the time of `atMs`, a time after now for `inMs`, and undefined for `never`", () => {
    expect(Expiry.resolve("never", now)).toEqual(Result.succeed(undefined))
    fc.assert(
      fc.property(fc.nat(LATEST), fc.nat(LATEST - now), (atMs, inMs) => {
        expect(Expiry.resolve({ atMs }, now)).toEqual(Result.succeed(atMs))
        expect(Expiry.resolve({ inMs }, now)).toEqual(Result.succeed(now + inMs))
      })
    )
  })

  it("rejects times that are not valid dates, and values that only untyped programs can pass", () => {
    const values = [
      '{"atMs":-1}',
      '{"atMs":0.5}',
      '{"inMs":-1}',
      '{"inMs":null}',
      "{}",
      "null",
      '"soon"',
      "5"
    ]
    for (const value of [...values.map((text) => JSON.parse(text)), { atMs: LATEST + 1 }, { inMs: LATEST }]) {
      const result = Expiry.resolve(value, now)
      expect(Result.isFailure(result) && result.failure.message, JSON.stringify(value)).toBe(
        'expires must be "never", { inMs } or { atMs } with whole milliseconds, 0 or more'
      )
    }
  })
})

describe("Expiry.resolveFuture", () => {
  it("rejects a time that is not in the future", () => {
    expect(Expiry.resolveFuture("never", now)).toEqual(Result.succeed(undefined))
    expect(Expiry.resolveFuture({ inMs: 1 }, now)).toEqual(Result.succeed(now + 1))
    for (const expiry of [{ inMs: 0 }, { atMs: now }, { atMs: now - 1 }]) {
      const result = Expiry.resolveFuture(expiry, now)
      expect(Result.isFailure(result) && result.failure.message).toBe(
        "expires must be in the future for a new key"
      )
    }
  })
})
