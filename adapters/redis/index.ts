/** Exports the rate-limit store in Redis. */
export type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
export type { CallOptions, LimitsOptions } from "../storage/StorageOptions.ts"
export * as Redis from "./Redis.ts"
export { RedisUnusable } from "./RedisUnusable.ts"
