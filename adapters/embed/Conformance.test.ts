/** Runs the conformance suite at design level against the fetch handler, and against the Node server over HTTP. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { expect, it } from "vitest"
import * as Conformance from "../../conformance/Conformance.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { cleanups, handlerOf, open, serve } from "./Conformance.fixture.ts"
import { type AnimalStoreOptions, defineOperation } from "./index.ts"

it("Conformance.check passes a second time although the first run created animals with the same names", async () => {
  const opened = await open("memory:")
  for (const seed of [1, 2]) {
    const only = ["create.*", "list.*"]
    const report = await Conformance.check(await handlerOf(opened), { level: "spec", seed, only })
    expect(report.verdict).toBe("selection-passed")
  }
})

/** What a host may add; the contract's part of the service must stay the same beside it. */
const additions: AnimalStoreOptions = {
  operations: [
    defineOperation({
      id: "createOrder",
      method: "POST",
      path: "/orders",
      body: { type: "object", properties: { petId: { type: "integer" } }, required: ["petId"] },
      success: { status: 201, body: { type: "object" } },
      errors: ["order_unknown"],
      run: ({ body }) => ({ body })
    })
  ],
  errors: { order_unknown: { status: 404, meaning: "There is no such order." } },
  plans: { Starter: { perMinute: 120, perDay: 5_000 } }
}

suite(await handlerOf(await open("memory:", undefined, additions)), { level: "design", seed: 1 })

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
cleanups.push(() => fs.promises.rm(directory, { recursive: true }))
suite(await serve("the Node server on SQLite", `sqlite:${path.join(directory, "test.db")}`), {
  level: "design",
  seed: 1
})
