/** Runs the conformance suite at design level against the fetch handler, and against the Node server over HTTP. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { expect, it } from "vitest"
import * as Conformance from "../../conformance/Conformance.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { cleanups, handlerOf, open, serve } from "./Conformance.fixture.ts"

it("Conformance.check passes a second time although the first run created animals with the same names", async () => {
  const opened = await open("memory:")
  for (const seed of [1, 2]) {
    const only = ["create.*", "list.*"]
    const report = await Conformance.check(await handlerOf(opened), { level: "spec", seed, only })
    expect(report.verdict).toBe("selection-passed")
  }
})

suite(await handlerOf(await open("memory:")), { level: "design", seed: 1 })

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
cleanups.push(() => fs.promises.rm(directory, { recursive: true }))
suite(await serve("the Node server on SQLite", `sqlite:${path.join(directory, "test.db")}`), {
  level: "design",
  seed: 1
})
