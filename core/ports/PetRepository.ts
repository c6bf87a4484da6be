/** Port: storage of animals. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Int64 } from "../domain/Int64.ts"
import type { NewPet } from "../domain/NewPet.ts"
import type { PageQuery } from "../domain/Page.ts"
import type { Pet } from "../domain/Pet.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/** A store of animals. */
export class PetRepository extends Context.Service<
  PetRepository,
  {
    /** Stores the animal unchanged under a new id: positive, larger than all earlier ids, never reused. */
    readonly insert: (pet: NewPet) => Effect.Effect<Pet, StoreUnavailable>

    /** Returns the animal with this id. Sees every acknowledged `insert`. */
    readonly find: (id: Int64) => Effect.Effect<Option.Option<Pet>, StoreUnavailable>

    /**
     * Returns at most `limit` animals with an id above `after` and with this `status`, by ascending id; an `undefined`
     * condition matches all animals. Sees every acknowledged `insert`.
     */
    readonly page: (query: PageQuery) => Effect.Effect<ReadonlyArray<Pet>, StoreUnavailable>
  }
>()("animal-store/core/ports/PetRepository") {}
