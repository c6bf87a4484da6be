import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { Service } from "../../core/service/Service.ts"
import type { ServiceRequest } from "../../core/service/ServiceRequest.ts"
import type { ServiceResponse } from "../../core/service/ServiceResponse.ts"
import * as FetchHandler from "./FetchHandler.ts"

type Handle = (request: ServiceRequest) => Effect.Effect<ServiceResponse>

const handlerOf = (handle: Handle, options?: FetchHandler.FetchHandlerOptions) =>
  Effect.runSync(
    Effect.provideContext(
      FetchHandler.make(options),
      Context.make(Service, {
        handle,
        admit: handle,
        transportError: () => Effect.die("a Request is always complete"),
        drain: Effect.void,
        isDraining: () => false,
        isBehindProxy: false
      })
    )
  )

const ok = (body = "", headers: ServiceResponse["headers"] = []): ServiceResponse => ({
  status: 200,
  headers,
  body
})

/** Returns a `handle` that responds with the request body, or with the name of the error when it reads the body. */
const echo =
  (maxBytes: number): Handle =>
  (request) =>
    Effect.match(request.body(maxBytes, ""), {
      onSuccess: (bytes) => ok(new TextDecoder().decode(bytes)),
      onFailure: ({ _tag }) => ({ status: 400, headers: [], body: _tag })
    })

const post = (body: ReadableStream<Uint8Array>, init: RequestInit = {}): Request =>
  new Request("http://store.test/v1/pets", { method: "POST", body, duplex: "half", ...init })

/** Creates a stream of `chunks` that fails with `error` if given; `state` records pulls and the cancellation. */
const streamOf = (chunks: Iterable<string>, error?: Error) => {
  const state = { pulled: 0, isCanceled: false }
  const iterator = chunks[Symbol.iterator]()
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const next = iterator.next()
        if (next.done !== true) {
          state.pulled++
          controller.enqueue(new TextEncoder().encode(next.value))
        } else if (error === undefined) controller.close()
        else controller.error(error)
      },
      cancel: () => {
        state.isCanceled = true
      }
    },
    { highWaterMark: 0 }
  )
  return { stream, state }
}

function* forever(chunk: string): Generator<string> {
  while (true) yield chunk
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "not rejected",
    (reason: unknown) => reason
  )

describe("a request", () => {
  it("reaches the service with unchanged method, target and headers", async () => {
    const handler = handlerOf(
      (request) =>
        Effect.succeed(
          ok(JSON.stringify([request.method, request.target, request.header("x-a"), request.header("x-b")]))
        ),
      {}
    )
    const request = new Request("http://store.test/v1/pets?limit=1&x=%zz", { method: "PROPFIND" })
    request.headers.append("X-A", "1")
    request.headers.append("x-a", "2")
    expect(await (await handler(request)).json()).toEqual([
      "PROPFIND",
      "http://store.test/v1/pets?limit=1&x=%zz",
      "1, 2",
      null
    ])
  })

  it("reaches the service without the fragment of its URL", async () => {
    const handler = handlerOf((request) => Effect.succeed(ok(request.target)))
    const response = await handler(new Request("http://store.test/v1/pets?limit=1#fragment"))
    expect(await response.text()).toBe("http://store.test/v1/pets?limit=1")
  })

  it("has the address that the `clientAddress` option returns, or undefined without the option", async () => {
    const handle: Handle = (request) => Effect.succeed(ok(String(request.clientAddress)))
    const options = { clientAddress: (request: Request) => request.headers.get("x-real-ip") ?? undefined }
    const request = () => new Request("http://store.test/", { headers: { "X-Real-IP": "203.0.113.9" } })
    expect(await (await handlerOf(handle, options)(request())).text()).toBe("203.0.113.9")
    expect(await (await handlerOf(handle)(request())).text()).toBe("undefined")
  })
})

