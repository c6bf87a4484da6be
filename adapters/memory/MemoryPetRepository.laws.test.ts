import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { petRepositoryLaws } from "../../core/ports/PetRepository.laws.fixture.ts"
import * as MemoryPetRepository from "./MemoryPetRepository.ts"

describe("MemoryPetRepository", () => {
  petRepositoryLaws(Layer.fresh(MemoryPetRepository.layer), { numRuns: 300 })
})
