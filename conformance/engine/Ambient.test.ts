import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { AmbientCheck, Look } from "../checks/AmbientCheck.ts"
import { ambientChecks as checks } from "../checks/Checks.ts"
import { Violation } from "../evaluation/Outcome.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import { wireResponse } from "../http/Wires.fixture.ts"
import { examineExchanges } from "./Ambient.ts"
import * as Toys from "./Toys.fixture.ts"

/** The key of an exchange; `+` means that other exchanges were in flight at the same time. */
type KeyLabel = KeyName | `${KeyName}+`

const exchangesOf = (...keys: ReadonlyArray<KeyLabel>): ReadonlyArray<Exchange> =>
  keys.map((label, index) => ({
    index,
    // Safe: the name without its mark is a `KeyName`.
    key: label.replace("+", "") as KeyName,
    request: { method: "GET", target: `/v1/${index}`, headers: [], body: undefined },
    response: wireResponse(200 + index),
    sentAt: index,
    receivedAt: index,
    isAlone: !label.endsWith("+")
  }))

const examineToy = (
  exchanges: ReadonlyArray<Exchange>,
  examine: AmbientCheck["examine"],
  isAbout: AmbientCheck["isAbout"] = () => true
) =>
  examineExchanges(
    { id: "every.toy", law: "nothing is wrong", clauses: ["errors.body"], level: "spec", isAbout, examine },
    Toys.subject({ kind: "http", exchanges, basePath: "/v1" })
  )

/** Returns, for each exchange, the index of the previous exchange that the check gets. */
const previousOf = (...keys: ReadonlyArray<KeyLabel>): ReadonlyArray<number | undefined> => {
  const seen: Array<number | undefined> = []
  examineToy(exchangesOf(...keys), (_exchange, previous) => {
    seen.push(previous?.index)
    return undefined
  })
  return seen
}

const violation = new Violation({ expected: "yes", actual: "no" })

