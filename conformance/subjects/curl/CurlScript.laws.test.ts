import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Step } from "../../evaluation/Trial.ts"
import type { Exchange, KeyName } from "../../http/Exchange.ts"
import * as NodeTransport from "../../http/NodeTransport.ts"
import { bytes, type Header, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import { hostile } from "../../reports/Report.arbitrary.ts"
import * as CurlScript from "./CurlScript.ts"

const secrets = {
  main: "ast_main0f3kQ9zLw2mB7vXc4nRt8yHj",
  tiny: "ast_tiny5pDq1sUe6gKa9oJi3bVh0cWx",
  victim: 'it\'s a "$(victim)" `key` \\n',
  revoked: "ast_gone7rTb2yNf8mLk4zQx1dSv6wEu",
  expired: "ast_late4nHs8cPw3jYt6bVm1fGq9uZi"
}

/** A received request, with one character for each byte, without the headers that HTTP clients add. */
interface Arrival {
  readonly line: string
  readonly headers: ReadonlyArray<string>
  readonly body: string
}

/** A server that records requests byte for byte, because an HTTP library would reject or normalize unusual ones. */
class Recorder {
  readonly arrivals: Array<Arrival> = []
  /** Number of requests that must arrive before any of them gets a response. */
  barrier = 1
  /** The id of the next animal. */
  nextId = 1
  #waiting: Array<() => void> = []
  readonly server = createServer((socket) => {
    let received = ""
    socket.on("error", () => {})
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1")
      const end = received.indexOf("\r\n\r\n")
      if (end < 0) return
      const [line = "", ...headers] = received.slice(0, end).split("\r\n")
      const length = Number(headers.find((field) => /^content-length:/i.test(field))?.slice(15) ?? 0)
      // Node sends this last chunk if a request has no body, although its method allows a body.
      const body = received.slice(end + 4).replace(/^0\r\n\r\n$/, "")
      if (body.length < length) return
      const others = headers.filter(
        (field) => !/^(host|connection|content-length|transfer-encoding):/i.test(field)
      )
      this.arrivals.push({
        line,
        headers: others.map((field) => field.replace(/:[ \t]*/, ":").trimEnd()),
        body
      })
      this.#waiting.push(() => this.#respond(line, socket))
      if (this.#waiting.length < this.barrier) return
      for (const respond of this.#waiting.splice(0)) respond()
    })
  })

  #respond(line: string, socket: Socket): void {
    const isCreation = line.startsWith("POST ")
    const body = isCreation ? `{"name":"Rex \\"id\\":7","id" : ${this.nextId++},"status":"sold"}` : "[]"
    const head = [
      `HTTP/1.1 ${isCreation ? "201 Created" : "200 OK"}`,
      "X-RateLimit-Remaining: 4",
      `Content-Length: ${body.length}`,
      "Connection: close"
    ]
    socket.end(`${head.join("\r\n")}\r\n\r\n${line.startsWith("HEAD ") ? "" : body}`)
  }
}

const recorder = new Recorder()
let baseUrl = ""
let directory = ""

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "curl-script-"))
  await new Promise<void>((resolve) => recorder.server.listen(0, "127.0.0.1", resolve))
  // The server listens on a port, so the address is an object.
  baseUrl = `http://127.0.0.1:${(recorder.server.address() as AddressInfo).port}/v1`
})

afterAll(async () => {
  await new Promise((resolve) => recorder.server.close(resolve))
  rmSync(directory, { recursive: true })
})

const takeArrivals = (): ReadonlyArray<Arrival> => recorder.arrivals.splice(0)

interface KeyedRequest {
  readonly key: KeyName
  readonly request: WireRequest
}

/** Sends the requests in sequence, as a run does. */
const sendAll = (requests: ReadonlyArray<KeyedRequest>): Promise<ReadonlyArray<WireResponse>> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(NodeTransport.make(new URL(baseUrl)), (transport) =>
        Effect.forEach(requests, ({ request }) => transport(request))
      )
    )
  )

const exchangeOf = (sent: KeyedRequest, response: WireResponse, index: number): Exchange => ({
  ...sent,
  response,
  index,
  sentAt: 10 * index,
  receivedAt: 10 * index + 5,
  isAlone: true
})

interface Words {
  readonly law: string
  readonly expected: string
  readonly actual: string
  readonly did: string
  readonly got: string
}

const plain: Words = { law: "law", expected: "expected", actual: "actual", did: "did", got: "got" }

const scriptOf = (exchanges: ReadonlyArray<Exchange>, words: Words = plain): string => {
  const steps = exchanges.map((exchange): Step => ({ did: words.did, got: words.got, exchange }))
  const script = CurlScript.make({ check: "check", ...words, baseUrl, basePath: "/v1", secrets, steps })
  if (script === undefined) throw new Error("CurlScript.make returned undefined")
  return script
}

