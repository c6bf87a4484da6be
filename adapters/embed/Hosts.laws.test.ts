import * as http from "node:http"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type { InvalidOption } from "../../core/options/InvalidOption.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import * as Service from "../../core/service/Service.ts"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
import { BodyTooLarge, type ServiceRequest } from "../../core/service/ServiceRequest.ts"
import { pairs } from "../../core/service/ServiceResponse.ts"
import { type StaticFile, StaticFiles } from "../../core/service/StaticFiles.ts"
import * as FetchHandler from "../http-fetch/FetchHandler.ts"
import * as NodeServer from "../http-node/NodeServer.ts"
import * as Memory from "../memory/Memory.ts"
import * as ReferencePage from "../pages/ReferencePage.ts"
import {
  Body,
  configuration,
  conversation,
  MAX_BODY_BYTES,
  NEXT_PAGE,
  type WireRequest
} from "./Hosts.arbitrary.ts"
import * as NodeDigest from "./NodeDigest.ts"

interface Observed {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** The Content-Length, if the host sent one. */
  readonly contentLength: string | undefined
}

type Sender = (request: WireRequest) => Promise<Observed>

const START = Date.UTC(2026, 11, 1)
const CLIENT = "127.0.0.1"

/** Creates a clock that stands still until `advance` is called, for wall-clock and monotonic time. */
const frozenClock = (machine: Clock.Clock) => {
  let now = START
  const nanos = (): bigint => BigInt(now) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => machine.sleep(duration)
  }
  return {
    clock,
    advance: (ms: number): void => {
      now += ms
    }
  }
}

const crypto = Layer.merge(NodeDigest.layer, SecureRandom.layerWebCrypto)

/** Issues the keys that all stores receive; `KEY_TIGHT` quickly reaches its limits and its ban. */
const issueKeys = Effect.gen(function* () {
  const pro = yield* KeyLifecycle.issue({ plan: "Pro" })
  const tight = yield* KeyLifecycle.issue({ plan: "Enterprise", limits: { perMinute: 2, perDay: 4 } })
  const revoked = yield* KeyLifecycle.issue({ plan: "Free" })
  yield* KeyLifecycle.revoke(revoked.key.id)
  const secrets = {
    KEY_PRO: Redacted.value(pro.secret),
    KEY_TIGHT: Redacted.value(tight.secret),
    KEY_REVOKED: Redacted.value(revoked.secret)
  }
  return { secrets, records: yield* KeyLifecycle.list }
}).pipe(Effect.provide(Layer.merge(Memory.layer, crypto)))

interface Setup {
  readonly clock: Clock.Clock
  readonly files: ReadonlyArray<StaticFile>
  readonly options: Partial<ServiceOptions>
  readonly records: ReadonlyArray<ApiKey>
}

const serviceLayer = ({ clock, files, options, records }: Setup) => {
  const keys = Layer.effectDiscard(
    Effect.flatMap(ApiKeyStore, (store) => Effect.forEach(records, (record) => store.insert(record)))
  )
  return Layer.mergeAll(
    Service.layer({
      ...options,
      maxBodyBytes: MAX_BODY_BYTES,
      trustedProxyHops: 1,
      anonymousPlan: { perMinute: 3, perDay: 5 },
      cursorKey: new Uint8Array(32)
    }),
    keys
  ).pipe(
    // Fresh, because Effect shares layers by reference and the stores must be separate.
    Layer.provide(Layer.fresh(Layer.merge(Memory.layer, crypto))),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(Clock.Clock, clock),
        Layer.succeed(StaticFiles, files),
        Layer.succeed(BanPolicy.BanPolicy, { ...BanPolicy.standard, strikes: 2, strikeIntervalMs: 1 }),
        Logger.layer([])
      )
    )
  )
}

// Headers that the connection sets, not the service; they are not compared.
const framing = new Set(["connection", "keep-alive", "content-length", "transfer-encoding"])

const observe = (
  status: number,
  fields: Iterable<readonly [name: string, value: string]>,
  body: string
): Observed => {
  const all = new Map<string, string>()
  for (const [name, value] of fields) {
    const key = name.toLowerCase()
    const before = all.get(key)
    all.set(key, before === undefined ? value : `${before}, ${value}`)
  }
  const contentLength = all.get("content-length")
  // A request id is a random part and a counter; only the counters are comparable.
  all.set("x-request-id", (all.get("x-request-id") ?? "").replace(/^[0-9a-f]{16}-/, "random-"))
  return {
    status,
    headers: Object.fromEntries([...all].filter(([name]) => !framing.has(name))),
    body,
    contentLength
  }
}

