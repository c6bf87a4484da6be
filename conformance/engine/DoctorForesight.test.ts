import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { bytes, type Header, text, type WireRequest, type WireResponse } from "../http/Wire.ts"
import { rate, wireResponse } from "../http/Wires.fixture.ts"
import type { Choices } from "../selftest/plain/Choices.ts"
import * as PlainServer from "../selftest/plain/PlainServer.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as Doctor from "./Doctor.ts"

const NOON = Date.UTC(2027, 0, 1, 12)

const run = Effect.runPromise

const keys = {
  main: "main-secret-0123456789",
  tiny: { secret: "tiny-secret-0123456789", perMinute: 5, perDay: 40 },
  victim: { secret: "victim-secret-0123456789", perMinute: 3, perDay: 1_000 }
}

const clockOf = (now: () => number, advance: (ms: number) => number): HttpSubject.HttpTarget["clock"] => ({
  now: Effect.sync(now),
  advance: (ms) => Effect.sync(() => advance(ms))
})

/** Returns the findings of the doctor, or its error as text, for a server that shares no code with ours. */
const examinePlain = async (
  choices: Partial<Choices>,
  changes: {
    readonly animals?: number
    readonly alter?: (response: WireResponse, request: WireRequest) => WireResponse
    readonly declared?: HttpSubject.HttpTarget["declared"]
    readonly clock?: "of another server"
    readonly startTime?: number
  } = {}
): Promise<ReadonlyArray<string> | string> => {
  const { alter = (response) => response } = changes
  let now = changes.startTime ?? NOON
  let otherTime = NOON
  const transport = PlainServer.make({
    keys: [{ secret: keys.main, perMinute: 60, perDay: 100_000 }, keys.tiny, keys.victim],
    now: () => now,
    choices
  })
  const json = '{"name":"Old","categoryId":1}'
  const subject = await run(
    HttpSubject.make({
      name: "plain",
      transport: (request) => Effect.map(transport(request), (response) => alter(response, request)),
      basePath: "/v1",
      baseUrl: "http://127.0.0.1:3000/v1",
      keys,
      declared: changes.declared,
      clock:
        changes.clock === undefined
          ? clockOf(
              () => now,
              (ms) => {
                now += ms
                return now
              }
            )
          : clockOf(
              () => otherTime,
              (ms) => {
                otherTime += ms
                return otherTime
              }
            )
    })
  )
  const headers: ReadonlyArray<Header> = [["Authorization", `Bearer ${keys.main}`]]
  for (let count = 0; count < (changes.animals ?? 0); count++) {
    await run(transport({ method: "POST", target: "/v1/pets", headers, body: bytes(json) }))
    now += 2_000
  }
  return run(
    Effect.match(Doctor.examine(subject, { level: "spec" }), {
      onSuccess: (findings) => findings,
      onFailure: (failure) => `${failure._tag}: ${failure.message}`
    })
  )
}

/** Replaces `Date` with the machine's time, which most HTTP implementations send. */
const dateOfMachine = (response: WireResponse): WireResponse => ({
  ...response,
  headers: [
    ...response.headers.filter(([name]) => name !== "Date"),
    ["Date", new Date(1_600_000_000_000).toUTCString()]
  ]
})

describe("Doctor.examine with a clock", () => {
  const algorithms: ReadonlyArray<Partial<Choices>> = [
    ...(["clock window", "token bucket", "window from first use", "sliding log"] as const).flatMap((minute) =>
      (["least remaining", "minute", "day"] as const).map((shown) => ({ minute, shown }))
    ),
    { minute: "token bucket", reset: "all left again" },
    { minute: "sliding log", day: "sliding log", reset: "one more left", shown: "day" },
    { day: "window from first use", shown: "day" }
  ]

  it.each(algorithms)(
    "accepts a clock that moves X-RateLimit-Reset, whatever Date shows, on a server with %o",
    async (choices) => {
      for (const startTime of [NOON, NOON + 59_999, Date.UTC(2027, 0, 1, 23, 59, 59)]) {
        for (const alter of [undefined, dateOfMachine]) {
          const findings = await examinePlain(choices, { startTime, ...(alter && { alter }) })
          expect([findings].flat().join("\n")).toContain("the clock can be moved, and shows ")
        }
      }
    }
  )

  it.each(algorithms)(
    "rejects a clock that moves no time in the responses of a server with %o",
    async (choices) => {
      const findings = await examinePlain(choices, { clock: "of another server", alter: dateOfMachine })
      expect(findings).toMatch(/^SetupError: the clock .* it belongs to another server$/)
    }
  )
})

describe("Doctor.examine", () => {
  it("reports a finding, not a set-up error, if an empty list gets 404", async () => {
    const findings = await examinePlain(
      {},
      {
        alter: (response, { method }) =>
          method === "GET" && text(response.body) === "[]" ? { ...response, status: 404 } : response
      }
    )
    expect(findings).toContain("a list without animals returns status 404: the checks give details")
  })
  it("suggests --category if the server rejects a category", async () => {
    const alter = (response: WireResponse, { body }: WireRequest): WireResponse =>
      /"categoryId":[^1]/.test(text(body ?? bytes(""))) || text(body ?? bytes("")).includes("777777")
        ? wireResponse(400, rate(60, 59, 2_000_000_000), '{"code":"c","message":"m","status":400}')
        : response
    const findings = await examinePlain({}, { alter })
    expect(findings).toMatch(/^SetupError: the server rejects the creation .*777777.*\(--category\)$/)
    expect(await examinePlain({}, { alter, declared: { categories: [1n] } })).toContain(
      "animals can be created"
    )
  })

  it("suggests a restart and an empty store if an earlier run left a late time and many animals behind", async () => {
    const afterRun = await examinePlain({}, { startTime: Date.UTC(2031, 0, 1), animals: 99 })
    expect([afterRun].flat().join("\n")).toMatch(
      /after the removal of GET .*: restart the server before each run/
    )
    expect([afterRun].flat().join("\n")).toMatch(/100 animals or more.*: start with an empty store/)
    const initial = await examinePlain({})
    expect([initial].flat().join("\n")).not.toMatch(/start/)
  })
})
