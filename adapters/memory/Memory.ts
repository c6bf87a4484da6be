/** Provides all three ports in memory; the data is lost when the process exits. */
import * as Layer from "effect/Layer"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"
import * as MemoryPetRepository from "./MemoryPetRepository.ts"
import * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"
import * as MemoryResponseStore from "./MemoryResponseStore.ts"

/** Creates three empty stores; the options are those of the rate-limit store. */
export const layerWith = (
  options: Partial<MemoryRateLimitStore.MemoryRateLimitStoreOptions>
): Layer.Layer<ApiKeyStore | PetRepository | RateLimitStore> =>
  Layer.mergeAll(
    MemoryApiKeyStore.layer,
    MemoryPetRepository.layer,
    MemoryRateLimitStore.layerWith(options),
    MemoryResponseStore.layer
  )

/** Creates three empty stores with the default options. */
export const layer: Layer.Layer<ApiKeyStore | PetRepository | RateLimitStore> = layerWith({})
