/** Defines the port for the storage of animals. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Int64 } from "../domain/Int64.ts"
import type { NewPet } from "../domain/NewPet.ts"
import type { PageQuery } from "../domain/Page.ts"
import type { Pet } from "../domain/Pet.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { Once, Outcome } from "../idempotency/Once.ts"

/** Stores animals, and returns them by id or in pages. */
export class PetRepository extends Context.Service<
  PetRepository,
  {
    /** Stores the animal unchanged under a new id: positive, larger than all earlier ids, never reused. */
    readonly insert: (pet: NewPet) => Effect.Effect<Pet, StoreUnavailable>

    /**
     * Stores the animal as `insert` does, unless the caller used the same key in the past 24 hours. The animal and the
     * record of the key are stored together or not at all, even if requests with one key arrive at the same time or
     * the process crashes. An expired record is replaced. Optional: without it, `Idempotency-Key` is ignored.
     */
    readonly insertOnce?: (pet: NewPet, once: Once) => Effect.Effect<Outcome, StoreUnavailable>

    /** Returns the animal with this id, or `None`. The result includes every acknowledged `insert`. */
    readonly find: (id: Int64) => Effect.Effect<Option.Option<Pet>, StoreUnavailable>

    /**
     * Returns at most `limit` animals with an id above `after` and with this `status`, by ascending id; an `undefined`
     * condition matches all animals. The result includes every acknowledged `insert`.
     */
    readonly page: (query: PageQuery) => Effect.Effect<ReadonlyArray<Pet>, StoreUnavailable>
  }
>()("animal-store/core/ports/PetRepository") {}
