/** Runs the conformance suite on the first program in implementing-a-storage-adapter.md. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import * as Conformance from "../conformance/Conformance.ts"
import { suite } from "../conformance/runners/Vitest.ts"
import { layer } from "./StorageAdapter.fixture.ts"

it("implementing-a-storage-adapter.md begins with the program of StorageAdapter.fixture.ts", () => {
  const page = readFileSync(new URL("implementing-a-storage-adapter.md", import.meta.url), "utf8")
  const program = readFileSync(new URL("StorageAdapter.fixture.ts", import.meta.url), "utf8")
  const [, first] = /^```ts\n([\s\S]*?)^```$/m.exec(page) ?? []
  expect(first).toBe(program.replace('"../core/index.ts"', '"animal-store/core"'))
})

const subject = Conformance.ports({
  name: "the documented storage adapter",
  petRepository: layer,
  rateLimitStore: layer,
  apiKeyStore: layer
})

suite(subject, { level: "design" })

it("the checks of insertOnce are not applicable to an adapter without that method, and do not affect the verdict", async () => {
  const only = ["pets.insert.exact", "pets.once"]
  const { checks, exitCode } = await Conformance.check(subject, { level: "design", only })
  const reason = "the store has no `insertOnce`"
  const selected = checks.filter(({ id }) => only.includes(id))
  expect(selected.map(({ id, reason, status }) => ({ id, reason, status }))).toEqual([
    { id: "pets.insert.exact", reason: undefined, status: "pass" },
    { id: "pets.once", reason, status: "not-applicable" }
  ])
  expect(exitCode).toBe(0)
})
