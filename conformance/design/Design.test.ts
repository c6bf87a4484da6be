import { describe, expect, it } from "vitest"
import * as Wire from "../http/Wire.ts"
import type { Exchange, Setup } from "../model/Exchange.ts"
import * as Design from "./Design.ts"

const SECRET = "Secret-0123456789"
const NOW = Date.parse("2027-03-04T09:00:00Z")

const setup: Setup = {
  basePath: "/v1",
  categories: "any",
  keys: [{ name: "tiny", secret: SECRET, plan: { perMinute: 5, perDay: 40 }, isValid: true }]
}

type Headers = Readonly<Record<string, string | undefined>>

/** A cursor with characters that have a meaning in a query. */
const CURSOR = "%2B/=+%25"

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly authorization?: string
  readonly headers?: Headers
  readonly body?: string | undefined
}

interface Received {
  readonly status: number
  readonly headers?: Headers
  readonly body?: string
}

const pairs = (headers: Headers): ReadonlyArray<Wire.Header> =>
  Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))

const ours: Headers = {
  Date: "Thu, 04 Mar 2027 09:00:00 GMT",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Request-Id": "1",
  "Content-Type": "application/json; charset=utf-8"
}

/** The headers of a new key's first requests. */
const rate = (used: number): Headers => ({
  "X-RateLimit-Limit": "5",
  "X-RateLimit-Remaining": String(5 - used),
  "X-RateLimit-Reset": String(NOW / 1_000 + 12 * used)
})

const exchange = (sent: Sent, received: Received, index = 0): Exchange => {
  const { authorization = `Bearer ${SECRET}`, body, headers = {}, method = "GET", path = "/pets" } = sent
  return {
    index,
    did: `${method} ${path}`,
    request: {
      method,
      target: `/v1${path}`,
      headers: pairs({ Authorization: authorization, ...headers }),
      body: body === undefined ? undefined : Wire.bytes(body)
    },
    response: {
      status: received.status,
      headers: pairs({ ...ours, ...rate(index + 1), "X-Request-Id": String(index), ...received.headers }),
      body: Wire.bytes(received.body ?? "")
    },
    from: NOW,
    to: NOW,
    isAlone: true
  }
}

const judge = (...exchanges: ReadonlyArray<Exchange>) => {
  let known = Design.begin(setup)
  const [broken, decided]: [Array<string>, Set<string>] = [[], new Set()]
  for (const each of exchanges) {
    const judged = Design.judge(known, [each])
    known = judged.known
    broken.push(...judged.violations.map(({ clause }) => clause))
    for (const clause of judged.decided) decided.add(clause)
  }
  return { broken: [...new Set(broken)], decided }
}

const error = (code: string, status: number, message = "No."): Received => ({
  status,
  body: JSON.stringify({ code, message, status })
})

const list: Received = { status: 200, body: "[]" }

const post = (body: string, headers: Headers = {}): Sent => ({
  method: "POST",
  body,
  headers: { "Content-Type": "application/json", ...headers }
})

const created = (name: string): Received => ({
  status: 201,
  headers: { Location: "/v1/pets/7" },
  body: JSON.stringify({ id: 7, name, categoryId: 1, status: "available" })
})

describe("Design.judge", () => {
  it.each<[string, Sent, Received]>([
    ["a list", {}, list],
    ["a creation", post('{"name":"Rex","categoryId":1.0}'), created("Rex")],
    ["an unknown path", { path: "/pet" }, error("not_found", 404)],
    ["a scheme in another case", { authorization: `bEARER ${SECRET}` }, list]
  ])("finds nothing broken in our response to %s", (_, sent, received) => {
    expect(judge(exchange(sent, received)).broken).toEqual([])
  })

  it.each<[string, string, Sent, Received]>([
    [
      "http.standard-headers",
      "a response that may be cached",
      {},
      { ...list, headers: { "Cache-Control": undefined } }
    ],
    ["http.date", "a Date in the past", {}, { ...list, headers: { Date: "Thu, 04 Mar 2027 08:59:58 GMT" } }],
    ["limits.bucket", "a bucket that is not full at first", {}, { ...list, headers: rate(2) }],
    [
      "limits.reset-full",
      "a Reset of the next token",
      {},
      { ...list, headers: { "X-RateLimit-Reset": String(NOW / 1_000 + 1) } }
    ],
    ["list.limit.range", "a clamped limit", { path: "/pets?limit=101" }, list],
    ["errors.codes", "the code of a body", { path: "/pets?limit=0" }, error("invalid_body", 400, "limit")],
    ["errors.messages", "a message without the field", post('{"name":"Rex"}'), error("invalid_body", 400)],
    ["list.paging.forged", "an unknown cursor", { path: "/pets?cursor=1" }, list],
    ["http.method-not-allowed", "a 404 for a method", { method: "PUT" }, error("not_found", 404)],
    [
      "http.order-of-checks",
      "the type before the path",
      { ...post("{}", { "Content-Type": "text/plain" }), path: "/x" },
      error("unsupported_media_type", 415)
    ],
    [
      "create.json-duplicates",
      "a repeated member",
      post('{"a":{"b":1,"b":2},"name":"Rex","categoryId":1}'),
      created("Rex")
    ],
    ["create.name-characters", "a blank name", post('{"name":" ","categoryId":1}'), created(" ")],
    ["create.name-exact", "a trimmed name", post('{"name":" Rex","categoryId":1}'), created("Rex")],
    ["get.deprecation-headers", "a retrieval without Sunset", { path: "/pets/7" }, error("not_found", 404)]
  ])("finds %s broken by %s", (clause, _, sent, received) => {
    expect(judge(exchange(sent, received)).broken).toEqual([clause])
  })

  it("knows who paid for a request", () => {
    const free = exchange({}, { ...list, headers: rate(1) }, 1)
    expect(judge(exchange({ path: "/x" }, error("not_found", 404)), free).broken).toEqual([
      "limits.every-request-costs"
    ])
  })

  it("does not judge the limits if the times of requests are not known to the millisecond", () => {
    const used = { ...exchange({}, { ...list, headers: rate(4) }), to: NOW + 1 }
    const { broken, decided } = judge(used, exchange({}, list, 1))
    expect(broken).toEqual([])
    expect([...decided].filter((clause) => clause.startsWith("limits."))).toEqual([])
  })

  it("follows the links of a list, and misses an animal between two pages", () => {
    const animals = [1, 2, 3].map((id) => ({ id, name: "Rex", categoryId: 1, status: "sold" }))
    const page = (ids: ReadonlyArray<number>, next?: string): Received => ({
      status: 200,
      headers: { Link: next && `</v1/pets?limit=1&cursor=${next}>; rel="next"` },
      body: JSON.stringify(animals.filter(({ id }) => ids.includes(id)))
    })
    const [all, first] = [
      exchange({}, page([1, 2, 3])),
      exchange({ path: "/pets?limit=1" }, page([1], CURSOR), 1)
    ]
    const second = (ids: ReadonlyArray<number>, next?: string) =>
      exchange({ path: `/pets?limit=1&cursor=${CURSOR}` }, page(ids, next), 2)
    expect(judge(all, first, second([2], "b")).broken).toEqual([])
    expect(judge(all, first, second([3])).broken).toEqual(["list.paging.complete"])
    expect(judge(all, first, second([2])).broken).toEqual(["list.paging"])
  })
})
