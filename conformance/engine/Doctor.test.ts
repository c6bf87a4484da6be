import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { type Header, headerValues, NoResponse, type WireRequest, type WireResponse } from "../http/Wire.ts"
import { rate, wireResponse } from "../http/Wires.fixture.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as Doctor from "./Doctor.ts"
import * as Selection from "./Selection.ts"

const NOON = Date.UTC(2027, 0, 1, 12)

const run = Effect.runPromise

interface Changes {
  /** Overrides a response of the correct server; `undefined` keeps the correct response. */
  readonly respond?: (request: WireRequest, key: string) => WireResponse | undefined
  readonly target?: Partial<HttpSubject.HttpTarget>
  readonly clock?: HttpSubject.HttpTarget["clock"] | "none"
  readonly options?: Selection.SelectionOptions
}

const keys = {
  main: "main-secret-0123456789",
  tiny: { secret: "tiny-secret-0123456789", perMinute: 5, perDay: 40 },
  victim: { secret: "victim-secret-0123456789", perMinute: 3, perDay: 1_000 },
  revoked: "revoked-secret-0123456789"
}

const limits: Readonly<Record<string, number>> = {
  [keys.main]: 60,
  [keys.tiny.secret]: 5,
  [keys.victim.secret]: 3
}

/** Runs the doctor on a correct server with the given changes; returns its findings, or its error as text. */
const examine = async ({
  clock,
  options = {},
  respond,
  target = {}
}: Changes = {}): Promise<ReadonlyArray<string> | string> => {
  let now = NOON
  const correctClock: HttpSubject.HttpTarget["clock"] = {
    now: Effect.sync(() => now),
    advance: (ms) =>
      Effect.sync(() => {
        now += ms
        return now
      })
  }
  const respondCorrectly = (method: string, key: string): WireResponse => {
    const limit = limits[key]
    const date: Header = ["Date", new Date(clock === "none" ? Date.now() : now).toUTCString()]
    const reset = Math.floor(now / 1_000) + 60
    return limit === undefined
      ? wireResponse(401, [date, ...rate(60, 59, reset)], "{}")
      : wireResponse(method === "POST" ? 201 : 200, [date, ...rate(limit, limit - 1, reset)], "[]")
  }
  const subject = HttpSubject.make({
    name: "toy",
    transport: (request) =>
      Effect.sync(() => {
        const key = headerValues(request, "authorization")[0]?.replace("Bearer ", "") ?? ""
        return respond?.(request, key) ?? respondCorrectly(request.method, key)
      }),
    basePath: "/v1",
    baseUrl: "http://127.0.0.1:3000/v1",
    keys,
    clock: clock === "none" ? undefined : (clock ?? correctClock),
    ...target
  })
  return run(
    Effect.fromResult(Selection.of(subject, options)).pipe(
      Effect.flatMap((selection) => Doctor.examine(subject, selection)),
      Effect.match({
        onSuccess: ({ lines }) => lines,
        onFailure: (failure) => `${failure._tag}: ${failure.message}`
      })
    )
  )
}

const clockOf = (now: () => number, advance: (ms: number) => number): HttpSubject.HttpTarget["clock"] => ({
  now: Effect.sync(now),
  advance: (ms) => Effect.sync(() => advance(ms))
})