class DirectRequest implements ServiceRequest {
  readonly method: string
  readonly target: string
  readonly clientAddress = CLIENT
  readonly #request: WireRequest

  constructor(request: WireRequest) {
    this.method = request.method
    this.target = request.target
    this.#request = request
  }

  header(name: string): string | undefined {
    const values = this.#request.headers
      .filter(([candidate]) => candidate.toLowerCase() === name)
      .map(([, value]) => value.replace(/^[ \t]+|[ \t]+$/g, ""))
    return values.length === 0 ? undefined : values.join(", ")
  }

  body(maxBytes: number): Effect.Effect<Uint8Array, BodyTooLarge> {
    const bytes = this.#request.body?.bytes ?? new Uint8Array()
    return bytes.length > maxBytes ? Effect.fail(new BodyTooLarge()) : Effect.succeed(bytes)
  }
}

const direct = Effect.gen(function* () {
  const service = yield* Service.Service
  const run = Effect.runPromiseWith(yield* Effect.context())
  const send: Sender = async (request) => {
    const response = await run(service.handle(new DirectRequest(request)))
    const { headers, status } = response
    const bytes = response.bytes ?? new TextEncoder().encode(response.body)
    const { length } = bytes
    const body = new TextDecoder().decode(bytes)
    return {
      ...observe(status, pairs(headers), request.method === "HEAD" ? "" : body),
      contentLength: status === 204 ? undefined : String(length)
    }
  }
  return send
})

/** Converts a request to a `Request`, or returns `undefined` if `Request` cannot represent it. */
const fetchRequestOf = ({ body, chunked, headers, method, target }: WireRequest): Request | undefined => {
  if (method === "TRACE") return undefined // forbidden by the Fetch standard
  const url = target.startsWith("/") ? `http://store.test${target}` : target
  // `Request` normalizes such URLs: it resolves dots, replaces backslashes and encodes some characters.
  if (!URL.canParse(url) || new URL(url).href !== url) return undefined
  // `Request` rejects a body for these methods; the service never reads it.
  const sent = method === "GET" || method === "HEAD" ? undefined : body?.bytes
  const stream = sent === undefined || !chunked ? undefined : new Blob([Uint8Array.from(sent)]).stream()
  return new Request(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    ...(sent === undefined ? undefined : { body: stream ?? Uint8Array.from(sent), duplex: "half" })
  })
}

const overFetch = Effect.gen(function* () {
  const handler = yield* FetchHandler.make({ clientAddress: () => CLIENT })
  const bypass = yield* direct
  const send: Sender = async (request) => {
    const fetchRequest = fetchRequestOf(request)
    // Handled directly, so that this store counts and creates the same as the other stores.
    if (fetchRequest === undefined) return bypass(request)
    const response = await handler(fetchRequest)
    const body = await response.text()
    return observe(response.status, response.headers, body)
  }
  return send
})

/** Starts a server and sends requests with `node:http`, which changes no method, target or header, unlike `fetch`. */
const overSocket = Effect.gen(function* () {
  const { port } = yield* NodeServer.make({ port: 0, host: CLIENT })
  const send: Sender = ({ body: content, chunked, headers, method, target }) =>
    new Promise((resolve, reject) => {
      const body = content?.bytes
      const fields = ["Host", "store.test", "Connection", "close", ...headers.flat()]
      if (body !== undefined && chunked) fields.push("Transfer-Encoding", "chunked")
      else if (body !== undefined) fields.push("Content-Length", String(body.length))
      const request = http.request({
        host: CLIENT,
        port,
        method,
        path: target,
        headers: fields,
        agent: false
      })
      request.once("response", (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.once("error", reject)
        response.once("end", () => {
          const { rawHeaders, statusCode = 0 } = response
          const pairs: Array<readonly [string, string]> = []
          for (let index = 0; index < rawHeaders.length; index += 2) {
            pairs.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""])
          }
          resolve(observe(statusCode, pairs, Buffer.concat(chunks).toString("utf8")))
        })
      })
      request.on("error", reject)
      if (body !== undefined && chunked) {
        for (let offset = 0; offset < body.length; offset += 50_000) {
          request.write(body.subarray(offset, offset + 50_000))
        }
        request.end()
      } else {
        request.end(body)
      }
    })
  return send
})