const run = (script: string, args: ReadonlyArray<string> = []) =>
  new Promise<{ readonly stdout: string; readonly stderr: string; readonly failed: boolean }>((resolve) => {
    const path = join(directory, "case.sh")
    writeFileSync(path, script)
    execFile(
      "sh",
      [path, ...args],
      {
        env: {
          PATH: process.env.PATH,
          ANIMAL_KEY: secrets.main,
          ANIMAL_TINY_KEY: secrets.tiny,
          ANIMAL_VICTIM_KEY: secrets.victim,
          ANIMAL_REVOKED_KEY: secrets.revoked,
          ANIMAL_EXPIRED_KEY: secrets.expired
        },
        timeout: 120_000
      },
      // Exit code 0: a response differs; 1: all are as they were in the run; any other code: the script failed.
      (error, stdout, stderr) => resolve({ stdout, stderr, failed: error !== null && error.code !== 1 })
    )
  })

/** Characters that are valid in the head of a request, as bytes. */
const headCharacter = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(..."'\"$`\\!#&;|<>(){}[]*?%@=~^,+-_/.:\u00e9\u0080\u00ff") },
  fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
)

const target = fc.oneof(
  fc.constantFrom(
    "/v1/pets",
    "/v1/pets?limit=1&status=sold",
    "/v1/pets/../pets/./1",
    "/v1//pets",
    "/v1/pets?",
    "/v1/pets#x",
    "/v1",
    "/v1?x",
    "/v1x/pets",
    "/",
    "*",
    "http://other.example/pets",
    "/v1/pets?limit[]={1,2}[3-4]",
    "/v1/pets/%2e%2e/%zz%00",
    `/v1/pets?key=${secrets.main}`
  ),
  fc.string({ unit: headCharacter, maxLength: 20 }).map((tail) => `/v1/pets?${tail}`),
  fc.string({ unit: headCharacter, maxLength: 20 }).map((tail) => `/${tail}`)
)

/** A header value without surrounding white space, which would not be part of the value. */
const headerValue = fc
  .string({ unit: fc.oneof(headCharacter, fc.constantFrom(" ", "\t")), maxLength: 20 })
  .map((value) => value.trim())

const header = fc.oneof(
  fc.tuple(
    fc.constantFrom("X-Odd", "x-odd", "Accept", "User-Agent", "Content-Type", "!#$&'*+.^_`|~x"),
    headerValue
  ),
  fc.constantFrom<Header>(
    ["Content-Type", "application/json"],
    ["Authorization", `Basic ${secrets.tiny}`],
    ["X-Key", `a ${secrets.main} b ${secrets.victim}`]
  )
)

const body = fc.oneof(
  fc.constant(undefined),
  fc
    .constantFrom(
      '{"name":"Rex","categoryId":7}',
      "",
      "@/etc/hosts",
      "-n",
      "-n \u0000 100%d \\n",
      "%d %s \\n",
      "a\n\n",
      "\ufeff{}"
    )
    .map(bytes),
  fc.constantFrom(...Object.values(secrets)).map((secret) => bytes(`{"name":"${secret}\u0000${secret}"}`)),
  hostile.map(bytes),
  fc.uint8Array({ maxLength: 40 })
)

const keyedRequest: fc.Arbitrary<KeyedRequest> = fc
  .record({
    key: fc.constantFrom<KeyName>("main", "tiny", "victim", "revoked", "expired", "none", "other"),
    method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"),
    target,
    headers: fc.array(header, { maxLength: 3 }),
    body
  })
  .map(({ body, headers, key, method, target }) => {
    const secret = key === "none" || key === "other" ? undefined : secrets[key]
    const others = key === "other" ? headers : headers.filter(([name]) => name !== "Authorization")
    const authorization: ReadonlyArray<Header> =
      secret === undefined ? [] : [["Authorization", `Bearer ${secret}`]]
    // For a HEAD with a body, curl would wait for a response body that is never sent.
    return {
      key,
      request: {
        method,
        target,
        headers: [...authorization, ...others],
        body: method === "HEAD" ? undefined : body
      }
    }
  })

const words: fc.Arbitrary<Words> = fc.record({
  law: hostile,
  expected: hostile,
  actual: hostile,
  did: hostile,
  got: hostile
})

const hasCurl = spawnSync("curl", ["--version"]).status === 0

