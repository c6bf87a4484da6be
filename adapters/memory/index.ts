/** Stores in the memory of this process. */
export * as Memory from "./Memory.ts"
export * as MemoryApiKeyStore from "./MemoryApiKeyStore.ts"
export * as MemoryPetRepository from "./MemoryPetRepository.ts"
export * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"
