import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { apiKeyStoreLaws } from "../../core/ports/ApiKeyStore.laws.fixture.ts"
import * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"

describe("MemoryApiKeyStore", () => {
  apiKeyStoreLaws(Layer.fresh(MemoryApiKeyStore.layer), { numRuns: 200 })
})