describe("Ambient.examineExchanges", () => {
  it("gives the check the previous exchange of the key if both were alone and no made-up credential came between", () => {
    expect(previousOf("main", "main", "tiny", "main", "tiny")).toEqual([undefined, 0, undefined, 1, 2])
    expect(previousOf("main", "main+", "main", "main")).toEqual([undefined, undefined, undefined, 2])
    expect(previousOf("main", "other", "main", "main")).toEqual([undefined, undefined, undefined, 2])
    expect(previousOf("main", "none", "main")).toEqual([undefined, undefined, 0])
  })

  it("gives the check all earlier exchanges of the same key", () => {
    const seen: Array<ReadonlyArray<number>> = []
    examineToy(exchangesOf("main", "tiny", "main+", "main"), (_exchange, _previous, history) => {
      seen.push(history.map(({ index }) => index))
      return undefined
    })
    expect(seen).toEqual([[], [], [0], [0, 2]])
  })

  it("returns pass if no exchange violates the law; inconclusive if nothing was sent", () => {
    expect(examineToy(exchangesOf("main", "main"), () => undefined)).toMatchObject({
      status: "pass",
      reason: undefined,
      runs: { planned: 2, executed: 2, decided: 2 },
      counterexample: undefined
    })
    expect(examineToy([], () => violation)).toMatchObject({
      status: "inconclusive",
      reason: "nothing was sent",
      runs: { decided: 0 }
    })
  })

  it("examines only exchanges to which the law applies; returns inconclusive without such an exchange", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<KeyLabel>("main", "main+", "tiny", "other")),
        fc.func(fc.boolean()),
        fc.func(fc.boolean()),
        (keys, applies, isViolated) => {
          const seen: Array<number> = []
          const exchanges = exchangesOf(...keys)
          const { reason, runs, status } = examineToy(
            exchanges,
            ({ index }) => {
              seen.push(index)
              return isViolated(index) ? violation : undefined
            },
            ({ index }) => applies(index)
          )
          const applicable = exchanges.map(({ index }) => index).filter((index) => applies(index))
          expect(seen).toEqual(applicable)
          expect(runs).toEqual({
            planned: keys.length,
            executed: applicable.length,
            decided: applicable.length
          })
          const expectedStatus = applicable.some((index) => isViolated(index)) ? "fail" : "pass"
          expect(status).toBe(applicable.length === 0 ? "inconclusive" : expectedStatus)
          if (keys.length > 0 && applicable.length === 0) {
            expect(reason).toBe("the law applied to no exchange of the run")
          }
        }
      )
    )
  })

  it("calls `isAbout` and `examine` with the same arguments", () => {
    const isAboutCalls: Array<ReadonlyArray<number | undefined>> = []
    const examineCalls: Array<ReadonlyArray<number | undefined>> = []
    const recordIn =
      (calls: typeof isAboutCalls): Look<void> =>
      ({ index }, previous, history) =>
        void calls.push([index, previous?.index, ...history.map((earlier) => earlier.index)])
    examineToy(
      exchangesOf("main", "tiny", "main+", "main", "main"),
      (...call) => {
        recordIn(examineCalls)(...call)
        return undefined
      },
      (...call) => {
        recordIn(isAboutCalls)(...call)
        return true
      }
    )
    expect(isAboutCalls).toEqual(examineCalls)
    expect(examineCalls.at(-1)).toEqual([4, 3, 0, 2, 3])
  })

  it("gives the check the previous exchange even if the law does not apply to it", () => {
    const seen: Array<number | undefined> = []
    examineToy(
      exchangesOf("main", "main"),
      (_exchange, previous) => {
        seen.push(previous?.index)
        return undefined
      },
      ({ index }) => index === 1
    )
    expect(seen).toEqual([0])
  })

  it("shows the first violation with the exchange before it, and the number of violations", () => {
    const { counterexample, reason, status } = examineToy(
      exchangesOf("main", "tiny", "main", "main", "main"),
      ({ index }) => (index === 3 || index === 4 ? violation : undefined)
    )
    expect(status).toBe("fail")
    expect(reason).toBe("expected yes, got no (in 2 of 5 exchanges)")
    expect(counterexample).toMatchObject({
      expected: "yes",
      actual: "no",
      steps: [
        { did: "GET /v1/2", got: "202" },
        { did: "GET /v1/3", got: "203" }
      ]
    })
    expect(counterexample?.token).toMatch(/^asc1_/)
  })

  it("returns no replay token for a made-up credential, which may differ from a key by one letter", () => {
    const { counterexample } = examineToy(exchangesOf("other"), () => violation)
    expect(counterexample?.token).toBeUndefined()
  })

  it("never returns the status error for a real check if the times and headers are arbitrary", () => {
    const time = fc.oneof(
      fc.double(),
      fc.maxSafeInteger(),
      fc.constantFrom(8.64e15, 8.64e15 + 1, -8.64e15 - 1)
    )
    const seconds = fc.maxSafeNat().map(String)
    const date = fc.oneof(
      fc.date().map((at) => at.toUTCString()),
      fc.string()
    )
    const status = fc.constantFrom(200, 401, 404, 429, 500)
    fc.assert(
      fc.property(fc.array(fc.tuple(time, seconds, date, status)), (responses) => {
        const exchanges = responses.map(([at, reset, date, code], index): Exchange => {
          const limits: ReadonlyArray<readonly [string, string]> = [
            ["X-RateLimit-Limit", "60"],
            ["X-RateLimit-Remaining", "7"],
            ["X-RateLimit-Reset", reset],
            ["Retry-After", date],
            ["Date", date]
          ]
          const request = { method: "GET", target: "/v1/pets", headers: [], body: undefined }
          const response = wireResponse(code, limits, "[]")
          return { index, key: "main", request, response, sentAt: at, receivedAt: at, isAlone: true }
        })
        const subject = Toys.subject({ kind: "http", exchanges, basePath: "/v1" })
        const broken = checks.filter((check) => examineExchanges(check, subject).status === "error")
        expect(broken.map(({ id }) => id)).toEqual([])
      })
    )
  })
})
