/** Tests the built suite, as users install it, on a version of Node that is too old. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "tsup"
import { afterAll, describe, expect, it } from "vitest"
import buildOptions from "../../.config/tsup.config.ts"
import * as Platform from "../engine/Platform.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The path and version of the first Node on this machine that is too old, if there is one. */
const oldNode = [...new Set((process.env.PATH ?? "").split(path.delimiter).concat("/usr/bin"))]
  .map((directory) => path.join(directory, "node"))
  .filter((file) => fs.existsSync(file))
  .map((file) => [file, spawnSync(file, ["--version"], { encoding: "utf8" }).stdout.trim().slice(1)] as const)
  .find(([, version]) => Platform.problem(version) !== undefined)

describe("the built suite", () => {
  // The directory is within the repository, so that packages are found.
  const directory = fs.mkdtempSync(path.join(root, "conformance/runners/.built-"))
  afterAll(() => fs.rmSync(directory, { recursive: true }))

  it.skipIf(oldNode === undefined)(
    `rejects a run with a SetupError, on Node ${oldNode?.[1] ?? "(skipped: no old Node is installed)"}`,
    async () => {
      if (typeof buildOptions === "function" || Array.isArray(buildOptions))
        throw new Error("unexpected options")
      const entry = { Conformance: path.join(root, "conformance/Conformance.ts") }
      await build({ ...buildOptions, config: false, entry, outDir: directory, silent: true })
      const program = `
        import * as Conformance from "./Conformance.js"
        const subject = Conformance.ports({ name: "none" })
        await Conformance.check(subject).catch(({ name, message }) => console.log(name + ": " + message))
      `
      fs.writeFileSync(path.join(directory, "program.mjs"), program)
      const [node = "", version = ""] = oldNode ?? []
      const outcome = spawnSync(node, [path.join(directory, "program.mjs")], { encoding: "utf8" })
      expect(outcome.stderr).toBe("")
      expect(outcome.stdout).toBe(`SetupError: Node 22.19.0 or newer is required; this is Node ${version}\n`)
    },
    60_000
  )
})
