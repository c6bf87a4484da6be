import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestClock from "./TestClock.ts"

const clock = TestClock.make()
const scope = Scope.makeUnsafe()
let origin = ""

beforeAll(async () => {
  const { address, port } = await Effect.runPromise(Scope.provide(TestClock.serve(clock, 0), scope))
  expect(address).toBe("127.0.0.1")
  origin = `http://127.0.0.1:${port}`
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const advance = (body: string | ReadableStream<Uint8Array>): Promise<Response> =>
  fetch(`${origin}/clock/advance`, { method: "POST", body, duplex: "half" })

const nowOf = async (response: Response): Promise<number> => {
  const { now }: { readonly now: number } = JSON.parse(await response.text())
  return now
}

describe("the test clock", () => {
  it("equals the system clock until it is advanced", async () => {
    const before = Date.now()
    const now = await nowOf(await fetch(`${origin}/clock`))
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it("returns the system time plus all advances from GET /clock and from POST /clock/advance", async () => {
    let offset = clock.now() - Date.now()
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 10 * 366 * 86_400_000 }), async (ms) => {
        offset += ms
        const before = Date.now() + offset
        const responses = [
          await nowOf(await advance(JSON.stringify({ ms }))),
          await nowOf(await fetch(`${origin}/clock`))
        ]
        const after = Date.now() + offset
        for (const now of [...responses, clock.now()]) {
          // `offset` may be 1 ms too small, because it was computed from two clock reads.
          expect(now).toBeGreaterThanOrEqual(before - 1)
        }
        for (const now of responses) expect(now).toBeLessThanOrEqual(after + 1)
      }),
      { numRuns: 30 }
    )
  })

  it.each([
    "",
    "{",
    "null",
    "5",
    "[]",
    "{}",
    '{"ms":"5"}',
    '{"ms":-1}',
    '{"ms":0.5}',
    '{"ms":null}',
    '{"ms":1e999}',
    '{"ms":9007199254740991}',
    '{"ms":9007199254740993}',
    `{"ms":5,"x":"${"a".repeat(2_000)}"}`
  ])("returns 400 for the body %j and does not advance the clock", async (body) => {
    const offset = clock.now() - Date.now()
    const response = await advance(body)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('expected {\\"ms\\":n}')
    expect(clock.now() - Date.now()).toBeLessThanOrEqual(offset + 1)
  })

  it("rejects a body without Content-Length", async () => {
    expect((await advance(new Blob(['{"ms":1}']).stream())).status).toBe(400)
  })

  it.each([
    ["POST", "/clock"],
    ["GET", "/clock/advance"],
    ["GET", "/"],
    ["DELETE", "/clock"]
  ])("returns 404 for %s %s", async (method, path) => {
    expect((await fetch(origin + path, { method })).status).toBe(404)
  })
})
