import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { serve } from "../http/RawServer.fixture.ts"
import { wireResponse } from "../http/Wires.fixture.ts"
import type { Exchange, Violation } from "../model/Exchange.ts"
import { creation, exchangesOf, judgeHistory, list, onResponses } from "../model/History.fixture.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import * as Hints from "./Hints.ts"

const target = { name: "server", transport: () => Effect.never, basePath: "/v1", baseUrl: undefined }

const added = (
  violation: Violation,
  all: ReadonlyArray<Exchange> = [],
  transport: Parameters<typeof Hints.added>[2]["transport"] = target.transport
) =>
  Effect.runPromise(
    Hints.added(
      { violation, exchanges: violation.evidence },
      all,
      { ...target, transport, keys: { main: "main" } },
      (again) => (again[0]?.response?.status === 200 ? [violation] : [])
    )
  )

describe("Hints.added", () => {
  it.each([
    [true, "200: but not when the request is sent again by itself"],
    [false, "200"]
  ])("tells whether the violation depends on what came before: %s", async (isOnce, actual) => {
    const known = new WeakSet<Socket>()
    const { transport } = await serve((request, socket) => {
      if (request.includes("Bearer main") || !isOnce) known.add(socket)
      return `HTTP/1.1 ${known.has(socket) ? 200 : 401} OK\r\nContent-Length: 2\r\n\r\n[]`
    })
    const [only] = exchangesOf({}, [{ authorization: null }])
    if (only === undefined) throw new Error("there is one exchange")
    const evidence = [{ ...only, response: wireResponse(200, [], "[]") }]
    const violation = { clause: "auth.required", expected: "401", actual: "200", evidence } as const
    expect((await added(violation, evidence, transport)).violation.actual).toBe(actual)
  })

  it("shows the same request before a creation that its list lacks, if the response is the same", async () => {
    const stale = { fault: onResponses((method) => method === "GET", Edit.body("[]")) }
    const history = [list, { path: "/pets?limit=2" }, creation("Rex"), list]
    const all = exchangesOf(stale, history)
    const [violation] = judgeHistory(stale, history).violations
    if (violation === undefined) throw new Error("the list lacks an animal")
    const shown = await added(violation, all)
    expect(shown.exchanges.map(({ index }) => index)).toEqual([0, 2, 3])
    expect(shown.violation.actual).toMatch(/: the same response as in step 1$/)
    expect((await added(violation, all.slice(1))).violation).toEqual(violation)
  })
})
