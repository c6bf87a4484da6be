import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { natural64 } from "../domain/Int64.arbitrary.ts"
import { petStatus } from "../domain/NewPet.arbitrary.ts"
import * as Cursor from "./Cursor.ts"

const cursorsWithKey = (key: Uint8Array): Promise<Cursor.Cursor["Service"]> =>
  Effect.runPromise(Effect.provide(Cursor.make(key), Digest.layerWebCrypto))

const cursors = await cursorsWithKey(Uint8Array.from({ length: 32 }, (_, index) => index))

const filter = fc.option(petStatus, { nil: undefined })

const hexadecimal = fc.constantFrom(..."0123456789abcdef")

describe("Cursor.decode", () => {
  it("returns the id of a cursor, which has 32 hexadecimal digits, if the filter is the same", () =>
    fc.assert(
      fc.asyncProperty(natural64, filter, async (id, status) => {
        const text = await Effect.runPromise(cursors.encode(id, status))
        expect(text).toMatch(/^[0-9a-f]{32}$/)
        expect(await Effect.runPromise(cursors.decode(text, status))).toBe(id)
      }),
      { numRuns: 500 }
    ))

  it("rejects a cursor with any other filter", () =>
    fc.assert(
      fc.asyncProperty(natural64, filter, filter, async (id, status, otherStatus) => {
        fc.pre(status !== otherStatus)
        const text = await Effect.runPromise(cursors.encode(id, status))
        expect(await Effect.runPromise(cursors.decode(text, otherStatus))).toBeUndefined()
      })
    ))

  it("rejects a cursor with any other cursor key", () => {
    const cursorKey = fc.uint8Array({ minLength: 32, maxLength: 64 })
    return fc.assert(
      fc.asyncProperty(cursorKey, cursorKey, natural64, filter, async (key, otherKey, id, status) => {
        fc.pre(Buffer.compare(key, otherKey) !== 0)
        const text = await Effect.runPromise((await cursorsWithKey(key)).encode(id, status))
        const otherCursors = await cursorsWithKey(otherKey)
        expect(await Effect.runPromise(otherCursors.decode(text, status))).toBeUndefined()
      })
    )
  })

  it("accepts a cursor of any service that has the same cursor key", () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 64 }), natural64, async (key, id) => {
        const text = await Effect.runPromise((await cursorsWithKey(key)).encode(id, "sold"))
        const otherCursors = await cursorsWithKey(Uint8Array.from(key))
        expect(await Effect.runPromise(otherCursors.decode(text, "sold"))).toBe(id)
      })
    ))

  it("rejects a cursor with any single character changed", () => {
    const character = fc.oneof(
      hexadecimal,
      fc.constantFrom(..."ABCDEFg -+xX\0٣"),
      fc.string({ maxLength: 1 })
    )
    return fc.assert(
      fc.asyncProperty(natural64, filter, fc.nat(31), character, async (id, status, index, changed) => {
        const text = await Effect.runPromise(cursors.encode(id, status))
        fc.pre(text.charAt(index) !== changed)
        const forged = text.slice(0, index) + changed + text.slice(index + 1)
        expect(await Effect.runPromise(cursors.decode(forged, status))).toBeUndefined()
      }),
      { numRuns: 1000 }
    )
  })

  it("rejects a cursor that is truncated, extended or in upper case", () =>
    fc.assert(
      fc.asyncProperty(natural64, filter, fc.nat(31), async (id, status, length) => {
        const text = await Effect.runPromise(cursors.encode(id, status))
        const changed = [text.slice(0, length), text.slice(length + 1), `${text}0`, `${text}\n`, ` ${text}`]
        if (/[a-f]/.test(text)) changed.push(text.toUpperCase())
        for (const forged of changed) {
          expect(await Effect.runPromise(cursors.decode(forged, status))).toBeUndefined()
        }
      })
    ))

  it("rejects text that `encode` did not return", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: hexadecimal, minLength: 32, maxLength: 32 }),
      fc.string({ unit: hexadecimal }),
      fc.constantFrom("", "0".repeat(32), "f".repeat(32), "0".repeat(100_000), "__proto__")
    )
    return fc.assert(
      fc.asyncProperty(text, filter, async (forged, status) => {
        expect(await Effect.runPromise(cursors.decode(forged, status))).toBeUndefined()
      }),
      { numRuns: 500 }
    )
  })
})
