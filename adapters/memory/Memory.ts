/** All three ports in the memory of this process: nothing outlives it. */
import * as Layer from "effect/Layer"
import * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"
import * as MemoryPetRepository from "./MemoryPetRepository.ts"
import * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"

/** The three stores together, each of them empty. */
export const layer = Layer.mergeAll(
  MemoryApiKeyStore.layer,
  MemoryPetRepository.layer,
  MemoryRateLimitStore.layer
)
