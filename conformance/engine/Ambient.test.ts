import { describe, expect, it } from "vitest"
import type { AmbientCheck } from "../checks/Ambient.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import { answer } from "../http/Wires.fixture.ts"
import { overhear } from "./Ambient.ts"
import { Violation } from "./Outcome.ts"
import * as Toys from "./Toys.fixture.ts"

/** The key of an exchange; a `+` says that others were under way meanwhile. */
type Sent = KeyName | `${KeyName}+`

const exchangesOf = (...keys: ReadonlyArray<Sent>): ReadonlyArray<Exchange> =>
  keys.map((given, index) => ({
    index,
    // Sound: what is left of the name without its mark is a name.
    key: given.replace("+", "") as KeyName,
    request: { method: "GET", target: `/v1/${index}`, headers: [], body: undefined },
    response: answer(200 + index),
    sentAt: index,
    receivedAt: index,
    isAlone: !given.endsWith("+")
  }))

const hear = (exchanges: ReadonlyArray<Exchange>, examine: AmbientCheck["examine"]) =>
  overhear(
    { id: "every.toy", law: "nothing is wrong", clauses: ["errors.body"], level: "spec", examine },
    Toys.subject({ kind: "http", exchanges, basePath: "/v1" })
  )

/** Which earlier exchange each is compared with. */
const previousOf = (...keys: ReadonlyArray<Sent>): ReadonlyArray<number | undefined> => {
  const seen: Array<number | undefined> = []
  hear(exchangesOf(...keys), (_exchange, previous) => {
    seen.push(previous?.index)
    return undefined
  })
  return seen
}

const fault = new Violation({ expected: "yes", actual: "no" })

describe("a check of every exchange", () => {
  it("sees each with the latest of its key, if both were alone and no made-up credential came between", () => {
    expect(previousOf("main", "main", "tiny", "main", "tiny")).toEqual([undefined, 0, undefined, 1, 2])
    expect(previousOf("main", "main+", "main", "main")).toEqual([undefined, undefined, undefined, 2])
    expect(previousOf("main", "other", "main", "main")).toEqual([undefined, undefined, undefined, 2])
    expect(previousOf("main", "none", "main")).toEqual([undefined, undefined, 0])
  })

  it("sees all earlier ones of the same key", () => {
    const seen: Array<ReadonlyArray<number>> = []
    hear(exchangesOf("main", "tiny", "main+", "main"), (_exchange, _previous, history) => {
      seen.push(history.map(({ index }) => index))
      return undefined
    })
    expect(seen).toEqual([[], [], [0], [0, 2]])
  })

  it("passes when none is at fault, and cannot be told when nothing was sent", () => {
    expect(hear(exchangesOf("main", "main"), () => undefined)).toMatchObject({
      status: "pass",
      reason: undefined,
      runs: { planned: 2, executed: 2, decided: 2 },
      counterexample: undefined
    })
    expect(hear([], () => fault)).toMatchObject({
      status: "inconclusive",
      reason: "nothing was sent",
      runs: { decided: 0 }
    })
  })

  it("shows the first at fault, after the one before it, and says how many are", () => {
    const { counterexample, reason, status } = hear(
      exchangesOf("main", "tiny", "main", "main", "main"),
      ({ index }) => (index === 3 || index === 4 ? fault : undefined)
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

  it("gives no token where credentials were made up: they may be a key but for a letter", () => {
    const { counterexample } = hear(exchangesOf("other"), () => fault)
    expect(counterexample?.token).toBeUndefined()
  })
})
