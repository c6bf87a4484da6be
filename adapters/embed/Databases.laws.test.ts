import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { describeOn, type Kind, kinds } from "../sql/Databases.fixture.ts"
import { forAllTests, openClient } from "../sql/Nodes.fixture.ts"
import { type AnimalStore, openAnimalStore } from "./AnimalStore.ts"
import { conversation } from "./Databases.arbitrary.ts"
import { MAX_BODY_BYTES, NEXT_PAGE, type WireRequest } from "./Hosts.arbitrary.ts"

const START = Date.UTC(2026, 11, 1, 23, 50)

/** A conversation that is answered differently is made smaller for so long, then told as it is. */
const SHRINKING_MS = 60_000

/** What `now` is for all stores. */
let now = START

interface Opened {
  readonly store: AnimalStore
  readonly secrets: { readonly [placeholder: string]: string }
  /** What the service had to report. */
  readonly reports: Array<string>
}

const open = async (database: string): Promise<Opened> => {
  const reports: Array<string> = []
  const store = await openAnimalStore({
    database,
    databaseTimeoutMs: 20_000,
    now: () => now,
    log: (line) => reports.push(line),
    clientAddress: () => "192.0.2.1",
    trustedProxyHops: 1,
    maxBodyBytes: MAX_BODY_BYTES * 16,
    anonymousPlan: { perMinute: 3, perDay: 20 },
    ban: { strikes: 2, strikeIntervalMs: 1, durationsMs: [2_000, 20_000], cleanMs: 3_600_000 }
  })
  const pro = await store.keys.issue({ plan: "Pro" })
  const tight = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 2, perDay: 30 } })
  const revoked = await store.keys.issue({ plan: "Free" })
  await store.keys.revoke(revoked.id)
  return { store, secrets: { KEY_PRO: pro.key, KEY_TIGHT: tight.key, KEY_REVOKED: revoked.key }, reports }
}

/** A store on a database that each history finds empty, with ids from 1 on. */
const openOn = (kind: Kind) =>
  Effect.gen(function* () {
    const database = yield* kind.create
    const opened = yield* Effect.acquireRelease(
      Effect.promise(() => open(database.address)),
      ({ store }) => Effect.promise(store.close)
    )
    const sql = yield* openClient(database)
    const statements = sql.onDialectOrElse({
      pg: () => ["TRUNCATE pets, rate_limits RESTART IDENTITY"],
      orElse: () => [
        "DELETE FROM pets",
        "DELETE FROM sqlite_sequence WHERE name = 'pets'",
        "DELETE FROM rate_limits"
      ]
    })
    const empty = Effect.forEach(statements, (statement) => sql.unsafe(statement))
    return { ...opened, empty: () => Effect.runPromise(empty) }
  })

/** The request as `Request` says it, or `undefined` where none can. */
const requestOf = (
  { body, headers, method, target }: WireRequest,
  { secrets }: Opened
): Request | undefined => {
  const url = target.startsWith("/") ? `http://store.test${target}` : target
  if (method === "TRACE" || !URL.canParse(url) || new URL(url).href !== url) return undefined
  return new Request(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [
      name,
      value.replaceAll(/KEY_[A-Z]+/g, (placeholder) => secrets[placeholder] ?? placeholder)
    ]),
    body: method === "GET" || method === "HEAD" || body === undefined ? null : Uint8Array.from(body.bytes)
  })
}

/** All of an answer but what no two services share: the request's id, and the seal in a cursor, which they keep secret. */
const observed = async (response: Response) => {
  const headers = Object.fromEntries(response.headers)
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/)
  return {
    status: response.status,
    headers: {
      ...headers,
      "x-request-id": "",
      ...(headers.link === undefined
        ? undefined
        : { link: headers.link.replace(/(cursor=[0-9a-f]{16})[0-9a-f]{16}/, "$1") })
    },
    body: await response.text()
  }
}

/** Sends requests to a store, whose own links it follows. */
const client = (opened: Opened) => {
  let next = "/v1/pets?limit=1"
  return async (request: WireRequest) => {
    const sent = requestOf(request.target === NEXT_PAGE ? { ...request, target: next } : request, opened)
    if (sent === undefined) return undefined
    const response = await opened.store.fetch(sent)
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1] ?? next
    return observed(response)
  }
}

for (const kind of kinds) {
  describeOn(kind, "whatever a conversation puts into a database and asks of it", () => {
    const opened = forAllTests(openOn(kind))

    it(
      "status, headers and body of every answer are those of a store in memory",
      async () => {
        const seen = new Set<string>()
        const durable = opened()
        await fc.assert(
          fc.asyncProperty(conversation, async (requests) => {
            now = START
            const memory = await open("memory:")
            await durable.empty()
            try {
              const [askMemory, ask] = [client(memory), client(durable)]
              for (const request of requests) {
                now += request.wait
                const expected = await askMemory(request)
                expect(await ask(request)).toEqual(expected)
                if (expected === undefined) continue
                const [, code = ""] = /"code":"(\w+)"/.exec(expected.body) ?? []
                seen.add(`${expected.status} ${code}`)
                if (expected.headers.link?.includes('rel="next"') === true) seen.add("next page")
              }
            } finally {
              await memory.store.close()
            }
            expect([...memory.reports, ...durable.reports]).toEqual([])
          }),
          { numRuns: 60, interruptAfterTimeLimit: SHRINKING_MS }
        )
        expect([...seen]).toEqual(
          expect.arrayContaining([
            ...[
              "200 ",
              "201 ",
              "400 invalid_json",
              "400 invalid_body",
              "400 invalid_parameter",
              "404 not_found",
              "next page"
            ],
            ...["401 invalid_api_key", "429 rate_limit_exceeded", "429 api_key_banned"]
          ])
        )
      },
      SHRINKING_MS + 30_000
    )
  })
}
