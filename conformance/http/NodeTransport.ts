/** Requests over sockets, as they are: `fetch` would mend targets, join headers and refuse some methods. */
import * as http from "node:http"
import * as https from "node:https"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Header, NoAnswer, type Transport, type WireRequest, type WireResponse } from "./Wire.ts"

/** Largest answer that is read, in bytes: more is no page of 100 animals. */
const MAX_ANSWER = 8_388_608

export interface NodeTransportOptions {
  /** Ms within which an answer must be complete; 10 000 by default. */
  readonly timeoutMs?: number
}

/** A transport to the origin of `url`; its connections are closed with the scope. */
export const make = (
  url: URL,
  { timeoutMs = 10_000 }: NodeTransportOptions = {}
): Effect.Effect<Transport, never, Scope.Scope> => {
  const { Agent, request: open } = url.protocol === "https:" ? https : http
  const agents = Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 64 })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  return Effect.map(agents, (agent): Transport => {
    const exchange = (request: WireRequest, mayRepeat: boolean): Effect.Effect<WireResponse, NoAnswer> =>
      Effect.callback<WireResponse, NoAnswer>((resume, signal) => {
        const fail = (error: Error): void =>
          resume(Effect.fail(new NoAnswer({ kind: "connection", reason: error.message })))
        const { body, headers, method, target } = request
        let isAnswered = false
        const length: ReadonlyArray<Header> =
          body === undefined && !/^(POST|PUT|PATCH)$/.test(method)
            ? []
            : [["Content-Length", String(body?.length ?? 0)]]
        const sent = open(
          {
            // A server may close a kept connection at any time (RFC 9112 §9.3.1): only what can be repeated goes over one.
            agent: isSafe(method) ? agent : false,
            protocol: url.protocol,
            hostname: url.hostname.replace(/^\[|\]$/g, ""),
            port: url.port,
            method,
            path: target,
            signal,
            headers: [["Host", url.host] as Header, ...length, ...headers].flat()
          },
          (received) => {
            isAnswered = true
            const chunks: Array<Buffer> = []
            let size = 0
            received.on("data", (chunk: Buffer) => {
              size += chunk.length
              if (size > MAX_ANSWER) received.destroy(new Error(`an answer of more than ${MAX_ANSWER} bytes`))
              else chunks.push(chunk)
            })
            received.on("error", fail)
            received.once("end", () => {
              clearTimeout(timer)
              resume(
                Effect.succeed({
                  status: received.statusCode ?? 0,
                  headers: pairs(received.rawHeaders),
                  body: new Uint8Array(Buffer.concat(chunks))
                })
              )
            })
          }
        )
        const timer = setTimeout(() => {
          resume(
            Effect.fail(
              new NoAnswer({ kind: "timeout", reason: `no complete answer within ${timeoutMs} ms` })
            )
          )
          sent.destroy()
        }, timeoutMs)
        sent.on("error", (error) => {
          const isStale = sent.reusedSocket && !isAnswered
          if (isStale && mayRepeat) resume(exchange(request, false))
          else fail(error)
        })
        sent.once("close", () => {
          clearTimeout(timer)
          // Node drops the connection without an error when it is asked to switch protocols.
          if (!isAnswered) fail(new Error("the connection was closed without an answer"))
        })
        sent.end(body)
      })
    return (request) => exchange(request, isSafe(request.method))
  })
}

/** Whether a request may be sent again without doing anything twice (RFC 9110 §9.2.1). */
const isSafe = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS"

const pairs = (raw: ReadonlyArray<string>): ReadonlyArray<Header> =>
  Array.from(
    { length: raw.length / 2 },
    (_, index): Header => [raw[2 * index] ?? "", raw[2 * index + 1] ?? ""]
  )
