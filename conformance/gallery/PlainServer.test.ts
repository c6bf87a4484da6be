import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Header, WireRequest, WireResponse } from "../http/Wire.ts"
import * as Wire from "../http/Wire.ts"
import { plain as decoys } from "./Decoys.ts"
import * as PlainServer from "./PlainServer.ts"

const start = Date.parse("2027-03-04T05:06:07.089Z")
const plenty = { perMinute: 1_000_000, perDay: 1_000_000 }

interface Sent {
  readonly key?: string | undefined
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string | Uint8Array
}

/** A server with the keys `key` and `other` and a clock that the test sets. */
const serverOf = (choices: Partial<PlainServer.Choices> = {}, plan = plenty) => {
  const clock = { now: start }
  const keys = [
    { secret: "key", ...plan },
    { secret: "other", ...plan },
    { secret: "revoked", ...plan, revoked: true }
  ]
  const transport = PlainServer.make({ keys, now: () => clock.now, choices })
  const requestOf = (method: string, target: string, sent: Sent = {}): WireRequest => {
    const { body, headers = [] } = sent
    const key = "key" in sent ? sent.key : "key"
    const authorization: Header = ["Authorization", `Bearer ${key}`]
    return {
      method,
      target,
      headers: key === undefined ? headers : [...headers, authorization],
      body: typeof body === "string" ? Wire.bytes(body) : body
    }
  }
  const ask = (method: string, target: string, sent?: Sent): WireResponse =>
    Effect.runSync(transport(requestOf(method, target, sent)))
  const create = (body: string, headers: ReadonlyArray<Header> = []) =>
    ask("POST", "/v1/pets", { body, headers })
  return { clock, transport, requestOf, ask, create }
}

const json = (response: WireResponse): unknown => JSON.parse(Wire.text(response.body))
const names = (response: WireResponse): ReadonlyArray<string> =>
  [...Wire.text(response.body).matchAll(/"name":\s*"([^"]*)"/g)].map(([, name]) => name ?? "")
const digitsOf = (response: WireResponse, field: string): string =>
  new RegExp(`"${field}":\\s*(-?\\d+)`).exec(Wire.text(response.body))?.[1] ?? ""
const numberIn = (response: WireResponse, name: string): number => Number(Wire.header(response, name) ?? "x")
const rex = '{"name":"Rex","categoryId":1}'

const anyDecoy = fc.constantFrom(...decoys)
const nested = (depth: number) => `{"name":${"[".repeat(depth)}${"]".repeat(depth)},"categoryId":1}`

