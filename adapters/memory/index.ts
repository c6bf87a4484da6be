/** Exports the in-memory stores. */
export type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
export type { PetRepository } from "../../core/ports/PetRepository.ts"
export type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
export type { LimitsOptions } from "../storage/StorageOptions.ts"
export * as Memory from "./Memory.ts"
export type { MemoryRateLimitStoreOptions } from "./MemoryRateLimitStore.ts"
