import * as Effect from "effect/Effect"
import { describe, expect, it, vi } from "vitest"
import * as FetchTransport from "./FetchTransport.ts"
import { bytes, text, type WireRequest } from "./Wire.ts"

const run = Effect.runPromise

const plain: WireRequest = { method: "GET", target: "/v1/pets?limit=%31", headers: [], body: undefined }

describe("FetchTransport", () => {
  it("passes method, target, headers and body to the handler, and returns the response", async () => {
    let seen: Request | undefined
    let body = ""
    const transport = FetchTransport.make(async (request) => {
      seen = request
      body = await request.text()
      return new Response("ü", { status: 201, headers: { "X-One": "1" } })
    })
    const response = await run(
      transport({
        method: "POST",
        target: "/v1/pets?q=%zz",
        headers: [
          ["Authorization", "Bearer k"],
          ["X-Two", "a"],
          ["X-Two", "b"]
        ],
        body: bytes("{}")
      })
    )
    expect(seen?.method).toBe("POST")
    expect(seen?.url).toBe("http://subject.test/v1/pets?q=%zz")
    expect(seen?.headers.get("authorization")).toBe("Bearer k")
    expect(seen?.headers.get("x-two")).toBe("a, b")
    expect(body).toBe("{}")
    expect(response.status).toBe(201)
    expect(response.headers).toContainEqual(["x-one", "1"])
    expect(text(response.body)).toBe("ü")
  })

  it("sends requests to the given origin", async () => {
    let url = ""
    const transport = FetchTransport.make((request) => {
      url = request.url
      return new Response(null, { status: 204 })
    }, "https://pets.example")
    expect((await run(transport(plain))).body).toHaveLength(0)
    expect(url).toBe("https://pets.example/v1/pets?limit=%31")
  })

  it("fails with NoResponse when the handler throws, rejects or returns undefined, or the body fails", async () => {
    const handlers: ReadonlyArray<FetchTransport.FetchHandler> = [
      () => {
        throw new Error("oops")
      },
      () => Promise.reject(new Error("oops")),
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              controller.error(new Error("oops"))
            }
          })
        )
    ]
    for (const handler of handlers) {
      expect(await run(Effect.flip(FetchTransport.make(handler)(plain)))).toMatchObject({
        _tag: "NoResponse",
        kind: "connection",
        reason: "oops"
      })
    }
    // A handler in plain JavaScript may return and reject with any value.
    const withoutResponse = FetchTransport.make((() => undefined) as unknown as FetchTransport.FetchHandler)
    expect((await run(Effect.flip(withoutResponse(plain))))._tag).toBe("NoResponse")
    const rejecting = FetchTransport.make(() => Promise.reject("just text"))
    expect((await run(Effect.flip(rejecting(plain)))).reason).toBe("just text")
  })

  it("does not send a request that `Request` rejects or changes", async () => {
    const transport = FetchTransport.make(() => new Response())
    for (const request of [
      { ...plain, method: "TRACE" },
      { ...plain, method: "CONNECT" },
      { ...plain, body: bytes("x") },
      { ...plain, headers: [["X A", "a"]] as const },
      { ...plain, method: "get" },
      { ...plain, target: "/v1/pets/../pets" },
      { ...plain, target: "/v1/pets?limit=5#" }
    ]) {
      expect((await run(Effect.flip(transport(request)))).kind).toBe("unsent")
    }
  })

  it("cancels a body of which no part arrives any more when its time is over", async () => {
    let isCanceled = false
    const stalling = new ReadableStream({
      start: (controller) => controller.enqueue(bytes("x")),
      pull: () => new Promise(() => undefined),
      cancel: () => {
        isCanceled = true
      }
    })
    const transport = FetchTransport.make(() => new Response(stalling), "http://subject.test", 20)
    expect(await run(Effect.flip(transport(plain)))).toMatchObject({ kind: "timeout", hasBegun: true })
    await vi.waitFor(() => expect(isCanceled).toBe(true))
  })

  it("aborts the signal of the handler's request when the call is interrupted", async () => {
    let isAborted = false
    const transport = FetchTransport.make(
      (request) =>
        new Promise((_resolve, reject) => {
          request.signal.addEventListener("abort", () => {
            isAborted = true
            reject(new Error("aborted"))
          })
        })
    )
    await run(Effect.ignore(Effect.timeout(transport(plain), 20)))
    expect(isAborted).toBe(true)
  })
})