describe("Doctor.examine with a correct set-up", () => {
  it("reports address, limits, creation, wrong key, clock, keys and cost, one finding per line", async () => {
    const findings = await examine()
    expect(findings).toEqual([
      expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:3000\/v1 responds in [0-9]+ ms and accepts the main key$/
      ),
      "the main key's X-RateLimit-Limit is 60, 59 left",
      "animals can be created",
      "a wrong key is rejected with 401",
      "the clock can be moved, and shows 2027-01-01T12:03:31.000Z",
      "the tiny key is on the declared plan: 5 requests per minute and 40 per day",
      "the victim key is on the declared plan: 3 requests per minute and 1000 per day",
      expect.stringMatching(/^[1-9][0-9]* checks at level spec, about [1-9][0-9]* requests and [0-9]+ s$/)
    ])
  })

  it("reports that a small day may not suffice without a clock, and a budget that is too small", async () => {
    const findings = await examine({ clock: "none", target: { budget: { requests: 100 } } })
    expect(findings).toContainEqual(
      expect.stringMatching(/^without a clock .* the tiny key's 40 requests per day may not suffice/)
    )
    expect(findings).toContainEqual(expect.stringMatching(/requests and \d+ s, more than the budget/))
  })

  it("reports the number of checks that stay inconclusive without a clock and small keys, with the reasons", async () => {
    const findings = await examine({ clock: "none", target: { keys: { main: keys.main } } })
    const lines = typeof findings === "string" ? [findings] : findings
    expect(lines.join("\n")).toMatch(/some checks of .* will stay inconclusive: .*--clock URL/)
    expect(lines.join("\n")).toMatch(/some checks of .* will stay inconclusive: .*--tiny KEY/)
    expect(lines.join("\n")).not.toContain("undefined")
  })

  it("reports the number of selected checks", async () => {
    const countChecks = async (options: Selection.SelectionOptions) => {
      const findings = await examine({ options })
      return Number(/^([0-9]+) checks at level/m.exec([findings].flat().join("\n"))?.[1])
    }
    const all = await countChecks({})
    const auth = await countChecks({ only: ["auth"] })
    expect(auth).toBeGreaterThan(0)
    expect(auth).toBeLessThan(all)
    expect(await countChecks({ exclude: ["auth"] })).toBe(all - auth)
    expect(await countChecks({ level: "design" })).toBeGreaterThan(all)
    const one = await examine({ options: { only: ["list.array"] } })
    expect([one].flat().at(-1)).toMatch(/^1 check at level spec/)
  })

  it("accepts an exhausted main key, missing rate and Date headers, and any status for a wrong key", async () => {
    const exhausted = await examine({ respond: () => wireResponse(429, [["Retry-After", "9"]], "{}") })
    expect(exhausted).toContain(
      "the main key's limits are unknown: X-RateLimit-* are missing or not whole numbers"
    )
    expect(exhausted).toContain("a wrong key gets status 429: the report gives details")
    const acceptingAll = await examine({ respond: () => wireResponse(200, [], "[]"), clock: "none" })
    expect(acceptingAll).toContain("a wrong key gets status 200: the report gives details")
  })

  it("accepts a clock that also advances by itself", async () => {
    let offset = 5_000
    const running = clockOf(
      () => Date.now() + offset,
      (ms) => {
        offset += ms
        return Date.now() + offset
      }
    )
    const findings = await examine({
      clock: running,
      respond: (_request, key) =>
        key in limits
          ? wireResponse(200, rate(60, 59, Math.floor((Date.now() + offset) / 1_000) + 60), "[]")
          : wireResponse(401)
    })
    expect([findings].flat().join("\n")).toContain("the clock can be moved, and shows ")
  })

  it("accepts the daily limit in X-RateLimit-Limit as a confirmation of a key's plan", async () => {
    const byDay = await examine({
      respond: (_request, key) =>
        key === keys.tiny.secret ? wireResponse(200, rate(40, 39, 2_000_000_000), "[]") : undefined
    })
    expect(byDay).toContain("the tiny key is on the declared plan: 5 requests per minute and 40 per day")
  })
})

describe("a response that cannot be read completely", () => {
  it("is reported as a finding, not as a set-up error, so that the run continues", async () => {
    const reason = "the body is longer than 1 MB"
    const lines = await examine({
      target: { transport: () => Effect.fail(new NoResponse({ kind: "excess", reason, hasBegun: true })) }
    })
    expect(lines[0]).toBe("a response cannot be read: the body is longer than 1 MB; the report gives details")
    expect(lines[1]).toMatch(/^\d+ checks at level spec/)
  })
})

