import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { describeOn, type Kind, kinds } from "../sql/Databases.fixture.ts"
import { forAllTests, openClient } from "../sql/Nodes.fixture.ts"
import { type AnimalStore, openAnimalStore } from "./AnimalStore.ts"
import { conversation } from "./Databases.arbitrary.ts"
import { MAX_BODY_BYTES, NEXT_PAGE, type WireRequest } from "./Hosts.arbitrary.ts"

const START = Date.UTC(2026, 11, 1, 23, 50)

/** Timeout in milliseconds for all runs, including the shrinking of a counterexample. */
const SHRINKING_MS = 60_000

/** A request with a status that random requests do not always get. */
const invalidLimit: WireRequest = {
  wait: 0,
  method: "GET",
  target: "/v1/pets?limit=0",
  headers: [["Authorization", "Bearer KEY_PRO"]],
  body: undefined,
  chunked: false
}

/** The current time of all stores, in epoch milliseconds. */
let now = START

interface Opened {
  readonly store: AnimalStore
  readonly secrets: { readonly [placeholder: string]: string }
  /** All log lines at level `warn` or above. */
  readonly logs: Array<string>
}

const open = async (database: string): Promise<Opened> => {
  const logs: Array<string> = []
  const store = await openAnimalStore({
    database,
    databaseTimeoutMs: 20_000,
    now: () => now,
    logLevel: "warn",
    log: (line) => logs.push(line),
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
  return { store, secrets: { KEY_PRO: pro.key, KEY_TIGHT: tight.key, KEY_REVOKED: revoked.key }, logs }
}

/**
 * Opens a store on a new database. `empty` deletes its animals, their idempotency keys and rate limits, so that ids
 * start at 1 again.
 */
const openOn = (kind: Kind) =>
  Effect.gen(function* () {
    const database = yield* kind.create
    const opened = yield* Effect.acquireRelease(
      Effect.promise(() => open(database.address)),
      ({ store }) => Effect.promise(() => store.close())
    )
    const sql = yield* openClient(database)
    const statements = sql.onDialectOrElse({
      pg: () => ["TRUNCATE pets, idempotent_inserts, rate_limits RESTART IDENTITY"],
      orElse: () => [
        "DELETE FROM pets",
        "DELETE FROM idempotent_inserts",
        "DELETE FROM sqlite_sequence WHERE name = 'pets'",
        "DELETE FROM rate_limits"
      ]
    })
    const empty = Effect.forEach(statements, (statement) => sql.unsafe(statement))
    return { ...opened, empty: () => Effect.runPromise(empty) }
  })

/** Converts a request to a `Request` with real keys; returns `undefined` if `Request` cannot represent it. */
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

/** Returns the comparable parts of a response: without the request id and without the signature in cursors. */
const comparable = async (response: Response) => {
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

/** Returns a function that sends requests to a store; the target `NEXT_PAGE` follows the latest `next` link. */
const client = (opened: Opened) => {
  let next = "/v1/pets?limit=1"
  return async (request: WireRequest) => {
    const sent = requestOf(request.target === NEXT_PAGE ? { ...request, target: next } : request, opened)
    if (sent === undefined) return undefined
    const response = await opened.store.fetch(sent)
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1] ?? next
    return comparable(response)
  }
}

for (const kind of kinds) {
  describeOn(kind, "a store", () => {
    const opened = forAllTests(openOn(kind))

    it(
      "returns the same responses as a memory store for any sequence of requests",
      async () => {
        const seen = new Set<string>()
        const durable = opened()
        await fc.assert(
          fc.asyncProperty(conversation, async (requests) => {
            now = START
            const memory = await open("memory:")
            await durable.empty()
            try {
              const [sendToMemory, send] = [client(memory), client(durable)]
              for (const request of requests) {
                now += request.wait
                const expected = await sendToMemory(request)
                expect(await send(request)).toEqual(expected)
                if (expected === undefined) continue
                const [, code = ""] = /"code":"(\w+)"/.exec(expected.body) ?? []
                seen.add(`${expected.status} ${code}`)
                if (expected.headers.link?.includes('rel="next"') === true) seen.add("next page")
                if ("idempotency-replayed" in expected.headers) seen.add("replay")
              }
            } finally {
              await memory.store.close()
            }
            const lines = [...memory.logs, ...durable.logs]
            expect(lines.filter((line) => !line.includes('message="key banned'))).toEqual([])
          }),
          { numRuns: 40, examples: [[[invalidLimit]]], interruptAfterTimeLimit: SHRINKING_MS }
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
              "422 idempotency_key_reused",
              "next page",
              "replay"
            ],
            ...["401 invalid_api_key", "429 rate_limit_exceeded", "429 api_key_banned"]
          ])
        )
      },
      SHRINKING_MS + 30_000
    )
  })
}
