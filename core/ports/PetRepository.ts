/** Port: where animals live. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Int64 } from "../domain/Int64.ts"
import type { NewPet } from "../domain/NewPet.ts"
import type { PageQuery } from "../domain/Page.ts"
import type { Pet } from "../domain/Pet.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"

/** What a store of animals promises, method by method. */
export class PetRepository extends Context.Service<
  PetRepository,
  {
    /** Stores the animal, every field exactly, under a new id: positive, larger than all before, never reused. */
    readonly insert: (pet: NewPet) => Effect.Effect<Pet, StoreUnavailable>

    /** The animal with this id; sees every acknowledged `insert`. */
    readonly find: (id: Int64) => Effect.Effect<Option.Option<Pet>, StoreUnavailable>

    /**
     * The first `limit` animals, by ascending id, of those with an id above `after` and with this `status`;
     * `undefined` leaves a condition out. Sees every acknowledged `insert`.
     */
    readonly page: (query: PageQuery) => Effect.Effect<ReadonlyArray<Pet>, StoreUnavailable>
  }
>()("animal-store/core/ports/PetRepository") {}
