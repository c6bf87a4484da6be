/** Which stores a database address names. */
import * as Data from "effect/Data"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { PetRepository } from "../../core/ports/PetRepository.ts"
import type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as Memory from "../memory/Memory.ts"

/** What a database has to offer. */
export type Stores = ApiKeyStore | PetRepository | RateLimitStore

/** A database address that names no store. */
export class InvalidDatabase extends Data.TaggedError("InvalidDatabase")<{ readonly reason: string }> {
  override get message(): string {
    return `database: ${this.reason}`
  }
}

/** The stores at `address`: `memory:`, which keeps everything in this process and loses it with it. */
export const stores = (address: string): Result.Result<Layer.Layer<Stores>, InvalidDatabase> =>
  address === "memory:"
    ? Result.succeed(Memory.layer)
    : Result.fail(new InvalidDatabase({ reason: "must be 'memory:'" }))
