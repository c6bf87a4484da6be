import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as OwnPlans from "./OwnPlans.ts"

const starter = { Starter: { perMinute: 120, perDay: 5_000 } }
describe("OwnPlans.rule", () => {
  it("reads plans from texts", () => {
    expect(OwnPlans.rule.reader.parseAll(["Starter=120/5000", "Team-2=1/1"])).toEqual(
      Result.succeed({ ...starter, "Team-2": { perMinute: 1, perDay: 1 } })
    )
  })

  it.each([
    ["Starter", "must be NAME=PER_MINUTE/PER_DAY, such as Starter=120/5000"],
    ["Starter=120/", "must be NAME=PER_MINUTE/PER_DAY, such as Starter=120/5000"],
    ["Starter=0/5", "Starter: perMinute must be a whole number from 1 to 1000000000"],
    ["free=1/2", "the name free is taken"],
    ["anonymous=1/2", "the name anonymous is taken"],
    ["2nd=1/2", '"2nd" is no name of a plan: use at most 32 letters, digits, - and _']
  ])("rejects %s", (text, reason) => {
    expect(OwnPlans.rule.reader.parseAll([text])).toEqual(Result.fail({ text, reason }))
  })

  it.each([
    ["Starter=1/1", "Team=1/1", "Starter=120/5000"],
    ["Starter=1/1", "Team=1/1", "starter=1/1"]
  ])("rejects %s, %s, %s: the last plan is defined twice", (...texts) => {
    const [last = ""] = texts.slice(-1)
    expect(OwnPlans.rule.reader.parseAll(texts)).toEqual(
      Result.fail({ text: last, reason: `the plan ${last.replace(/=.*/, "")} is defined twice` })
    )
  })

  it.each([
    [null, "must be an object"],
    [[], "must be an object"],
    [{ Starter: { perMinute: 1 } }, "Starter: must have the field perDay"],
    [{ Starter: undefined }, "Starter: must be an object"],
    [{ ...starter, STARTER: starter.Starter }, "the plan STARTER is defined twice"]
  ])("rejects %j in programs", (plans, reason) => {
    expect([OwnPlans.rule.isValid(plans), OwnPlans.rule.reasonFor(plans)]).toEqual([false, reason])
  })
})
