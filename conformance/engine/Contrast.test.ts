import { describe, expect, it } from "vitest"
import * as Wire from "../http/Wire.ts"
import { exchangesOf, posted, type Sent, setupOf } from "../model/History.fixture.ts"
import * as Request from "../model/Request.ts"
import * as Contrast from "./Contrast.ts"

const between = (broken: ReadonlyArray<Sent>, kept: ReadonlyArray<Sent>) =>
  Contrast.between(exchangesOf({}, broken), exchangesOf({}, kept), ({ request }) =>
    Request.read(request, setupOf())
  )

const list = (...queries: ReadonlyArray<string>) => queries.map((query): Sent => ({ path: `/pets?${query}` }))
const creation = (categoryId: string, status = ""): Sent =>
  posted(`{"name":"Rex","categoryId":${categoryId}${status === "" ? "" : `,"status":"${status}"`}}`)

const large = "9007199254740993"

describe("Contrast.between", () => {
  it("finds the place of a parameter", () => {
    const broken = list("status=sold&limit=1", "status=available&limit=2", "status=pending&limit=1")
    const kept = list("limit=1&status=sold", "limit=2&status=sold", "limit=1", "status=sold", "")
    expect(between(broken, kept)).toBe(
      "`status` before `limit`: 3 of 3 violations, 0 of 5 exchanges that kept the law"
    )
  })

  it("finds two traits that only together tell", () => {
    const broken = ["sold", "pending", "available"].map((status) => creation(large, status))
    const kept = [creation(large), creation("1", "sold"), creation("1"), creation("2"), creation("3")]
    expect(between(broken, kept)).toBe(
      "a creation with a status, a category that no double can represent: 3 of 3 violations, 0 of 5 exchanges that kept the law"
    )
  })

  it("finds an empty list", () => {
    const broken = exchangesOf({}, list("limit=1", "limit=2", "status=sold"))
    const [, ...others] = exchangesOf({}, [
      creation("1"),
      ...list("limit=1", "limit=2", "", "limit=3", "limit=4")
    ])
    const read = ({ request }: (typeof broken)[number]) => Request.read(request, setupOf())
    expect(others.map(({ response }) => Wire.text(response?.body))).not.toContain("[]")
    expect(Contrast.between(broken, others, read)).toMatch(/^an empty list: /)
  })

  it("tells nothing of few exchanges, or if most of the others are alike", () => {
    expect(between(list("limit=1", "limit=1"), list("", "", "", "", ""))).toBeUndefined()
    expect(between(list("", "", ""), list("", "", "", "", ""))).toBeUndefined()
  })
})
