/** Runs the conformance suite on the program with Effect in implementing-a-storage-adapter.md. */
import { expect, it } from "vitest"
import * as Conformance from "../conformance/Conformance.ts"
import { suite } from "../conformance/runners/Vitest.ts"
import { read } from "./Pages.fixture.ts"
import { layer } from "./StorageAdapter.fixture.ts"

it("implementing-a-storage-adapter.md contains the program of StorageAdapter.fixture.ts", () => {
  const program = read("docs/StorageAdapter.fixture.ts").replace('"../core/index.ts"', '"animal-store/core"')
  expect(read("docs/implementing-a-storage-adapter.md")).toContain(`\n\`\`\`ts\n${program}\`\`\`\n`)
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