describe("the decoys", () => {
  it("share nothing with the core", () => {
    const source = readFileSync(new URL("PlainServer.ts", import.meta.url), "utf8")
    const imported = [...source.matchAll(/(?:from|import) ?\(?"([^"]+)"/g)].map(([, module]) => module)
    expect(imported).toEqual(["effect/Effect", "../http/Wire.ts"])
  })

  it("have ids of their own and between them make every choice", () => {
    expect(new Set(decoys.map(({ id }) => id)).size).toBe(decoys.length)
    const made = new Set(
      decoys.flatMap(({ choices }) =>
        Object.entries(choices)
          .filter(([name, value]) => !Object.is(value, Reflect.get(PlainServer.defaults, name)))
          .map(([name]) => name)
      )
    )
    expect([...made].sort()).toEqual(Object.keys(PlainServer.defaults).sort())
  })

  it("remove getPet while it is 5 December 2030 somewhere", () => {
    for (const { choices } of decoys) {
      const at = Date.parse(choices.removedAt ?? PlainServer.defaults.removedAt)
      expect(at).toBeGreaterThanOrEqual(Date.parse("2030-12-05T00:00:00+14:00"))
      expect(at).toBeLessThan(Date.parse("2030-12-06T00:00:00-12:00"))
    }
  })

  const target = fc.oneof(
    fc.constantFrom("/v1/pets", "/v1/pets/1", "/v1/pets/%zz", "/v1/pets/", "/", "", "*", "/v2/pets"),
    fc.string({ unit: "binary", maxLength: 12 }).map((tail) => `/v1/pets/${tail}`),
    fc
      .array(
        fc.tuple(fc.constantFrom("limit", "status", "offset", "__proto__"), fc.string({ unit: "binary" }))
      )
      .map((pairs) => `/v1/pets?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`),
    fc.constantFrom("/v1/pets?limit=%", "/v1/pets?status=%ff&limit=%E0%A4%A", "/v1/pets?limit=1e9&?&=")
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.json().map(Wire.bytes),
    fc
      .record({ name: fc.string({ unit: "binary" }), categoryId: fc.jsonValue(), status: fc.jsonValue() })
      .map((value) => Wire.bytes(JSON.stringify(value))),
    fc.constantFrom(rex, "", "null", "[]", "{", `{"__proto__":1,"name":"x","categoryId":2}`).map(Wire.bytes),
    fc.constantFrom(nested(50), nested(100_000)).map(Wire.bytes)
  )
  const request = fc.record({
    method: fc.oneof(
      fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "DELETE", "get", "constructor", ""),
      fc.string({ maxLength: 5 })
    ),
    target,
    key: fc.constantFrom("key", "key", "other", "revoked", "wrong", "key key", undefined),
    body: fc.option(body, { nil: undefined }),
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200_000 }), fc.constant(5e10))
  })

  it("answer whatever is sent as the contract says, never with 5xx", () => {
    fc.assert(
      fc.property(anyDecoy, fc.array(request, { maxLength: 25 }), ({ choices }, requests) => {
        const { ask, clock } = serverOf(choices, { perMinute: 4, perDay: 9 })
        for (const { body, key, method, target, waitMs } of requests) {
          clock.now += waitMs
          const response = ask(method, target, { key, ...(body === undefined ? {} : { body }) })
          expect(response.status).toBeLessThan(500)
          for (const name of ["limit", "remaining", "reset"]) {
            expect(Wire.header(response, `x-ratelimit-${name}`)).toMatch(/^\d+$/)
          }
          expect(numberIn(response, "x-ratelimit-remaining")).toBeLessThanOrEqual(
            numberIn(response, "x-ratelimit-limit")
          )
          expect(numberIn(response, "x-ratelimit-reset") * 1000).toBeGreaterThanOrEqual(clock.now)
          if (response.status === 429) expect(Wire.header(response, "retry-after")).toMatch(/^[1-9]|GMT$/)
          if (key !== "key" && key !== "other") expect([401, 404, 429]).toContain(response.status)
          if (method === "HEAD" || response.status === 204) {
            expect(response.body.length).toBe(0)
          } else if (response.status >= 400) {
            expect(json(response)).toMatchObject({
              code: expect.stringMatching(/./),
              message: expect.stringMatching(/./),
              status: response.status
            })
          }
        }
      }),
      { numRuns: 400 }
    )
  })

  it("survive nesting of any depth, in what is read and in what is ignored", () => {
    for (const depth of [100_000, 2_000_000]) {
      const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
      for (const body of [nested(depth), deep, `{"name":"x","categoryId":1,"other":${deep}}`]) {
        expect(serverOf().create(body).status).toBe(400)
      }
    }
  })

  it("keep every animal exactly, and give none the id of another", () => {
    const int64s = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    fc.assert(
      fc.property(anyDecoy, fc.array(int64s, { minLength: 1, maxLength: 15 }), ({ choices }, categories) => {
        const { ask, create } = serverOf(choices)
        const created = categories.map((category, at) =>
          create(`{"name":"n${at}","categoryId":${category},"status":"sold"}`, [
            ["Content-Type", "application/json"]
          ])
        )
        const ids = created.map((response) => digitsOf(response, "id"))
        expect(new Set(ids).size).toBe(categories.length)
        const list = ask("GET", "/v1/pets?limit=100&status=sold")
        for (const [at, category] of categories.entries()) {
          const id = ids[at] ?? ""
          expect(BigInt.asIntN(64, BigInt(id))).toBe(BigInt(id))
          expect(created[at]?.status).toBe(201)
          const found = ask("GET", `/v1/pets/${id}`)
          expect(found.status).toBe(200)
          expect(Wire.text(found.body)).toBe(Wire.text(created[at]?.body))
          expect(Wire.text(list.body)).toContain(Wire.text(found.body))
          expect(digitsOf(found, "categoryId")).toBe(String(category))
          expect(names(found)).toEqual([`n${at}`])
        }
      })
    )
  })
})

