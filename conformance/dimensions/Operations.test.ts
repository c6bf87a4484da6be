import { describe, expect, it } from "vitest"
import * as ServiceOperations from "../../core/operations/Operations.ts"
import * as Operations from "./Operations.ts"

/** The path templates of contract §4, which checks write out (docs/decisions/0050-paths-in-the-suite.md). */
const templateOf = (operation: Operations.Operation): string =>
  Operations.isOfOne(operation) ? "/pets/{petId}" : "/pets"

const unique = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].sort()

describe("the operations that laws are tried on", () => {
  it("are exactly those that the service declares, and HEAD of each GET", () => {
    const declared = ServiceOperations.all.flatMap(({ method, path }) =>
      method === "GET" ? [`GET ${path}`, `HEAD ${path}`] : [`${method} ${path}`]
    )
    const tried = Object.values(Operations.operations).map(
      (operation) => `${operation.method} ${templateOf(operation)}`
    )
    expect(unique(tried)).toEqual(unique(declared))
  })
})
