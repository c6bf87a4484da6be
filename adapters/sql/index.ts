/** Exports the stores in SQLite and PostgreSQL. */
export type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
export type { PetRepository } from "../../core/ports/PetRepository.ts"
export type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
export { DatabaseUnusable } from "./DatabaseUnusable.ts"
export * as Postgres from "./Postgres.ts"
export * as Sql from "./Sql.ts"
export * as Sqlite from "./Sqlite.ts"
export type { SqlOptions } from "./SqlOptions.ts"
