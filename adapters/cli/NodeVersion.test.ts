import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as fc from "fast-check"
import { build } from "tsup"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import buildOptions from "../../.config/tsup.config.ts"
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

/** The paths and versions of the Node programs in the command directories of this machine. */
const installedNodes = [...new Set((process.env.PATH ?? "").split(path.delimiter).concat("/usr/bin"))]
  .map((directory) => path.join(directory, "node"))
  .filter((file) => fs.existsSync(file))
  .map((file) => [file, spawnSync(file, ["--version"], { encoding: "utf8" }).stdout.trim().slice(1)] as const)

const oldNode = installedNodes.find(
  ([, found]) => NodeVersion.findProblem(found, manifest.engines.node) !== undefined
)

describe("the built command", () => {
  // Within the repository, so that packages are found.
  const directory = fs.mkdtempSync(path.join(root, "adapters/cli/.built-"))
  const bin = path.join(directory, "adapters/cli/bin.js")

  beforeAll(async () => {
    if (typeof buildOptions === "function" || Array.isArray(buildOptions))
      throw new Error("unexpected options")
    const entry = { "adapters/cli/bin": path.join(root, "adapters/cli/bin.ts") }
    await build({ ...buildOptions, config: false, entry, outDir: directory, silent: true })
  }, 120_000)
  afterAll(() => fs.rmSync(directory, { recursive: true }))

  const run = (node: string, ...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = spawnSync(node, [bin, ...args], { encoding: "utf8" })
    return { status, stderr, stdout }
  }

  it("runs on the Node that runs the tests", () => {
    expect(run(process.execPath, "--version")).toEqual({
      status: 0,
      stderr: "",
      stdout: `animal-store v${manifest.version}\n`
    })
  })

  it.skipIf(oldNode === undefined)(
    `prints one sentence and exits with code 1 (2 for conformance) on Node ${oldNode?.[1] ?? "(skipped: no old Node is installed)"}`,
    () => {
      const [node = "", found = ""] = oldNode ?? []
      const stderr = `animal-store: Node 22.19.0 or newer is required; this is Node ${found}\n`
      expect(run(node, "serve")).toEqual({ status: 1, stderr, stdout: "" })
      expect(run(node, "keys", "list")).toEqual({ status: 1, stderr, stdout: "" })
      expect(run(node, "conformance", "list")).toEqual({ status: 2, stderr, stdout: "" })
    }
  )
})
