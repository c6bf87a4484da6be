import { describe, expect, it } from "vitest"
import { bytes } from "../http/Wire.ts"
import { rate, wireResponse } from "../http/Wires.fixture.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as SentRequest from "../subjects/SentRequest.ts"
import * as Steps from "./Steps.ts"

const exchange = (index: number, at: number, changes: Partial<Exchange> = {}): Exchange => ({
  index,
  did: "GET /pets?limit=1 (tiny key)",
  request: {
    method: "GET",
    target: "/v1/pets?limit=1",
    headers: [["Authorization", "Bearer tiny-secret"]],
    body: undefined
  },
  response: {
    status: 200,
    headers: [
      ["X-RateLimit-Limit", "5"],
      ["X-RateLimit-Remaining", String(9 - index)],
      ["X-RateLimit-Reset", "60"]
    ],
    body: bytes("[]")
  },
  from: at,
  to: at,
  isAlone: true,
  ...changes
})

const subject = {
  redact: (text: string) => text,
  secrets: { main: "main-secret", tiny: "tiny-secret" },
  target: {
    name: "server",
    transport: () => {
      throw new Error("nothing is sent")
    },
    basePath: "/v1",
    baseUrl: "http://127.0.0.1:3000/v1",
    keys: { main: "main-secret" }
  }
}

const curl = `curl -i -H "Authorization: Bearer $TINY" 'http://127.0.0.1:3000/v1/pets?limit=1'`

describe("Steps.of", () => {
  it("shows the time between steps, what the responses tell of limits, and a command for each request", () => {
    expect(Steps.of([exchange(0, 1_000), exchange(1, 1_600)], subject, true)).toEqual([
      { did: "GET /pets?limit=1 (tiny key)", got: "200, 9 of 5 left, Reset in 59 s []", curl },
      { did: "0.6 s pass", got: "" },
      { did: "GET /pets?limit=1 (tiny key)", got: "200, 8 of 5 left, Reset in 58.4 s []", curl }
    ])
  })

  it("shows only the first and the last of many equal steps", () => {
    const all = Array.from({ length: 9 }, (_, index) => exchange(index, 1_000))
    expect(Steps.of(all, subject, false)).toEqual([
      { did: "GET /pets?limit=1 (tiny key)", got: "200 []", curl },
      { did: "the same 7 more times", got: "", curl: `for i in $(seq 7); do ${curl}; done` },
      { did: "GET /pets?limit=1 (tiny key)", got: "200 []", curl }
    ])
  })

  it("shows where the status changes in a series of equal requests", () => {
    const denied = { response: wireResponse(429) }
    const all = Array.from({ length: 12 }, (_, index) =>
      exchange(index, 1_000, index < 5 || index === 11 ? {} : denied)
    )
    const shown = Steps.of(all, subject, false).map(({ did, got }) => got || did)
    expect(shown).toEqual([
      "200 []",
      "the same 3 more times",
      "200 []",
      "429",
      "the same 4 more times",
      "429",
      "200 []"
    ])
  })

  it("shows a repeated unit of a body once, with its number", () => {
    const response = { status: 200, headers: [], body: bytes(`["${"ab".repeat(30)}"]`) }
    const all = [exchange(0, 0, { response })]
    expect(Steps.of(all, subject, false)[0]?.got).toBe('200 ["‹ab × 30›"]')
    // A key must be redacted first, because its shortened form would not be recognized.
    const redact = (text: string) => text.replaceAll("ab".repeat(30), "‹key:main›")
    expect(Steps.of(all, { ...subject, redact }, false)[0]?.got).toBe('200 ["‹key:main›"]')
  })

  it("shows, of a long list, only the animals that the message names", () => {
    const animal = (id: number) => `{"id":${id},"name":"Rex","categoryId":1}`
    const body = bytes(`[${Array.from({ length: 50 }, (_, index) => animal(index)).join(",")}]`)
    const all = [exchange(0, 0, { response: { status: 200, headers: [], body } })]
    expect(Steps.of(all, subject, false, "animal 7 and animal 9 in the list")[0]?.got).toBe(
      `200 [… ${animal(7)} … ${animal(9)} …] (50 animals)`
    )
    expect(Steps.of(all, subject, false, "at most 20 in the list")[0]?.got).toMatch(/ more characters\) /)
  })

  it("reads only the beginning of a long body", () => {
    const response = { status: 200, headers: [], body: bytes(`["${"word ".repeat(200_000)}"]`) }
    let read = 0
    const redact = (text: string) => {
      read += text.length
      return text
    }
    expect(Steps.of([exchange(0, 0, { response })], { ...subject, redact }, false)[0]?.got).toBe(
      '200 ["‹word  × 3999›… (1000004 bytes)'
    )
    expect(read).toBeLessThan(30_000)
  })

  it("shows a Reset in another unit as sent, and how far away a Retry-After is", () => {
    const now = Date.UTC(2030, 0, 1)
    const limitsOf = (resetAt: number, wait: string) => {
      const headers = [...rate(5, 0, resetAt), ["Retry-After", wait] as const]
      return Steps.of([exchange(0, now, { response: wireResponse(429, headers) })], subject, true)[0]?.got
    }
    expect(limitsOf(now, "86340")).toBe(
      "429, Retry-After 86340 (23 h 59 min), 0 of 5 left, Reset 1893456000000, at the time 1893456000"
    )
    expect(limitsOf(now / 1_000 - 60, "Tue, 01 Jan 2030 00:00:20 GMT")).toBe(
      "429, Retry-After Tue, 01 Jan 2030 00:00:20 GMT (in 20 s), 0 of 5 left, Reset 1 min ago"
    )
    expect(limitsOf(now / 1_000 + 60, "Sat, 01 Jan 2028 00:00:00 GMT")).toMatch(/\(731 days ago\)/)
  })

  it("shows both credentials of a request, in the command, too", () => {
    const credentials = ["Bearer main-secret", "Bearer tiny-secret"].map(
      (value) => ["Authorization", value] as const
    )
    const request = { method: "GET", target: "/v1/pets", headers: credentials, body: undefined }
    const did = SentRequest.describe(request, "/v1", subject.secrets)
    expect(did).toBe("GET /pets (Authorization: Bearer ‹key:main›, Authorization: Bearer ‹key:tiny›)")
    expect(Steps.of([exchange(0, 0, { did, request })], subject, false)[0]?.curl).toBe(
      `curl -i -H "Authorization: Bearer $KEY" -H "Authorization: Bearer $TINY" http://127.0.0.1:3000/v1/pets`
    )
  })

  it("shows why there is no response", () => {
    const lost = exchange(0, 0, { response: undefined, missing: "socket hang up" })
    expect(Steps.of([lost], subject, true)[0]?.got).toBe("no response: socket hang up")
  })
})

describe("Steps.tally", () => {
  it("counts the requests of a long history by operation and status, and by whether Remaining fell", () => {
    const listPets = Array.from({ length: 8 }, (_, index) => exchange(index, 0))
    const creations = Array.from({ length: 6 }, (_, index) =>
      exchange(8 + index, 0, { did: "POST /pets", response: wireResponse(201, rate(5, 2, 60)) })
    )
    const operationOf = ({ did }: Exchange) => (did === "POST /pets" ? "createPet" : "listPets")
    expect(Steps.tally([...listPets, ...creations.slice(1)], operationOf)).toBe(
      "8 listPets (8 × 200), 5 createPet (5 × 201 without lowering Remaining)"
    )
    expect(Steps.tally(listPets, operationOf)).toBeUndefined()
  })
})
