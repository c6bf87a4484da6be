/** Sends requests unchanged over sockets; `fetch` would normalize targets, join headers and reject some methods. */
import * as http from "node:http"
import * as https from "node:https"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as ResponseLimits from "./ResponseLimits.ts"
import { type Header, NoResponse, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** Maximum number of connections for safe requests. */
const MAX_CONNECTIONS = 64

/** Maximum number of interim responses (1xx) before the final one. */
const MAX_INTERIM = 32

/** Node's error codes for the limits of its parser, with a message for each. */
const limits: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", ResponseLimits.headersTooLong],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", "the chunk extensions are longer than 16 KiB"]
])

/** Creates a transport to the origin of `url`; closing the scope closes its connections. */
export const make = (url: URL, timeoutMs = 10_000): Effect.Effect<Transport, never, Scope.Scope> => {
  const { Agent, request: startRequest } = url.protocol === "https:" ? https : http
  const acquireAgent = Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  return Effect.map(acquireAgent, (agent): Transport => {
    const exchange = (request: WireRequest, mayRepeat: boolean): Effect.Effect<WireResponse, NoResponse> =>
      Effect.callback<WireResponse, NoResponse>((resume, signal) => {
        let hasResponded = false
        let hasExceeded = false
        const failWith = (kind: NoResponse["kind"], reason: string, hasBegun = hasResponded): void =>
          resume(Effect.fail(new NoResponse({ kind, reason, hasBegun })))
        /** Fails because of an exceeded limit, once; data that arrives afterwards is ignored. */
        const exceed = (reason: string): void => {
          if (hasExceeded) return
          hasExceeded = true
          failWith("excess", reason, true)
          outgoing.destroy()
        }
        const fail = (error: NodeJS.ErrnoException): void => {
          const limit = limits.get(error.code ?? "")
          if (limit === undefined) failWith("connection", error.message)
          else exceed(limit)
        }
        const { body, headers, isAlone = false, method, target } = request
        const isChunked = headers.some(([name]) => name.toLowerCase() === "transfer-encoding")
        const length: ReadonlyArray<Header> =
          isChunked || (body === undefined && !/^(POST|PUT|PATCH)$/.test(method))
            ? []
            : [["Content-Length", String(body?.length ?? 0)]]
        const fields: ReadonlyArray<Header> = [["Host", url.host], ...length, ...headers]
        const isUpperCase = method === method.toUpperCase()
        const outgoing = startRequest(
          {
            // A server may close an idle connection at any time (RFC 9112 §9.3.1), so only safe requests reuse one.
            agent: isSafe(method) && !isAlone ? agent : false,
            protocol: url.protocol,
            hostname: url.hostname.replace(/^\[|\]$/g, ""),
            port: url.port,
            method,
            path: target,
            maxHeaderSize: ResponseLimits.MAX_HEADERS,
            signal,
            ...(isUpperCase ? { headers: fields.flat() } : {})
          },
          (incoming) => {
            hasResponded = true
            const given = Arr.chunksOf(incoming.rawHeaders, 2).map(
              ([name, value = ""]): Header => [name, value]
            )
            const excess = ResponseLimits.headersExceed(given)
            if (excess !== undefined) return exceed(excess)
            const read = ResponseLimits.boundedBody()
            incoming.on("data", (chunk: Buffer) => {
              if (!hasExceeded && !read.add(chunk)) exceed(ResponseLimits.bodyTooLong)
            })
            incoming.on("error", fail)
            incoming.once("end", () => {
              clearTimeout(timer)
              resume(
                Effect.succeed({
                  status: incoming.statusCode ?? 0,
                  headers: given,
                  body: read.bytes()
                })
              )
            })
          }
        )
        if (!isUpperCase) {
          // Node converts the method in its options to upper case, but sends this one.
          outgoing.method = method
          for (const [name, value] of fields) outgoing.appendHeader(name, value)
        }
        let interim = 0
        outgoing.on("information", () => {
          if (++interim > MAX_INTERIM) exceed(`more than ${MAX_INTERIM} interim responses (1xx)`)
        })
        const timer = setTimeout(() => {
          failWith("timeout", `no complete response within ${timeoutMs} ms`)
          outgoing.destroy()
        }, timeoutMs)
        outgoing.on("error", (error) => {
          const isStale = outgoing.reusedSocket && !hasResponded
          if (isStale && mayRepeat) resume(exchange(request, false))
          else fail(error)
        })
        outgoing.once("close", () => {
          clearTimeout(timer)
          // Node drops the connection without an error when the server switches protocols.
          if (!hasResponded) fail(new Error("the connection was closed without a response"))
        })
        // A chunked body is sent in small chunks, which may split a character of several bytes.
        if (isChunked)
          for (const chunk of Arr.chunksOf(body ?? [], CHUNK_BYTES)) outgoing.write(Uint8Array.from(chunk))
        outgoing.end(isChunked ? undefined : body)
      })
    return (request) =>
      Effect.catchDefect(exchange(request, isSafe(request.method)), (cause) =>
        // Node throws for a method, a target or a header that HTTP does not allow.
        Effect.fail(new NoResponse({ kind: "unsent", reason: String(cause) }))
      )
  })
}

/** Maximum size in bytes of a chunk of a chunked request body. */
const CHUNK_BYTES = 61

/** Whether the method is safe, so that a request may be repeated (RFC 9110 §9.2.1). */
const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS"