describe("Doctor.examine with an invalid set-up", () => {
  const setupErrors: ReadonlyArray<readonly [string, Changes, string]> = [
    [
      "no server listens",
      {
        target: {
          transport: () =>
            Effect.fail(new NoResponse({ kind: "connection", reason: "connect ECONNREFUSED 127.0.0.1:3000" }))
        }
      },
      "cannot reach http://127.0.0.1:3000/v1: connect ECONNREFUSED 127.0.0.1:3000"
    ],
    [
      "the main key is rejected",
      { respond: (_request, key) => (key === keys.main ? wireResponse(401) : undefined) },
      "the server rejects the main key (--key) with status 401"
    ],
    [
      "the address is not the base address",
      { respond: () => wireResponse(404) },
      "GET /v1/pets returns 404: the address (--url) must be the base address, such as http://127.0.0.1:3000/v1"
    ],
    [
      "the server responds with status 500",
      { respond: () => wireResponse(500, [], "<h1>oops</h1>") },
      'GET /v1/pets with the main key returns status 500: "<h1>oops</h1>"'
    ],
    [
      "the server redirects",
      { respond: () => wireResponse(301) },
      'GET /v1/pets with the main key returns status 301: ""'
    ],
    [
      "the clock fails",
      {
        clock: {
          now: Effect.succeed(NOON),
          advance: () => Effect.fail(new NoResponse({ kind: "connection", reason: "socket hang up" }))
        }
      },
      "the clock (--clock) does not work: socket hang up"
    ],
    [
      "the clock moves by less than requested",
      {
        clock: clockOf(
          () => NOON,
          (ms) => NOON + ms - 1
        )
      },
      "the clock (--clock) does not work: the clock was advanced by 61000 ms but moved by 60999 ms"
    ],
    [
      "the clock belongs to another server",
      {
        clock: clockOf(
          () => 0,
          (ms) => ms
        )
      },
      "the clock (--clock) does not work: it was advanced by 3 days, but the server's X-RateLimit-Reset hardly moved: it belongs to another server, or X-RateLimit-Reset does not follow the time (§8.3), which a run without a clock shows"
    ],
    [
      "the tiny key is rejected",
      { respond: (_request, key) => (key === keys.tiny.secret ? wireResponse(401) : undefined) },
      "the server rejects the key given with --tiny with status 401"
    ],
    [
      "the tiny key is on another plan",
      { target: { keys: { ...keys, tiny: { ...keys.tiny, perMinute: 6 } } } },
      "the key given with --tiny is not on the declared plan: its X-RateLimit-Limit is 5, but 6 requests per minute and 40 per day are declared"
    ],
    [
      "the main key is also given as the tiny key",
      { target: { keys: { ...keys, tiny: { ...keys.tiny, secret: keys.main } } } },
      "the key given with --tiny is also given for another purpose: each purpose needs its own key"
    ],
    [
      "the revoked key is also given as the expired key",
      { target: { keys: { ...keys, expired: keys.revoked } } },
      "the key given with --expired is also given for another purpose: each purpose needs its own key"
    ]
  ]
  it.each(setupErrors)("reports in one sentence that %s", async (_what, changes, sentence) => {
    expect(await examine(changes)).toBe(`SetupError: ${sentence}`)
  })

  it("rejects a key that is given twice before it sends a request", async () => {
    let sent = 0
    await examine({
      respond: () => {
        sent++
        return undefined
      },
      target: { keys: { ...keys, revoked: keys.main } }
    })
    expect(sent).toBe(0)
  })
})

describe("findings of the doctor", () => {
  const given = [keys.main, keys.tiny.secret, keys.victim.secret, keys.revoked]

  it.each([
    ...[200, 301, 400, 401, 404, 429, 500].map((status) => ({ status, correct: 0 })),
    ...[1, 2, 3, 4, 5].map((correct) => ({ status: 500, correct }))
  ])(
    "contain no key if a server returns keys with status $status after $correct correct responses",
    async ({ correct, status }) => {
      let count = 0
      const result = await examine({
        respond: ({ headers }) =>
          count++ < correct
            ? undefined
            : wireResponse(
                status,
                [["Date", given.join(" ")]],
                `no ${headers.flat().join(" ")} ${given.join(" ")}`
              )
      })
      for (const key of given) expect([result].flat().join("\n")).not.toContain(key)
    }
  )

  it("contain no key if the reason for a lost connection contains it", async () => {
    const findings = await examine({
      target: {
        transport: () =>
          Effect.fail(new NoResponse({ kind: "connection", reason: `bad header: Bearer ${keys.main}` }))
      }
    })
    expect([findings].flat().join("\n")).not.toContain(keys.main)
  })
})

describe("Doctor.examine on a server that accepts any key", () => {
  it("reports findings instead of a set-up error if all keys have the same limits", async () => {
    const findings = await examine({
      clock: "none",
      respond: ({ method }) => wireResponse(method === "POST" ? 201 : 200, rate(60, 59, 2_000_000_000), "[]")
    })
    expect(findings).toContain("a wrong key gets status 200: the report gives details")
    expect(findings).toContain(
      "the tiny key's X-RateLimit-Limit is 60, but 5 requests per minute and 40 per day are declared"
    )
  })
})
