import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { catalogue } from "../../core/errors/ErrorCatalogue.ts"
import type { Header } from "../../core/service/ServiceResponse.ts"
import * as NodeListener from "./NodeListener.ts"
import { PreparedResponse } from "./PreparedResponse.ts"

const statuses = [200, 201, 204, 304, ...Object.values(catalogue).map(({ status }) => status)]

const name = fc.constantFrom("Link", "Link", "Allow", "X-Request-Id", "X-RateLimit-Remaining")
const value = fc.string({ unit: fc.constantFrom(...' !"<>;=@aZ09\u00e9'.split("")), maxLength: 12 })

const date: Header = ["Date", "Sun, 06 Nov 1994 08:49:37 GMT"]

/** The very same fields again and again, as most answers have them. */
const kept: ReadonlyArray<Header> = [
  date,
  ["Link", "<a>"],
  ["Link", "<b>"],
  ["Allow", "GET"],
  ["X-Request-Id", "7"]
]

const field = fc.oneof(fc.constantFrom(...kept), fc.constantFrom(...kept), fc.tuple(name, value))

const answer = fc.record({
  status: fc.constantFrom(...statuses),
  headers: fc
    .tuple(
      fc.array(field, { maxLength: 4 }),
      fc.constantFrom(date, [...date] as const),
      fc.array(field, { maxLength: 8 })
    )
    .map(([before, date, after]): ReadonlyArray<Header> => [...before, date, ...after]),
  body: fc.constantFrom("", "[]", '{"name":"R\u00e9x 🐈"}')
})

const circumstances = fc.record({
  method: fc.constantFrom("GET", "HEAD", "POST"),
  version: fc.constantFrom("1.1", "1.1", "1.0"),
  expects: fc.constantFrom(false, false, true),
  closes: fc.constantFrom(false, false, true),
  keepAliveTimeoutMs: fc.constantFrom(0, 999, 5_000, 72_500),
  preset: fc.constantFrom(false, false, false, true)
})

type Circumstances = typeof circumstances extends fc.Arbitrary<infer A> ? A : never

/** What Node would set up before a listener is called. */
const arrange = <Response extends ServerResponse>(
  make: new (request: IncomingMessage) => Response,
  { closes, expects, keepAliveTimeoutMs, method, preset, version }: Circumstances
): Response => {
  const request = new IncomingMessage(new Socket())
  request.method = method
  request.httpVersion = version
  const [major, minor] = version.split(".").map(Number)
  request.httpVersionMajor = major ?? 1
  request.httpVersionMinor = minor ?? 1
  if (expects) request.headers.expect = "100-continue"
  const response = new make(request)
  Object.assign(response, { _keepAliveTimeout: keepAliveTimeoutMs, _expect_continue: expects })
  if (closes) response.shouldKeepAlive = false
  if (preset) response.setHeader("X-Host", "set before")
  return response
}

/** Everything that decides what Node sends, and what it does with the connection afterwards. */
const outcomeOf = (response: ServerResponse) => {
  const { _hasBody, _header, _last, chunkedEncoding } = response as ServerResponse & {
    readonly _header?: unknown
    readonly _hasBody?: unknown
    readonly _last?: unknown
  }
  const { headersSent, shouldKeepAlive, statusCode } = response
  return { _hasBody, _header, _last, chunkedEncoding, headersSent, shouldKeepAlive, statusCode }
}

describe("the head of an answer", () => {
  it("is the one that Node's own writeHead makes, byte for byte, whatever the circumstances", () => {
    let taken = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(answer, circumstances), { minLength: 1, maxLength: 5 }), (answers) => {
        for (const [given, around] of answers) {
          const ours = arrange(PreparedResponse, around)
          const node = arrange(ServerResponse, around)
          if (ours.tryHead(given, Buffer.byteLength(given.body))) taken++
          else NodeListener.writeHead(ours, given)
          NodeListener.writeHead(node, given)
          expect(outcomeOf(ours)).toEqual(outcomeOf(node))
        }
      }),
      { numRuns: 2000 }
    )
    expect(taken).toBeGreaterThan(500)
  })

  const ordinary: Circumstances = {
    method: "GET",
    version: "1.1",
    expects: false,
    closes: false,
    keepAliveTimeoutMs: 5_000,
    preset: false
  }
  it.each<Header>([
    ["X-A", "a\r\nX-B: b"],
    ["X-A", "a\n"],
    ["X-A", "\0"],
    ["X-A", "\u{1F408}"],
    ["X-A: b\r\nX-B", "c"],
    ["", "a"],
    ["X A", "a"]
  ])("with a field that would break its line is refused as by Node: %j", (name, value) => {
    const given = { status: 200, headers: [date, [name, value] as const], body: "" }
    // Also where the place has held a field that was right, with the same name.
    arrange(PreparedResponse, ordinary).tryHead({ ...given, headers: [date, ["X-A", "right"]] }, 0)
    expect(() => NodeListener.writeHead(arrange(PreparedResponse, ordinary), given)).toThrow(TypeError)
  })

  it("is that of its own fields, also where a host writes the next ones over those of the answer before", () => {
    const headers: Array<Header> = [date, ["Allow", "GET"], ["X-Request-Id", "1"]]
    for (let id = 1; id < 5; id++) {
      headers[2] = ["X-Request-Id", String(id)]
      const response = arrange(PreparedResponse, ordinary)
      NodeListener.writeHead(response, { status: 200, headers, body: "" })
      expect(response._header).toContain(`\r\nX-Request-Id: ${id}\r\n`)
    }
  })

  it("never has what a field was changed to after it was judged", () => {
    const changing: [string, string] = ["X-A", "1"]
    const sent = [1, 2, 3].map((time) => {
      if (time === 3) changing[1] = "1\r\nX-Evil: 1"
      for (const headers of [
        [date, changing],
        [date, ["X-A", "2"]],
        [date, changing]
      ] as const) {
        arrange(PreparedResponse, ordinary).tryHead({ status: 200, headers, body: "" }, 0)
      }
      const response = arrange(PreparedResponse, ordinary)
      response.tryHead({ status: 200, headers: [date, changing], body: "" }, 0)
      return response._header
    })
    expect(sent.join()).not.toContain("Evil")
  })

  it.each<ReadonlyArray<Header>>([
    [],
    [
      ["Date", "x"],
      ["Connection", "close"]
    ],
    [
      ["Date", "x"],
      ["Transfer-Encoding", "chunked"]
    ]
  ])("is left to Node where a field decides about the connection, or the date is missing", (...headers) => {
    expect(arrange(PreparedResponse, ordinary).tryHead({ status: 200, headers, body: "" }, 0)).toBe(false)
  })
})
