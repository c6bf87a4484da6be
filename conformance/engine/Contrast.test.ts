import { describe, expect, it } from "vitest"
import type { WireRequest } from "../http/Wire.ts"
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

const ten = <A>(...some: ReadonlyArray<A>): ReadonlyArray<A> =>
  Array.from({ length: 10 }, (_, index) => some.slice(index % some.length)[0]).flatMap((each) => each ?? [])

describe("Contrast.between", () => {
  it("finds the place of a parameter", () => {
    const broken = list("status=sold&limit=1", "status=available&limit=2", "status=pending&limit=1")
    const kept = ten(...list("limit=1&status=sold", "limit=2&status=sold", "limit=1", "status=sold", ""))
    // Other operations do not count.
    expect(between(broken, [...kept, creation("1")])).toBe(
      "`status` before `limit`: 3 of 3 violations, 0 of 10 exchanges that kept the law"
    )
  })

  it("finds two traits that only together tell", () => {
    const broken = ["sold", "pending", "available"].map((status) => creation(large, status))
    const kept = ten(creation(large), creation("1", "sold"), creation("1"), creation("2"), creation("3"))
    expect(between(broken, kept)).toBe(
      "a creation with a status, a category that no double can represent: 3 of 3 violations, 0 of 10 exchanges that kept the law"
    )
  })

  it("finds an empty list, which only the response shows", () => {
    const read = ({ request }: { readonly request: WireRequest }) => Request.read(request, setupOf())
    const sent = ten(...list("limit=1", "limit=2", "status=available"))
    const kept = exchangesOf({}, [creation("1"), ...sent])
    expect(Contrast.between(exchangesOf({}, sent), kept, read)).toMatch(
      /^an empty list: 10 of 10 .* 0 of 10 /
    )
  })

  it("finds the method if nothing else tells", () => {
    const read = ten({ path: "/pets/1" })
    expect(between(ten(creation("1")), read)).toMatch(/^a request with POST: 10 of 10 violations, 0 of 10 /)
  })

  it("tells nothing of few exchanges, or if most of the others are alike", () => {
    expect(between(list("limit=1", "limit=1"), ten(...list("")))).toBeUndefined()
    expect(between(list("", "", ""), ten(...list("")))).toBeUndefined()
  })
})