describe("a body", () => {
  it("is read completely if it is within the limit, and fails with BodyTooLarge otherwise", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "binary-ascii", maxLength: 6 }), { maxLength: 6 }),
        fc.integer({ min: -2, max: 2 }),
        async (chunks, slack) => {
          const whole = chunks.join("")
          const limit = Math.max(whole.length + slack, 0)
          const response = await handlerOf(echo(limit))(post(streamOf(chunks).stream))
          expect(await response.text()).toBe(whole.length <= limit ? whole : "BodyTooLarge")
        }
      ),
      { numRuns: 300 }
    )
  })

  it.each([{}, { "Content-Length": "5" }])(
    "is canceled as soon as it exceeds the limit, even if it never ends, with the headers %j",
    async (headers) => {
      const { state, stream } = streamOf(forever("0123456789"))
      const response = await handlerOf(echo(25))(post(stream, { headers }))
      expect(await response.text()).toBe("BodyTooLarge")
      expect(state).toEqual({ pulled: 3, isCanceled: true })
    }
  )

  it("does not delay the response if its source never acknowledges the cancellation", async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => new Promise(() => undefined)
    })
    expect(await (await handlerOf(echo(5))(post(stream))).text()).toBe("BodyTooLarge")
  })

  describe.each([
    { title: "if the host has replaced the request's arrayBuffer", isReplaced: true, options: {} },
    { title: "with trustContentLength", isReplaced: false, options: { trustContentLength: true } }
  ])("$title", ({ isReplaced, options }) => {
    afterEach(() => {
      vi.restoreAllMocks()
    })
    const hosted = (headers: Record<string, string>, text: string) => {
      const request = post(streamOf([text]).stream, { headers })
      if (!isReplaced) return { request, arrayBuffer: vi.spyOn(Request.prototype, "arrayBuffer") }
      const arrayBuffer = vi.fn(() => Promise.resolve(new TextEncoder().encode(text).buffer))
      return { request: Object.assign(request, { arrayBuffer }), arrayBuffer }
    }
    it.each([
      [
        "is read with arrayBuffer if Content-Length is small enough",
        { "Content-Length": "5" },
        "12345",
        "12345",
        1
      ],
      [
        "fails with BodyTooLarge if it exceeds both its Content-Length and the limit",
        { "Content-Length": "5" },
        "123456789",
        "BodyTooLarge",
        1
      ],
      [
        "is read in chunks if Content-Length exceeds the limit",
        { "Content-Length": "9" },
        "123456789",
        "BodyTooLarge",
        0
      ],
      ["is read in chunks without a Content-Length", {}, "12345", "12345", 0],
      ["is read in chunks if Content-Length is not a number", { "Content-Length": "" }, "12345", "12345", 0],
      [
        "is read in chunks if it is compressed",
        { "Content-Length": "5", "Content-Encoding": "gzip" },
        "12",
        "12",
        0
      ]
    ])("%s", async (_, headers, text, expected, calls) => {
      const { arrayBuffer, request } = hosted({ ...headers }, text)
      expect(await (await handlerOf(echo(8), options)(request)).text()).toBe(expected)
      expect(arrayBuffer).toHaveBeenCalledTimes(calls)
    })
  })

  it("is read in chunks by default, even if its Content-Length is small enough", async () => {
    const arrayBuffer = vi.spyOn(Request.prototype, "arrayBuffer")
    onTestFinished(() => arrayBuffer.mockRestore())
    const request = post(streamOf(["12345"]).stream, { headers: { "Content-Length": "5" } })
    expect(await (await handlerOf(echo(8))(request)).text()).toBe("12345")
    expect(arrayBuffer).not.toHaveBeenCalled()
  })

  it("is not accessed as a stream if it is read in one call or was read before", async () => {
    for (const isRead of [false, true]) {
      const request = new Request("http://store.test/", { method: "POST", body: "12345" })
      request.headers.set("Content-Length", "5")
      if (isRead) await request.text()
      let streams = 0
      const get = (): unknown => {
        streams++
        return Reflect.get(Request.prototype, "body", request)
      }
      Object.defineProperty(request, "body", { get })
      const response = await handlerOf(echo(8), { trustContentLength: true })(request)
      expect(await response.text()).toBe(isRead ? "BodyConsumed" : "12345")
      expect(streams).toBe(0)
    }
  })

  it("makes the handler reject with the error of a stream that fails before its first chunk, although the handler has locked it", async () => {
    const broken = new Error("connection reset")
    const request = post(streamOf([], broken).stream)
    // As on a host whose requests count as used only after their first chunk.
    Object.defineProperty(request, "bodyUsed", { value: false })
    expect(await rejection(handlerOf(echo(8))(request))).toBe(broken)
  })

  it("gets no stream when its read in one call fails after the host has used the body", async () => {
    const broken = new Error("connection reset")
    const request = new Request("http://store.test/", { method: "POST", body: "12345" })
    request.headers.set("Content-Length", "5")
    Object.defineProperty(request, "arrayBuffer", { value: () => Promise.reject(broken) })
    let isUsed = false
    let streams = 0
    Object.defineProperty(request, "bodyUsed", {
      get: () => {
        const before = isUsed
        isUsed = true
        return before
      }
    })
    Object.defineProperty(request, "body", {
      get: () => {
        streams++
        return null
      }
    })
    expect(await rejection(handlerOf(echo(8), { trustContentLength: true })(request))).toBe(broken)
    expect(streams).toBe(0)
  })

  it("fails with BodyConsumed if other code has locked it, even if the host has replaced arrayBuffer", async () => {
    for (const isHosted of [false, true]) {
      const request = post(streamOf(["12345"]).stream, { headers: { "Content-Length": "5" } })
      if (isHosted) {
        Object.assign(request, { arrayBuffer: () => Request.prototype.arrayBuffer.call(request) })
      }
      request.body?.getReader()
      expect(await (await handlerOf(echo(8))(request)).text()).toBe("BodyConsumed")
    }
  })

  it("is empty if the request has no body", async () => {
    const request = new Request("http://store.test/", { method: "POST" })
    expect(await (await handlerOf(echo(5))(request)).text()).toBe("")
  })

  it("is neither read nor canceled if the service does not read it", async () => {
    const { state, stream } = streamOf(forever("x"))
    await handlerOf(() => Effect.succeed(ok()))(post(stream))
    expect(state).toEqual({ pulled: 0, isCanceled: false })
  })

  it("makes the handler reject with the error of its stream, and interrupts the service", async () => {
    const broken = new Error("connection reset")
    let outcome: unknown = "interrupted"
    const handle: Handle = (request) =>
      Effect.catchCause(
        Effect.map(request.body(100, ""), () => ok()),
        (cause) => {
          outcome = cause
          return Effect.succeed(ok())
        }
      )
    const reason = await rejection(handlerOf(handle)(post(streamOf(["{"], broken).stream)))
    expect(reason).toBe(broken)
    expect(outcome).toBe("interrupted")
  })
})

