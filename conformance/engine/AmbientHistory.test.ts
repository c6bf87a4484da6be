import { describe, expect, it } from "vitest"
import { overHistory } from "../checks/AmbientCheck.ts"
import { Violation } from "../evaluation/Outcome.ts"
import type { Exchange } from "../http/Exchange.ts"
import { wireResponse } from "../http/Wires.fixture.ts"
import { examineExchanges } from "./Ambient.ts"
import * as Toys from "./Toys.fixture.ts"

const exchange = (index: number, status: number): Exchange => ({
  index,
  key: index % 2 === 0 ? "main" : "tiny",
  did: `request ${index}`,
  request: { method: "GET", target: "/v1/pets", headers: [], body: undefined },
  response: wireResponse(status),
  sentAt: index,
  receivedAt: index,
  isAlone: true
})

/** A check with the law that no status occurs twice in a run. It ignores statuses of 500 and above. */
const distinctStatuses = {
  ...overHistory({
    id: "history.distinct",
    law: "No status occurs twice.",
    clauses: ["list.array"],
    inapplicable: (exchanges) => (exchanges[0]?.response.status === 500 ? "the first is 500" : undefined),
    begin: () => {
      const seen = new Set<number>()
      return ({ response: { status } }) => {
        if (status >= 500) return undefined
        const violation = seen.has(status)
          ? new Violation({ expected: "another", actual: `${status}` })
          : undefined
        seen.add(status)
        return { violation }
      }
    }
  }),
  level: "spec"
} as const

const examine = (...statuses: ReadonlyArray<number>) =>
  examineExchanges(
    distinctStatuses,
    Toys.subject({ kind: "http", exchanges: statuses.map((status, index) => exchange(index, status)) })
  )

describe("Ambient.examineExchanges with a law over the whole run", () => {
  it("compares the exchanges of all keys in one run, but not the exchanges of different runs", () => {
    expect(examine(200, 404, 201).status).toBe("pass")
    const twice = examine(200, 404, 404, 200)
    expect(twice).toMatchObject({
      status: "fail",
      reason: "expected another, got 404 (in 2 of 4 exchanges)",
      runs: { executed: 4 }
    })
    expect(twice.counterexample?.steps.at(-1)?.did).toBe("request 2")
    expect(examine(200, 404, 201).status).toBe("pass")
  })

  it("returns inconclusive if the law applies to no exchange, or not applicable if the check gives a reason", () => {
    expect(examine(503).status).toBe("inconclusive")
    expect(examine(500)).toMatchObject({ status: "not-applicable", reason: "the first is 500" })
    expect(examine(500, 200, 200).status).toBe("fail")
  })
})
