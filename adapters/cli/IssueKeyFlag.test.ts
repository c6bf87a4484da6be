import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as Plan from "../../core/limits/Plan.ts"
import * as IssueKeyFlag from "./IssueKeyFlag.ts"

describe("IssueKeyFlag.parse", () => {
  it.each([
    ["Free", { plan: "Free", limits: {} }],
    ["free", { plan: "Free", limits: {} }],
    ["BUSINESS", { plan: "Business", limits: {} }],
    ["pro:perMinute=1", { plan: "Pro", limits: { perMinute: 1 } }],
    ["pro:perDay=1000000000", { plan: "Pro", limits: { perDay: 1_000_000_000 } }],
    ["Enterprise:perMinute=5,perDay=50", { plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } }],
    ["enterprise:perDay=050,perMinute=5", { plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } }]
  ])("accepts '%s'", (text, options) => {
    expect(IssueKeyFlag.parse(text)).toEqual(Result.succeed(options))
  })

  it.each([
    ["", new RegExp(`^must be PLAN or .* PLAN is one of ${Plan.names.join(", ")}$`)],
    ["Gold", /PLAN is one of/],
    [" Free", /PLAN is one of/],
    ["Free:perDay=1:x", /PLAN is one of/],
    [":perDay=1", /PLAN is one of/],
    ["Free:", /perMinute and perDay at most once/],
    ["Free:perDay=1,", /at most once/],
    ["Free:perday=1", /at most once/],
    ["Free:perDay=-1", /^perDay must be a whole number from 1 to 1000000000$/],
    ["Free:perDay=1.5", /^perDay must be a whole number/],
    ["Free:perDay=", /^perDay must be a whole number/],
    ["Free:perDay=1e3", /^perDay must be a whole number/],
    ["Pro:perMinute=99999999999", /^perMinute is too large: it must be a whole number from 1 to 1000000000$/],
    ["Free:perDay=1000000001", /^perDay is too large/],
    [`Free:perDay=${"9".repeat(400)}`, /^perDay is too large/],
    ["Free:perDay=1,perDay=2", /at most once/],
    ["Free:perDay=1,perMinute=2,perDay=1", /at most once/],
    ["Free:perDay=0", /^perDay must be a whole number/],
    ["Enterprise", /^Enterprise needs both perMinute and perDay$/],
    ["Enterprise:perDay=1", /^Enterprise needs both/]
  ])("rejects '%s' and states why", (text, reason) => {
    expect(Result.getOrElse(IssueKeyFlag.parse(text), (failure) => failure)).toEqual(
      expect.stringMatching(reason)
    )
  })
})