describe("an aborted request", () => {
  it("interrupts the service, rejects with the signal's reason and cancels the body", async () => {
    const controller = new AbortController()
    let reach: () => void = () => undefined
    const reached = new Promise<void>((resolve) => {
      reach = resolve
    })
    let isInterrupted = false
    let isCanceled = false
    const handle: Handle = (request) =>
      Effect.onInterrupt(
        Effect.matchEffect(request.body(100, ""), {
          onSuccess: () => Effect.never,
          onFailure: () => Effect.never
        }),
        () =>
          Effect.sync(() => {
            isInterrupted = true
          })
      )
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: () => {
          reach()
          return new Promise(() => undefined)
        },
        cancel: () => {
          isCanceled = true
        }
      },
      { highWaterMark: 0 }
    )
    const outcome = rejection(handlerOf(handle)(post(stream, { signal: controller.signal })))
    await reached
    controller.abort()
    expect(await outcome).toMatchObject({ name: "AbortError" })
    expect({ isInterrupted, isCanceled }).toEqual({ isInterrupted: true, isCanceled: true })
  })

  it("never reaches the service when it is aborted before the call", async () => {
    let isReached = false
    const handle: Handle = () =>
      Effect.sync(() => {
        isReached = true
        return ok()
      })
    const reason = new Error("gone")
    const request = new Request("http://store.test/", { signal: AbortSignal.abort(reason) })
    expect(await rejection(handlerOf(handle)(request))).toBe(reason)
    expect(isReached).toBe(false)
  })

  it("does not affect its response when it is aborted afterwards", async () => {
    const controller = new AbortController()
    const request = new Request("http://store.test/", { signal: controller.signal })
    const response = await handlerOf(() => Effect.succeed(ok("{}")))(request)
    controller.abort()
    expect(await response.text()).toBe("{}")
  })
})

describe("a response", () => {
  it("has the Content-Length of the body, but no body, if the method is HEAD", async () => {
    const handler = handlerOf(() => Effect.succeed(ok('["é"]', ["X-A", "1"])))
    const response = await handler(new Request("http://store.test/", { method: "HEAD" }))
    expect(response.body).toBeNull()
    expect(response.headers.get("Content-Length")).toBe("6")
    expect(response.headers.get("X-A")).toBe("1")
  })

  it("has a null body and no Content-Type if the service returns an empty body", async () => {
    const handler = handlerOf(() => Effect.succeed({ status: 204, headers: ["Allow", "GET"], body: "" }))
    const response = await handler(new Request("http://store.test/", { method: "OPTIONS" }))
    expect([response.status, response.body, response.headers.get("Allow")]).toEqual([204, null, "GET"])
    expect(response.headers.has("Content-Type")).toBe(false)
  })

  it("keeps all values of a repeated header", async () => {
    const handler = handlerOf(() => Effect.succeed(ok("", ["Link", "<a>", "Link", "<b>"])))
    expect((await handler(new Request("http://store.test/"))).headers.get("Link")).toBe("<a>, <b>")
  })
})
