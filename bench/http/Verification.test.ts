import { describe, expect, it } from "vitest"
import { problemOf } from "./Verification.ts"
import type { PlannedRequest } from "./Workload.ts"

const planned = (status: number): PlannedRequest => ({
  kind: "get",
  method: "GET",
  target: "/v1/pets/7",
  sender: { kind: "unlimited", index: 0 },
  status
})
const response = (status: number, value: unknown) => ({ status, body: JSON.stringify(value) })
const rex = { id: 7, name: "Rex", categoryId: 1, status: "sold" }
const error = { code: "not_found", message: "There is no such resource.", status: 404 }

describe("Verification.problemOf", () => {
  it("accepts the same animal, and a created animal with a different id", () => {
    expect(problemOf(planned(200), response(200, rex), response(200, rex))).toBeUndefined()
    expect(problemOf(planned(201), response(201, { ...rex, id: 9 }), response(201, rex))).toBeUndefined()
  })

  it("reports a different status, a different animal, and text that is not JSON", () => {
    expect(problemOf(planned(200), response(404, error), response(200, rex))).toMatch(/^status 404, not 200/)
    expect(problemOf(planned(200), response(200, { ...rex, id: 8 }), response(200, rex))).toMatch(/^body/)
    expect(problemOf(planned(201), response(201, { ...rex, name: "" }), response(201, rex))).toMatch(/^body/)
    expect(problemOf(planned(200), { status: 200, body: "Rex" }, response(200, rex))).toMatch(/^body/)
  })

  it("accepts an error body with a different message, and reports one with a wrong status", () => {
    const other = response(404, { ...error, message: "No such animal." })
    expect(problemOf(planned(404), other, response(404, error))).toBeUndefined()
    const wrong = response(404, { ...error, status: 400 })
    expect(problemOf(planned(404), wrong, response(404, error))).toMatch(/^not an error body/)
  })
})
