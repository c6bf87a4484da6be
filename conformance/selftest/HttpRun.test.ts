import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { describe, expect, it } from "vitest"
import * as HttpRun from "../engine/HttpRun.ts"
import type * as Run from "../engine/Run.ts"
import { bytes, type Transport, text, type WireRequest, type WireResponse } from "../http/Wire.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PlainServer from "./plain/PlainServer.ts"
import * as Edit from "./spoilers/Edit.ts"
import * as Requests from "./spoilers/Requests.ts"

const keys = {
  main: "main-secret-0123456789",
  tiny: { secret: "tiny-secret-0123456789", perMinute: 5, perDay: 40 },
  victim: { secret: "victim-secret-0123456789", perMinute: 3, perDay: 10_000 }
}

/** Starts a correct server with a clock, and returns a function that runs the suite on it, with a changed transport. */
const serverFor = () => {
  let now = Date.UTC(2027, 0, 1, 12)
  const advance = (ms: number) => {
    now += ms
    return now
  }
  const correct = PlainServer.make({
    keys: [{ secret: keys.main, perMinute: 100_000, perDay: 10_000_000 }, keys.tiny, keys.victim],
    now: () => now,
    choices: {}
  })
  return (
    options: Partial<Run.RunOptions> = {},
    spoil: (real: Transport) => Transport = (real) => real,
    declared?: HttpSubject.HttpTarget["declared"]
  ) =>
    Effect.gen(function* () {
      const subject = yield* HttpSubject.make({
        name: "plain",
        transport: spoil(correct),
        basePath: "/v1",
        baseUrl: "http://127.0.0.1:3000/v1",
        keys,
        clock: { now: Effect.sync(() => now), advance: (ms) => Effect.sync(() => advance(ms)) },
        declared
      })
      return yield* HttpRun.run(subject, { level: "spec", seed: 1, ...options })
    }).pipe(Random.withSeed(options.seed ?? 1), Effect.runPromise)
}

const changeResponses =
  (change: (response: WireResponse, request: WireRequest) => WireResponse) =>
  (real: Transport): Transport =>
  (request) =>
    Effect.map(real(request), (response) => change(response, request))

const emptyListAs = (status: number, body: string) =>
  changeResponses((response, request) =>
    Requests.isList(request) && text(response.body) === "[]"
      ? { ...response, status, body: bytes(body) }
      : response
  )

const errorBody = (status: number): string => `{"code":"failed","message":"It failed.","status":${status}}`

describe("HttpRun.run", () => {
  const servers: ReadonlyArray<{
    readonly what: string
    readonly spoil: (real: Transport) => Transport
    readonly only: ReadonlyArray<string>
    readonly clause: string
    readonly declared?: HttpSubject.HttpTarget["declared"]
  }> = [
    {
      what: "returns 404 for an empty list",
      spoil: emptyListAs(404, errorBody(404)),
      only: ["core"],
      clause: "list.status-200"
    },
    {
      what: "returns 204 for an empty list",
      spoil: emptyListAs(204, ""),
      only: ["core"],
      clause: "list.status-200"
    },
    {
      what: "returns 500 for an empty list",
      spoil: emptyListAs(500, errorBody(500)),
      only: ["core"],
      clause: "errors.no-5xx"
    },
    {
      what: "accepts any token",
      spoil: (real) => (request) =>
        real(Requests.credentials(request).length === 0 ? request : Requests.withKey(request, keys.main)),
      only: ["auth"],
      clause: "auth.invalid"
    },
    {
      what: "rejects creations with the declared category",
      spoil: changeResponses((response, request) =>
        Requests.isCreation(request) ? Edit.error(400, "invalid_body")(response) : response
      ),
      only: ["core"],
      clause: "create.status-201",
      declared: { categories: [1n] }
    },
    {
      what: "shows each key a limit that is one too high",
      spoil: changeResponses((response) => {
        const limit = response.headers.find(([name]) => name === "X-RateLimit-Limit")?.[1]
        return limit === undefined
          ? response
          : Edit.header("X-RateLimit-Limit", String(Number(limit) + 1))(response)
      }),
      only: ["limits"],
      clause: "limits.plan-in-force"
    }
  ]

  it.each(servers)(
    "reports the broken clause, not a set-up error, for a server that $what",
    async ({ clause, declared, only, spoil }) => {
      const report = await serverFor()({ only }, spoil, declared)
      expect(report.exitCode).toBe(1)
      expect(report.clauses.filter(({ status }) => status === "fail").map(({ slug }) => slug)).toContain(
        clause
      )
      expect(JSON.stringify(report.checks)).not.toContain("declare them with --category")
    }
  )
})

describe("a second run on the same server", () => {
  it("decides as many checks as the doctor announces, and claims no profile with a check that it cannot decide", async () => {
    const run = serverFor()
    const first = await run()
    expect(first.verdict).toBe("conformant")
    expect(first.claims).toEqual(["core", "auth", "limits", "concurrency", "ban", "deprecation"])
    const second = await run({ seed: 2 })
    expect(second.verdict).toBe("inconclusive")
    expect(second.claims).toEqual(["auth", "concurrency", "ban"])
    for (const { counts, findings } of [first, second]) {
      const announced = findings.flatMap((line) => /^(\d+) checks at level/.exec(line)?.[1] ?? [])
      expect(announced).toEqual([String(counts.pass)])
    }
  }, 120_000)
})