const withSecrets = (request: WireRequest, secrets: { readonly [name: string]: string }): WireRequest => ({
  ...request,
  headers: request.headers.map(([name, value]) => [
    name,
    value.replaceAll(/KEY_[A-Z]+/g, (placeholder) => secrets[placeholder] ?? placeholder)
  ])
})

const nextPage = ({ headers }: Observed): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(headers.link ?? "")?.[1]

const requestOf = (
  method: string,
  target: string,
  headers: WireRequest["headers"] = [],
  body?: string
): WireRequest => ({
  wait: 0,
  method,
  target,
  headers: [["Authorization", "Bearer KEY_PRO"], ...headers],
  body: body === undefined ? undefined : new Body(new TextEncoder().encode(body)),
  chunked: false
})

const creationOf = (body: string, headers: WireRequest["headers"] = []): WireRequest =>
  requestOf("POST", "/v1/pets", [["Content-Type", "application/json"], ...headers], body)

/** Four creations: the response to the second one replays the first response; the service rejects the last two. */
const repeated: ReadonlyArray<WireRequest> = ['"a"', "a", '"a"', '"'].map((key, index) =>
  creationOf(`{"name":"${index < 2 ? "Rex" : "Tom"}","categoryId":1}`, [["Idempotency-Key", key]])
)

/** Requests that together get every status, because random requests do not always get the rare ones. */
const everyStatus: ReadonlyArray<WireRequest> = [
  ...repeated,
  requestOf("GET", "/v1/pets"),
  requestOf("OPTIONS", "/v1/pets"),
  requestOf("GET", "/docs/"),
  { ...requestOf("GET", "/v1/pets"), headers: [] },
  requestOf("GET", "/v1/cats"),
  requestOf("PUT", "/v1/pets"),
  requestOf("POST", "/v1/pets", [["Content-Type", "text/plain"]], "Rex"),
  creationOf("{}".padEnd(MAX_BODY_BYTES + 1)),
  ...Array.from({ length: 4 }, () => ({
    ...requestOf("GET", "/v1/pets"),
    headers: [["Authorization", "Bearer KEY_TIGHT"]] as const
  })),
  // The operation is removed by then.
  { ...requestOf("GET", "/v1/pets/1"), wait: 5 * 365 * 86_400_000 }
]

describe("all hosts", () => {
  it("return the same responses for any sequence of requests over a socket, over fetch and directly", async () => {
    const { records, secrets } = await Effect.runPromise(issueKeys)
    const machine = await Effect.runPromise(Clock.Clock)
    const page = await Effect.runPromise(ReferencePage.files())
    const seen = new Set<number>()
    let replays = 0

    await fc.assert(
      fc.asyncProperty(configuration, conversation, async ({ docs, options }, requests) => {
        const files = docs ? page : []
        const { advance, clock } = frozenClock(machine)
        const scope = Scope.makeUnsafe()
        const open = async (
          make: Effect.Effect<Sender, InvalidOption | NodeServer.ListenFailed, Service.Service | Scope.Scope>
        ) => {
          const layer = Layer.fresh(serviceLayer({ clock, files, options, records }))
          const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
          return Effect.runPromiseWith(context)(Scope.provide(make, scope))
        }
        try {
          const socket = await open(overSocket)
          const viaFetch = await open(overFetch)
          const reference = await open(direct)
          let next = "/v1/pets?limit=1"
          for (const generated of requests) {
            advance(generated.wait)
            const target = generated.target === NEXT_PAGE ? next : generated.target
            const request = withSecrets({ ...generated, target }, secrets)
            const expected = await reference(request)
            const { contentLength, ...response } = expected
            seen.add(response.status)
            if (response.headers["idempotency-replayed"] === "true") replays++
            expect(response.headers["x-request-id"]).toMatch(/^random-[0-9a-z]+$/)

            expect(await socket(request)).toEqual(expected)
            const fetched = await viaFetch(request)
            expect(fetched).toEqual({ ...response, contentLength: fetched.contentLength })
            // The fetch handler sets Content-Length only if the response has no body.
            if (fetched.contentLength !== undefined) expect(fetched.contentLength).toBe(contentLength)
            next = nextPage(expected) ?? next
          }
        } finally {
          await Effect.runPromise(Scope.close(scope, Exit.void))
        }
      }),
      {
        numRuns: 120,
        examples: [[{ options: {}, docs: true }, everyStatus]]
      }
    )
    expect([...seen].sort()).toEqual([200, 201, 204, 308, 400, 401, 404, 405, 410, 413, 415, 422, 429])
    expect(replays).toBeGreaterThan(0)
  }, 180_000)
})
