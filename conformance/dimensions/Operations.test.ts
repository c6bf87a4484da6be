import { describe, expect, it } from "vitest"
import * as ServiceOperations from "../../core/operations/Operations.ts"
import * as Operations from "./Operations.ts"

/**
 * Returns the path template of contract §4, written out as in the checks
 * (docs/decisions/conformance.md#the-suite-writes-out-the-paths).
 */
const templateOf = (operation: Operations.Operation): string =>
  Operations.namesOneAnimal(operation) ? "/pets/{petId}" : "/pets"

const unique = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].sort()

describe("Operations.operations", () => {
  it("contains the operations that the service declares, and HEAD for each GET", () => {
    const declared = ServiceOperations.all.flatMap(({ method, path }) =>
      method === "GET" ? [`GET ${path}`, `HEAD ${path}`] : [`${method} ${path}`]
    )
    const tried = Object.values(Operations.operations).map(
      (operation) => `${operation.method} ${templateOf(operation)}`
    )
    expect(unique(tried)).toEqual(unique(declared))
  })
})