describe.skipIf(!hasCurl)("a script of curl calls (needs curl)", () => {
  it("sends the requests of the run, byte for byte", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(keyedRequest, { minLength: 1, maxLength: 4 }), words, async (all, texts) => {
        const responses = await sendAll(all)
        const before = takeArrivals()
        expect(before).toHaveLength(all.length)
        const script = scriptOf(
          all.flatMap((sent, index) => {
            const response = responses[index]
            return response === undefined ? [] : [exchangeOf(sent, response, index)]
          }),
          texts
        )
        const { failed, stderr } = await run(script)
        expect({ failed, stderr }).toEqual({ failed: false, stderr: "" })
        expect(takeArrivals()).toEqual(before)
        for (const secret of Object.values(secrets)) expect(script).not.toContain(secret)
        for (const line of script.split("\n")) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
      { numRuns: 20 }
    )
  })

  const get = (target: string, key: KeyName = "main"): KeyedRequest => ({
    key,
    request: {
      method: "GET",
      target,
      headers: [["Authorization", `Bearer ${secrets.main}`]],
      body: undefined
    }
  })
  const post = (json: string): KeyedRequest => ({
    key: "main",
    request: {
      method: "POST",
      target: "/v1/pets",
      headers: [
        ["Authorization", `Bearer ${secrets.main}`],
        ["Content-Type", "application/json"]
      ],
      body: bytes(json)
    }
  })
  const recorded = async (all: ReadonlyArray<KeyedRequest>) => {
    const responses = await sendAll(all)
    takeArrivals()
    return all.flatMap((sent, index) => {
      const response = responses[index]
      return response === undefined ? [] : [exchangeOf(sent, response, index)]
    })
  }
  const lines = () => takeArrivals().map(({ line }) => line.replace(" HTTP/1.1", ""))

  it("uses the ids that the subject returns, not the ids of the run", async () => {
    recorder.nextId = 41
    const exchanges = await recorded([
      post("{}"),
      post("{}"),
      get("/v1/pets/42?x"),
      get("/v1/pets/41"),
      get("/v1/pets/9")
    ])
    recorder.nextId = 901
    await run(scriptOf(exchanges))
    expect(lines()).toEqual([
      "POST /v1/pets",
      "POST /v1/pets",
      "GET /v1/pets/902?x",
      "GET /v1/pets/901",
      "GET /v1/pets/9"
    ])
  })

  it("sends concurrent requests concurrently, and uses the ids in their responses afterwards", async () => {
    recorder.nextId = 5
    const exchanges = await recorded([post("{}"), get("/v1/pets"), get("/v1/pets"), get("/v1/pets/5")])
    recorder.barrier = 3
    recorder.nextId = 77
    const together = exchanges.map((exchange, index) =>
      index < 3
        ? { ...exchange, isAlone: false, sentAt: 0, receivedAt: 9 }
        : { ...exchange, sentAt: 20, receivedAt: 21 }
    )
    const script = scriptOf(together)
    const running = run(script)
    // The fourth request is sent alone.
    while (recorder.arrivals.length < 3) await new Promise((resolve) => setImmediate(resolve))
    recorder.barrier = 1
    await running
    const [first, second, third, fourth] = lines()
    expect([first, second, third].sort()).toEqual(["GET /v1/pets", "GET /v1/pets", "POST /v1/pets"])
    expect(fourth).toBe("GET /v1/pets/77")
  })

  it("waits for the response with an id before it uses the id, even if the run did not wait", async () => {
    recorder.nextId = 5
    const exchanges = await recorded([post("{}"), get("/v1/pets/5")])
    recorder.nextId = 77
    const { failed } = await run(
      scriptOf(exchanges.map((exchange) => ({ ...exchange, isAlone: false, sentAt: 0, receivedAt: 9 })))
    )
    expect(failed).toBe(false)
    expect(lines()).toEqual(["POST /v1/pets", "GET /v1/pets/77"])
  })

  it("sends to the base URL in its first argument, which may have another base path", async () => {
    const exchanges = await recorded([get("/v1/pets?limit=1"), get("/v1/pets#x"), get("/other")])
    await run(scriptOf(exchanges), [baseUrl.replace("/v1", "/api/v2/")])
    expect(lines()).toEqual(["GET /api/v2/pets?limit=1", "GET /api/v2/pets#x", "GET /other"])
  })

  it("exits with a message, and sends nothing, if a key is missing", async () => {
    const [exchange] = await recorded([get("/v1/pets", "tiny")])
    if (exchange === undefined) throw new Error("nothing was recorded")
    const script = scriptOf([exchange]).replaceAll("ANIMAL_TINY_KEY", "ANIMAL_NO_KEY")
    const { failed, stderr } = await run(script)
    expect(failed).toBe(true)
    expect(stderr).toContain("set ANIMAL_NO_KEY to the tiny key")
    expect(takeArrivals()).toEqual([])
  })

  it("sends a HEAD with a body, and does not wait for a response body", async () => {
    const head = { ...post("{}"), request: { ...post("{}").request, method: "HEAD" } }
    const exchanges = await recorded([head, get("/v1/pets")])
    const { failed } = await run(scriptOf(exchanges))
    expect(failed).toBe(false)
    expect(lines()).toEqual(["HEAD /v1/pets", "GET /v1/pets"])
  })

  it("sends a body that is too long for a command-line argument", async () => {
    const exchanges = await recorded([post(`"${"é".repeat(100_000)}"`)])
    await run(scriptOf(exchanges))
    expect(takeArrivals().map(({ body }) => body.length)).toEqual([200_002])
  })
})