describe("a limit", () => {
  const lengths = { minute: 60_000, day: 86_400_000 }
  const zone = 330

  /** Whether one more is admissible at `now`, by the definition of the algorithm over all admitted so far. */
  const admissible: Record<
    PlainServer.Algorithm,
    (admitted: ReadonlyArray<number>, now: number, limit: number, length: number, zoneMs: number) => boolean
  > = {
    "token bucket": (admitted, now, limit, length) =>
      admitted.every(
        (from, at) => (admitted.length - at + 1) * length <= limit * length + (now - from) * limit
      ),
    "clock window": (admitted, now, limit, length, zoneMs) => {
      const windowAt = (time: number) => Math.floor((time + zoneMs) / length)
      return admitted.filter((time) => windowAt(time) === windowAt(now)).length < limit
    },
    "window from first use": (admitted, now, limit, length) => {
      const first = admitted.reduce(
        (open, time) => (time < open + length ? open : time),
        Number.NEGATIVE_INFINITY
      )
      return now >= first + length || admitted.filter((time) => time >= first).length < limit
    },
    "sliding log": (admitted, now, limit, length) =>
      admitted.filter((time) => time > now - length).length < limit
  }

  const cases = fc.oneof(
    fc.record({
      window: fc.constant("minute" as const),
      algorithm: fc.constantFrom(
        "token bucket" as const,
        "clock window" as const,
        "window from first use" as const,
        "sliding log" as const
      )
    }),
    fc.record({
      window: fc.constant("day" as const),
      algorithm: fc.constantFrom(
        "clock window" as const,
        "window from first use" as const,
        "sliding log" as const
      )
    })
  )
  /** Part of the window, and milliseconds beside it: where windows end and requests come free. */
  const gap = fc.oneof(
    { weight: 3, arbitrary: fc.constant([0, 0] as const) },
    fc.tuple(fc.constantFrom(1 / 7, 1 / 6, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1, 3), fc.constantFrom(0, -1, 1)),
    fc.tuple(fc.double({ min: 0, max: 0.4, noNaN: true }), fc.constant(0))
  )

  it("admits exactly what its algorithm means, whenever requests come, and shows what is left", () => {
    fc.assert(
      fc.property(
        cases,
        fc.integer({ min: 1, max: 7 }),
        fc.array(gap, { maxLength: 40 }),
        ({ algorithm, window }, limit, gaps) => {
          const length = lengths[window]
          const plan = window === "minute" ? { ...plenty, perMinute: limit } : { ...plenty, perDay: limit }
          const choices = { minute: "sliding log", [window]: algorithm, dayZone: zone } as const
          const { ask, clock } = serverOf(choices, plan)
          const zoneMs = window === "day" ? zone * 60_000 : 0
          const admitted: Array<number> = []
          const mayAt = (now: number) => admissible[algorithm](admitted, now, limit, length, zoneMs)
          for (const [share, beside] of gaps) {
            clock.now += Math.max(0, Math.floor(share * length) + beside)
            const isAdmitted = mayAt(clock.now)
            const response = ask("GET", "/v1/pets")
            expect(response.status).toBe(isAdmitted ? 200 : 429)
            if (isAdmitted) {
              admitted.push(clock.now)
              const more: Array<number> = []
              while (admissible[algorithm]([...admitted, ...more], clock.now, limit, length, zoneMs)) {
                more.push(clock.now)
              }
              expect(numberIn(response, "x-ratelimit-remaining")).toBe(more.length)
            } else {
              expect(numberIn(response, "x-ratelimit-remaining")).toBe(0)
              const seconds = numberIn(response, "retry-after")
              expect(mayAt(clock.now + seconds * 1000)).toBe(true)
              expect(seconds === 1 || !mayAt(clock.now + (seconds - 1) * 1000)).toBe(true)
            }
            expect(numberIn(response, "x-ratelimit-limit")).toBe(limit)
          }
        }
      ),
      { numRuns: 500 }
    )
  })

  it("refills a bucket to the millisecond", () => {
    const { ask, clock } = serverOf({ minute: "token bucket" }, { perMinute: 7, perDay: 100 })
    for (let n = 0; n < 7; n++) ask("GET", "/v1/pets")
    clock.now += 8571
    expect(ask("GET", "/v1/pets").status).toBe(429)
    clock.now += 1
    expect(ask("GET", "/v1/pets").status).toBe(200)
  })

  it("admits of parallel requests as many as it has, in every decoy", async () => {
    for (const { choices } of decoys) {
      const { requestOf, transport } = serverOf(choices, { perMinute: 7, perDay: 1000 })
      const all = Array.from({ length: 20 }, () => transport(requestOf("GET", "/v1/pets")))
      const answers = await Effect.runPromise(Effect.all(all, { concurrency: "unbounded" }))
      expect(answers.filter(({ status }) => status === 200).length).toBe(7)
      expect(answers.filter(({ status }) => status === 429).length).toBe(13)
    }
  })

  it("admits who waited as told, in every decoy", () => {
    fc.assert(
      fc.property(
        anyDecoy,
        fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 12, maxLength: 40 }),
        ({ choices }, waits) => {
          const { ask, clock } = serverOf(choices, { perMinute: 3, perDay: 10 })
          for (const wait of waits) {
            clock.now += wait
            const refused = ask("GET", "/v1/pets")
            if (refused.status === 200) continue
            const told = Wire.header(refused, "retry-after") ?? ""
            clock.now = /GMT$/.test(told) ? Date.parse(told) : clock.now + Number(told) * 1000
            expect(ask("GET", "/v1/pets").status).toBe(200)
          }
        }
      )
    )
  })

  it("is each key's own or the account's, and a wrong key takes nothing from it", () => {
    for (const [counted, status] of [
      ["per key", 200],
      ["per account", 429]
    ] as const) {
      const { ask } = serverOf({ counted }, { perMinute: 2, perDay: 10 })
      ask("GET", "/v1/pets", { key: "wrong" })
      ask("GET", "/v1/pets", { key: undefined })
      expect([1, 2].map(() => ask("GET", "/v1/pets").status)).toEqual([200, 200])
      expect(ask("GET", "/v1/pets").status).toBe(429)
      expect(ask("GET", "/v1/pets", { key: "other" }).status).toBe(status)
    }
  })

  it("costs 4xx, and refusals, as chosen", () => {
    const spend = (choices: Partial<PlainServer.Choices>) => {
      const { ask } = serverOf(choices, { perMinute: 3, perDay: 10 })
      return [ask("GET", "/v1/pets?limit=0"), ask("GET", "/v1/pets")].map((response) =>
        numberIn(response, "x-ratelimit-remaining")
      )
    }
    expect(spend({ errorsCost: true })).toEqual([2, 1])
    expect(spend({ errorsCost: false })).toEqual([3, 2])

    const afterHammering = (refusalsCost: boolean) => {
      const { ask, clock } = serverOf({ minute: "sliding log", refusalsCost }, { perMinute: 1, perDay: 10 })
      ask("GET", "/v1/pets")
      clock.now += 30_000
      return numberIn(ask("GET", "/v1/pets"), "retry-after")
    }
    expect(afterHammering(false)).toBe(30)
    expect(afterHammering(true)).toBe(60)
  })

  it("shows the chosen window and the chosen moment of reset", () => {
    const shown = (choices: Partial<PlainServer.Choices>, plan = { perMinute: 4, perDay: 100 }) => {
      const { ask, clock } = serverOf(choices, plan)
      clock.now = 60_000_000
      const response = ask("GET", "/v1/pets")
      return [
        numberIn(response, "x-ratelimit-limit"),
        numberIn(response, "x-ratelimit-remaining"),
        numberIn(response, "x-ratelimit-reset") - 60_000
      ]
    }
    expect(shown({})).toEqual([4, 3, 60])
    expect(shown({}, { perMinute: 4, perDay: 2 })).toEqual([2, 1, 26_400])
    expect(shown({ shown: "minute" }, { perMinute: 4, perDay: 2 })).toEqual([4, 3, 60])
    expect(shown({ shown: "day" })).toEqual([100, 99, 26_400])
    expect(shown({ shown: "day", dayZone: 60 })).toEqual([100, 99, 22_800])
    expect(shown({ minute: "token bucket" })).toEqual([4, 3, 60])
    expect(shown({ minute: "token bucket", reset: "all left again" })).toEqual([4, 3, 15])
    expect(shown({ minute: "token bucket", reset: "one more left" })).toEqual([4, 3, 15])
    const second = (reset: PlainServer.Choices["reset"], minute: PlainServer.Algorithm) => {
      const { ask, clock } = serverOf({ minute, reset }, { perMinute: 4, perDay: 100 })
      clock.now = 0
      ask("GET", "/v1/pets")
      clock.now = 10_000
      return numberIn(ask("GET", "/v1/pets"), "x-ratelimit-reset")
    }
    expect(second("window end", "token bucket")).toBe(70)
    expect(second("all left again", "token bucket")).toBe(30)
    expect(second("one more left", "token bucket")).toBe(15)
    expect(second("window end", "sliding log")).toBe(70)
    expect(second("all left again", "sliding log")).toBe(70)
    expect(second("one more left", "sliding log")).toBe(60)
    expect(second("all left again", "window from first use")).toBe(60)

    const { ask, clock } = serverOf({ minute: "window from first use", errorsCost: false })
    clock.now = 0
    ask("GET", "/v1/pets?limit=0")
    clock.now = 30_000
    expect(numberIn(ask("GET", "/v1/pets", { key: "key" }), "x-ratelimit-reset")).toBe(90)
  })

  it("treats callers without key as chosen", () => {
    const statuses = (anonymous: PlainServer.Choices["anonymous"]) => {
      const { ask } = serverOf({ anonymous })
      const answers = Array.from({ length: 61 }, () => ask("GET", "/v1/pets", { key: undefined }))
      return [
        answers.map(({ status }) => status).slice(-2),
        answers.map((answer) => numberIn(answer, "x-ratelimit-remaining")).slice(0, 2),
        answers.map((answer) => numberIn(answer, "x-ratelimit-limit")).at(-1)
      ]
    }
    expect(statuses("counted")).toEqual([[401, 429], [59, 58], 60])
    expect(statuses("not counted")).toEqual([[401, 401], [60, 60], 60])
    expect(statuses("zeros")).toEqual([[401, 401], [0, 0], 0])
  })

  it("tells when to retry in seconds or as a date, with slack", () => {
    const told = (choices: Partial<PlainServer.Choices>) => {
      const { ask } = serverOf(choices, { perMinute: 1, perDay: 10 })
      ask("GET", "/v1/pets")
      return Wire.header(ask("GET", "/v1/pets"), "retry-after")
    }
    expect(told({})).toBe("53")
    expect(told({ slack: 7 })).toBe("60")
    expect(told({ retryAfter: "date" })).toBe("Thu, 04 Mar 2027 05:07:01 GMT")
  })

  it("bans nobody for offences with an admitted request between them", () => {
    const { ask, clock } = serverOf(
      { ban: { after: 2, seconds: 600, status: 403 } },
      { perMinute: 1, perDay: 100 }
    )
    for (let minute = 0; minute < 5; minute++) {
      expect([1, 2, 3].map(() => ask("GET", "/v1/pets").status)).toEqual([200, 429, 429])
      clock.now += 60_000
    }
  })

  it("bans keys only", () => {
    const { ask } = serverOf({ ban: { after: 1, seconds: 600, status: 403 } })
    const answers = Array.from({ length: 70 }, () => ask("GET", "/v1/pets", { key: "wrong" }))
    expect(answers.at(-1)?.status).toBe(429)
    expect(Math.max(...answers.map((answer) => Number(Wire.header(answer, "retry-after") ?? 0)))).toBe(53)
  })

  it("bans who ignores it, as long as chosen, and nobody else", () => {
    for (const status of [403, 429] as const) {
      const { ask, clock } = serverOf(
        { ban: { after: 3, seconds: 600, status } },
        { perMinute: 1, perDay: 100 }
      )
      ask("GET", "/v1/pets")
      const told = [1, 2, 3, 4].map(() => numberIn(ask("GET", "/v1/pets"), "retry-after"))
      expect(told).toEqual([53, 53, 53, 600])
      clock.now += 599_999
      expect(ask("GET", "/v1/pets").status).toBe(status)
      expect(ask("GET", "/v1/pets", { key: "other" }).status).toBe(200)
      clock.now += 1
      expect(ask("GET", "/v1/pets").status).toBe(200)
    }
  })
})

