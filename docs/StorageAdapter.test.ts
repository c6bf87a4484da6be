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

suite(
  Conformance.ports({
    name: "the documented storage adapter",
    petRepository: layer,
    rateLimitStore: layer,
    apiKeyStore: layer
  }),
  { level: "design" }
)
