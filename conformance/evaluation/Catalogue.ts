/**
 * Defines the catalogue of animals as its users see it. The same laws use this interface for a storage port and over
 * HTTP.
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { PetStatus } from "../../core/domain/PetStatus.ts"
import type { Animal, Draft } from "../http/Animal.ts"
import type { Failure } from "./Outcome.ts"

/** Parameters of a list; an `undefined` parameter is not sent. */
export interface Listing {
  readonly limit: number | undefined
  readonly status: PetStatus | undefined
}

/** The operations on animals. Each fails with a `Violation` if the response of the subject is wrong. */
export interface Catalogue {
  readonly create: (draft: Draft) => Effect.Effect<Animal, Failure>
  readonly list: (listing: Listing) => Effect.Effect<ReadonlyArray<Animal>, Failure>
  /** Fetches an animal; fails with `Inapplicable` once the operation is removed. */
  readonly get: (id: bigint) => Effect.Effect<Option.Option<Animal>, Failure>
  /** Whether lists may contain animals that this evaluation did not create. */
  readonly isShared: boolean
  /** Returns a category that the subject accepts: the given one if it accepts any. */
  readonly categoryOf: (wanted: bigint) => bigint
}
