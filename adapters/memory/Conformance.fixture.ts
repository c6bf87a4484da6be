/** Runs the conformance suite of the ports against the memory stores. */
import * as Conformance from "../../conformance/Conformance.ts"
import type { CasesOptions } from "../../conformance/runners/Cases.ts"
import { suite } from "../../conformance/runners/Vitest.ts"
import { Memory } from "./index.ts"

export const testMemory = (options: CasesOptions): void =>
  suite(
    Conformance.ports({
      name: "the memory stores",
      petRepository: Memory.layer,
      rateLimitStore: Memory.layer,
      apiKeyStore: Memory.layer
    }),
    { level: "design", ...options }
  )
