/** One fault can break several laws: the model names the one that tells the cause. */
import { describe, expect, it } from "vitest"
import type * as Wire from "../http/Wire.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import {
  creation,
  exchangesOf,
  judge,
  judgeHistory,
  posted,
  SECRET,
  type Sent,
  setupOf
} from "./History.fixture.ts"

const START = Date.parse("2027-03-04T09:00:00Z")

/** Returns the violations of a history in which the responses to some targets are changed. */
const violationsOf = (
  history: ReadonlyArray<Sent>,
  edit: (response: Wire.WireResponse) => Wire.WireResponse = (response) => response,
  pattern = /$/
) => {
  const response = (real: Wire.WireResponse, { target }: Wire.WireRequest) =>
    pattern.test(target) ? edit(real) : real
  return judgeHistory({ fault: { response } }, history).violations
}

const clausesOf = (...given: Parameters<typeof violationsOf>) =>
  violationsOf(...given).map(({ clause }) => clause)

const all: Sent = { path: "/pets?limit=100" }

describe("Model.judge", () => {
  it("tells that a removal came too early, and when", () => {
    const afterMs = Date.parse("2030-12-04T03:00:00Z") - START
    const violations = violationsOf([{ path: "/pets/9", afterMs }], Edit.status(410))
    expect(violations).toMatchObject([{ clause: "get.available-until-removal" }, {}])
    expect(violations[0]?.expected).toBe(
      "404 for an id that is not known at 2030-12-04T03:00:00.000Z, before 5 December 2030 has begun anywhere (2030-12-04T10:00:00.000Z)"
    )
    expect(violations.map(({ clause }) => clause)).not.toContain("get.not-found")
  })

  it("tells that another operation was removed, already on the day of the removal", () => {
    const history = [{ path: "/pets?status=sold", afterMs: Date.parse("2030-12-05T03:00:00Z") - START }]
    expect(clausesOf(history, Edit.status(410))).toContain("get.removed-alone")
    expect(clausesOf(history)).toEqual([])
  })

  it("tells that a rejected creation was stored, whatever made it invalid", () => {
    const [before, , after] = exchangesOf({}, [all, creation("Rex"), all])
    for (const member of ['"status":"lost"', '"categoryId":true', '"categoryId":1e400']) {
      const fields = member.startsWith('"c') ? member : `"categoryId":1,${member}`
      const [, rejected] = exchangesOf({}, [all, posted(`{"name":"Rex",${fields}}`)])
      const exchanges = [before, rejected, after].flatMap((each) => (each === undefined ? [] : [each]))
      const clauses = judge(setupOf(), exchanges).violations.map(({ clause }) => clause)
      expect(clauses).toContain("create.refused-unstored")
    }
  })

  it("tells another status or an empty body of a success, and a 404 for no animals, from a rejection", () => {
    const sold = '{"name":"Rex","categoryId":1,"status":"sold"}'
    expect(clausesOf([{ path: "/pets?status=sold" }], Edit.error(404, "none"))).toEqual(["list.status-200"])
    expect(clausesOf([posted(sold)], Edit.status(200))).toEqual(["create.status-201"])
    expect(clausesOf([creation("Rex")], Edit.body(""))).toEqual(["create.id-assigned"])
  })

  it("does not judge what 403 denies to a valid key in another form", () => {
    const authorization = `bearer ${SECRET}`
    const history = [{ authorization }, { ...creation("Rex"), authorization }]
    expect(clausesOf(history, Edit.error(403, "forbidden"))).toEqual([])
  })

  it("tells an id of two animals from an animal that is listed twice", () => {
    const listOf = (...names: ReadonlyArray<string>) =>
      Edit.replace(200, JSON.stringify(names.map((name) => ({ id: 1, name, categoryId: 1 }))))
    expect(clausesOf([all], listOf("Rex", "Tom"))).toContain("resources.id-unique")
    expect(clausesOf([all], listOf("Rex", "Rex"))).toContain("list.distinct")
  })

  it("tells a limit that is applied before the status from other reasons why a list lacks an animal", () => {
    const sold = '{"name":"Rex","categoryId":1,"status":"sold"}'
    const list: Sent = { path: "/pets?limit=2&status=sold" }
    const [two, three] = [
      [creation("Tom"), creation("Tim")],
      [posted(sold), creation("Tam"), posted(sold)]
    ]
    const isEmpty = [Edit.replace(200, "[]"), /limit=2/] as const
    expect(clausesOf([...two, posted(sold), list], ...isEmpty)).toContain("list.status.before-limit")
    // A limit is not the reason if it is larger than the number of animals, or if older and newer ones are missing.
    expect(clausesOf([posted(sold), list], ...isEmpty)).toContain("list.sees-created")
    const showsThird = Edit.replace(200, `[${sold.replace("{", '{"id":3,')}]`)
    const history = [...two, ...three, ...two, list]
    expect(clausesOf(history, showsThird, /limit=2/)).toContain("list.sees-created")
  })
})
