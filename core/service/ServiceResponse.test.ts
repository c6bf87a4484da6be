import { expect, it } from "vitest"
import { CountedResponse } from "./ServiceResponse.ts"

it("an answer knows its bytes, a copy with another body does not", () => {
  const answer = new CountedResponse(200, [["Allow", "GET"]], "é", 2)
  expect(answer.bodyBytes).toBe(2)
  expect({ ...answer, body: "longer" }).toEqual({ status: 200, headers: [["Allow", "GET"]], body: "longer" })
})
