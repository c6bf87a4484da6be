import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as NodeVersion from "./NodeVersion.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

const manifest: { readonly version: string; readonly engines: { readonly node: string } } = JSON.parse(
  fs.readFileSync(path.join(root, "package.json"), "utf8")
)

const version = fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 30 }), fc.nat({ max: 30 }))

describe("NodeVersion.findProblem", () => {
  it("returns an error if and only if the version is below the minimum", () => {
    fc.assert(
      fc.property(
        version,
        version,
        fc.constantFrom("", "-nightly20260101", "-rc.1"),
        (actual, minimum, suffix) => {
          const order = ([major, minor, patch]: readonly [number, number, number]): number =>
            major * 10_000 + minor * 100 + patch
          const problem = NodeVersion.findProblem(actual.join(".") + suffix, `>=${minimum.join(".")}`)
          expect(problem !== undefined).toBe(order(actual) < order(minimum))
        }
      )
    )
  })

  it("names the required and the actual version", () => {
    expect(NodeVersion.findProblem("20.20.2", ">=22.19.0")).toBe(
      "Node 22.19.0 or newer is required; this is Node 20.20.2"
    )
  })

  it("returns undefined for the Node that runs the tests", () => {
    expect(NodeVersion.findProblem(process.versions.node, manifest.engines.node)).toBeUndefined()
  })
})