describe("a choice changes what it says", () => {
  const created = (
    choices: Partial<PlainServer.Choices>,
    body: string,
    headers: ReadonlyArray<Header> = []
  ) => serverOf(choices).create(body, headers)

  it("for ids and lists", () => {
    const scene = (choices: Partial<PlainServer.Choices>) => {
      const server = serverOf(choices)
      const ids = ["b", "c", "a"].map((name) =>
        digitsOf(server.create(`{"name":"${name}","categoryId":0}`), "id")
      )
      return [ids.join(" "), names(server.ask("GET", "/v1/pets")).join("")]
    }
    expect(scene({})).toEqual(["1 2 3", "bca"])
    expect(scene({ ids: "in steps" })).toEqual(["1000 2000 3000", "bca"])
    expect(scene({ ids: "negative" })).toEqual(["-1 -2 -3", "acb"])
    expect(scene({ ids: "from 2^53 up" })[0]).toMatch(/^9007199254740993 /)
    expect(scene({ ids: "from 2^63-1 down" })[0]).toMatch(/^9223372036854775807 9223372036854775806 /)
    expect(scene({ ids: "random" })[0]).toMatch(/^\d+ \d+ \d+$/)
    expect(scene({ order: "newest first" })[1]).toBe("acb")
    expect(scene({ order: "by name" })[1]).toBe("abc")
    const orders = (order: PlainServer.Choices["order"]) => {
      const { ask, create } = serverOf({ order })
      for (const name of "abcdefgh") create(`{"name":"${name}","categoryId":0}`)
      return new Set(Array.from({ length: 9 }, () => names(ask("GET", "/v1/pets?limit=8")).join("")))
    }
    expect(orders("by hash").size).toBe(1)
    expect([...orders("by hash")]).not.toEqual(["abcdefgh"])
    expect(orders("shuffled").size).toBeGreaterThan(5)
    for (const order of orders("shuffled")) expect([...order].sort().join("")).toBe("abcdefgh")
  })

  it("for the status of an animal", () => {
    const statusOf = (response: WireResponse) => [
      response.status,
      /"status":("?\w+"?)/.exec(Wire.text(response.body))?.[1]
    ]
    const withNull = '{"name":"Rex","categoryId":1,"status":null}'
    expect(statusOf(created({}, rex))).toEqual([201, '"available"'])
    expect(statusOf(created({ defaultStatus: "pending" }, rex))).toEqual([201, '"pending"'])
    expect(statusOf(created({ defaultStatus: "absent" }, rex))).toEqual([201, undefined])
    expect(statusOf(created({}, withNull))).toEqual([400, "400"])
    expect(statusOf(created({ nullStatus: "as absent" }, withNull))).toEqual([201, '"available"'])
    const { ask, create } = serverOf({ defaultStatus: "absent" })
    create(rex)
    expect(names(ask("GET", "/v1/pets?status=available"))).toEqual([])
    expect(names(ask("GET", "/v1/pets"))).toEqual(["Rex"])
  })

  it("for bodies", () => {
    const named = (name: string) => JSON.stringify({ name, categoryId: 1 })
    const narrow = { names: { minimum: 1, maximum: 3, onlyAscii: true } }
    expect(["", "Rex", "Rexy", "Ré"].map((name) => created({}, named(name)).status)).toEqual([
      201, 201, 201, 201
    ])
    expect(["", "Rex", "Rexy", "Ré"].map((name) => created(narrow, named(name)).status)).toEqual([
      400, 201, 400, 400
    ])
    const extra = '{"name":"Rex","categoryId":1,"colour":"red"}'
    const withId = '{"name":"Rex","categoryId":1,"id":7}'
    expect([extra, withId].map((body) => created({}, body).status)).toEqual([201, 201])
    expect([extra, withId].map((body) => created({ unknownFields: 400 }, body).status)).toEqual([400, 201])
    expect([extra, withId].map((body) => created({ sentId: 400 }, body).status)).toEqual([201, 400])
    expect(digitsOf(created({}, withId), "id")).toBe("1")
    expect(created({ largestBody: rex.length }, rex).status).toBe(201)
    expect(created({ largestBody: rex.length - 1 }, rex).status).toBe(413)
    expect(created({}, rex, [["Content-Type", "text/plain"]]).status).toBe(201)
    expect(created({ contentTypes: 415 }, rex, [["Content-Type", "text/plain"]]).status).toBe(415)
    expect(created({ contentTypes: 415 }, rex).status).toBe(415)
    const type: Header = ["content-type", "Application/JSON; charset=utf-8"]
    expect(created({ contentTypes: 415 }, rex, [type]).status).toBe(201)
  })

  it("for nothing that is no UTF-8 text of a JSON object", () => {
    const { ask, create } = serverOf()
    const cut = Wire.bytes('{"name":"é","categoryId":1}').filter((byte) => byte !== 0xa9)
    expect(ask("POST", "/v1/pets", { body: cut }).status).toBe(400)
    for (const body of [
      "",
      "{",
      "null",
      "1",
      "[]",
      '"Rex"',
      `${rex}x`,
      '{"name":"Rex"}',
      '{"categoryId":1}'
    ]) {
      expect(create(body).status).toBe(400)
    }
    expect(ask("POST", "/v1/pets").status).toBe(400)
  })

  it("for integers, which are exact in any case", () => {
    const categoryOf = (source: string, choices: Partial<PlainServer.Choices> = {}) => {
      const response = created(choices, `{"name":"Rex","categoryId":${source}}`)
      return response.status === 201 ? digitsOf(response, "categoryId") : response.status
    }
    for (const [source, expected] of [
      ["9223372036854775807", "9223372036854775807"],
      ["-9223372036854775808", "-9223372036854775808"],
      ["9223372036854775808", 400],
      ["-9223372036854775809", 400],
      ["9007199254740993", "9007199254740993"],
      ["-0", "0"],
      ["1e999999999", 400],
      ["1e-999999999", 400],
      ["1.5", 400],
      ["9007199254740993.5", 400],
      ['"5"', 400],
      ["true", 400],
      ["null", 400],
      ["[1]", 400],
      ["01", 400],
      [`1${"0".repeat(100_000)}`, 400]
    ] as const) {
      expect(categoryOf(source)).toBe(expected)
      expect(categoryOf(source, { integers: "digits only" })).toBe(expected)
    }
    for (const [source, expected] of [
      ["1.0", "1"],
      ["1e3", "1000"],
      ["-12.50E1", "-125"],
      ["0e999999999", "0"],
      ["0.0000000000000000000001e22", "1"],
      ["9223372036854775807.0", "9223372036854775807"],
      ["922337203685477580.7e1", "9223372036854775807"]
    ] as const) {
      expect(categoryOf(source)).toBe(expected)
      expect(categoryOf(source, { integers: "digits only" })).toBe(400)
    }
  })

  it("for parameters of a list", () => {
    const answer = (choices: Partial<PlainServer.Choices>, query: string) => {
      const { ask, create } = serverOf(choices)
      for (let n = 0; n < 120; n++) create(`{"name":"n${n}","categoryId":0,"status":"sold"}`)
      const response = ask("GET", `/v1/pets?${query}`)
      return response.status === 200 ? names(response).length : response.status
    }
    expect(["", "limit=1", "limit=100"].map((query) => answer({}, query))).toEqual([20, 1, 100])
    const bad = ["limit=0", "limit=101", "limit=-5", "limit=ten", "limit=", "limit=1.5"]
    expect(bad.map((query) => answer({}, query))).toEqual([400, 400, 400, 400, 400, 400])
    expect(bad.map((query) => answer({ badLimit: 422 }, query))).toEqual([422, 422, 422, 422, 422, 422])
    expect(bad.map((query) => answer({ badLimit: "clamped" }, query))).toEqual([1, 100, 1, 20, 20, 20])
    expect(answer({}, "status=lost")).toBe(400)
    expect(answer({ unknownStatus: 422 }, "status=lost")).toBe(422)
    expect(answer({ unknownStatus: "matches nothing" }, "status=lost")).toBe(0)
    expect(answer({}, "colour=red&offset=99")).toBe(20)
    expect(answer({ unknownParameters: 400 }, "colour=red")).toBe(400)
  })

  it("for pages", () => {
    const { ask, create } = serverOf({ paging: "link", unknownParameters: 400 })
    for (let n = 0; n < 5; n++) create(`{"name":"n${n}","categoryId":0,"status":"sold"}`)
    const seen: Array<string> = []
    let next: string | undefined = "/v1/pets?limit=2&status=sold"
    while (next !== undefined) {
      const page = ask("GET", next)
      seen.push(names(page).join(" "))
      next = /^<(.*)>; rel="next"$/.exec(Wire.header(page, "link") ?? "")?.[1]
    }
    expect(seen).toEqual(["n0 n1", "n2 n3", "n4"])
    expect(Wire.header(ask("GET", "/v1/pets?limit=5"), "link")).toBeUndefined()
    expect(Wire.header(serverOf().ask("GET", "/v1/pets"), "link")).toBeUndefined()
  })

  it("for getPet and its removal", () => {
    const { ask } = serverOf()
    expect(ask("GET", "/v1/pets/x").status).toBe(404)
    expect(serverOf({ badPetId: 400 }).ask("GET", "/v1/pets/9223372036854775808").status).toBe(400)
    expect(serverOf({ badPetId: 400 }).ask("GET", "/v1/pets/9223372036854775807").status).toBe(404)
    expect(serverOf({ badPetId: 400 }).ask("GET", "/v1/pets/1/x").status).toBe(404)
    for (const { choices } of decoys) {
      const { ask, clock, create } = serverOf(choices)
      const id = digitsOf(create(rex, [["Content-Type", "application/json"]]), "id")
      const before = ask("GET", `/v1/pets/${id}`)
      expect(Wire.header(before, "sunset") !== undefined).toBe(choices.deprecationHeaders === true)
      const removal = Date.parse(choices.removedAt ?? "2030-12-05T00:00:00Z")
      clock.now = removal - 1
      expect(ask("GET", `/v1/pets/${id}`).status).toBe(200)
      clock.now = removal
      expect(ask("GET", `/v1/pets/${id}`).status).toBe(choices.removed ?? 404)
      expect(ask("GET", "/v1/pets").status).toBe(200)
    }
  })

  it("for keys, paths and methods", () => {
    const status = (
      choices: Partial<PlainServer.Choices>,
      method: string,
      target: string,
      authorization?: string
    ) => {
      const headers: ReadonlyArray<Header> =
        authorization === undefined ? [] : [["authorization", authorization]]
      return serverOf(choices).ask(method, target, { key: undefined, headers }).status
    }
    const wrong = [undefined, "", "Bearer", "Bearer ", "key", "Basic key", "Bearer wrong", "Bearer revoked"]
    for (const credential of wrong) {
      expect(status({}, "GET", "/v1/pets", credential)).toBe(401)
      expect(status({}, "GET", "/v1/nothing", credential)).toBe(401)
      expect(status({ unknownPathWithoutKey: 404 }, "GET", "/v1/nothing", credential)).toBe(404)
      expect(status({ unknownPathWithoutKey: 404 }, "GET", "/v1/pets/1", credential)).toBe(401)
    }
    expect(status({}, "GET", "/v1/pets", "bearer key")).toBe(200)
    expect(status({ scheme: "exact" }, "GET", "/v1/pets", "bearer key")).toBe(401)
    expect(status({ scheme: "exact" }, "GET", "/v1/pets", "Bearer key")).toBe(200)
    const twice: ReadonlyArray<Header> = [["Authorization", "Bearer key"]]
    expect(serverOf().ask("GET", "/v1/pets", { headers: twice, key: "key" }).status).toBe(401)
    const server = serverOf()
    server.ask("POST", "/v1/pets", { key: undefined, body: rex })
    expect(names(server.ask("GET", "/v1/pets"))).toEqual([])

    const methods = ["HEAD", "OPTIONS", "DELETE"]
    const few = { head: 405, options: 405, otherMethods: 404 } as const
    expect(methods.map((method) => status({}, method, "/v1/pets", "Bearer key"))).toEqual([200, 204, 405])
    expect(methods.map((method) => status(few, method, "/v1/pets", "Bearer key"))).toEqual([405, 405, 404])
    expect(Wire.header(server.ask("PUT", "/v1/pets/1"), "allow")).toBe("GET, HEAD, OPTIONS")
    expect(status({}, "GET", "/v1/pets/", "Bearer key")).toBe(404)
    expect(status({ trailingSlash: "tolerated" }, "GET", "/v1/pets/", "Bearer key")).toBe(200)
    expect(status({ trailingSlash: "tolerated" }, "GET", "/v1/pets//", "Bearer key")).toBe(404)
    expect(Wire.header(server.ask("GET", "/", { key: "no" }), "www-authenticate")).toMatch(/^Bearer/)
    const silent = serverOf({ challenge: false }).ask("GET", "/", { key: "no" })
    expect(Wire.header(silent, "www-authenticate")).toBeUndefined()
  })

  it("for writing", () => {
    const error = (choices: Partial<PlainServer.Choices>) => serverOf(choices).ask("GET", "/v1/nothing")
    expect(json(error({}))).toEqual({
      code: "not_found",
      message: "There is no such resource.",
      status: 404
    })
    expect(json(error({ codes: "UPPER", language: "de", errorExtras: { more: 1 } }))).toEqual({
      code: "NOT_FOUND",
      message: "Diese Ressource gibt es nicht.",
      status: 404,
      more: 1
    })
    expect(json(error({ codes: "numbered" }))).toMatchObject({ code: "E404" })
    expect(Wire.header(error({ errorContentType: "a/b" }), "content-type")).toBe("a/b")
    expect(Wire.header(created({ contentType: "a/b" }, rex), "content-type")).toBe("a/b")
    expect(json(created({ petExtras: { weight: 4.5 } }, rex))).toMatchObject({ name: "Rex", weight: 4.5 })
    const odd = '{"name":"Ré\\ud800😀","categoryId":1}'
    const plain = Wire.text(created({}, odd).body)
    expect(plain).toBe('{"id":1,"name":"Ré\\ud800😀","categoryId":1,"status":"available"}')
    const other = Wire.text(created({ json: { space: " ", reversed: true, escaped: true } }, odd).body)
    expect(other).toBe(
      '{ "status": "available" , "categoryId": 1 , "name": "R\\u00e9\\ud800\\ud83d\\ude00" , "id": 1 }'
    )
    expect(JSON.parse(other)).toEqual(JSON.parse(plain))
    const headerNames = (choices: Partial<PlainServer.Choices>) =>
      error(choices).headers.map(([name]) => name)
    expect(headerNames({})).toContain("X-RateLimit-Reset")
    expect(headerNames({ headerNames: "lower" })).toContain("x-ratelimit-reset")
    expect(headerNames({ headerNames: "UPPER" })).toContain("X-RATELIMIT-RESET")
    expect(Wire.header(error({}), "date")).toBe("Thu, 04 Mar 2027 05:06:07 GMT")
    expect(Wire.header(error({ date: false }), "date")).toBeUndefined()
  })
})
