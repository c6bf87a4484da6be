/** Exports animals as lines of JSON, by ascending id. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as PetJson from "../codec/PetJson.ts"
import type { Pet } from "../domain/Pet.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { PetArchive } from "../ports/PetArchive.ts"

/** The lines of one page of an export, and the number of animals in these lines. */
export interface Chunk {
  readonly text: string
  readonly animals: number
}

/** Number of animals that are read at once. */
const PAGE_SIZE = 1_000

/**
 * Exports every animal whose creation was acknowledged before the export, and possibly some that are created during
 * it, up to the largest id when the export starts. Keeps no transaction open between pages, so that a slow reader
 * does not burden the database.
 */
export const chunks: Stream.Stream<Chunk, StoreUnavailable, PetArchive> = Stream.unwrap(
  Effect.gen(function* () {
    const archive = yield* PetArchive
    const upTo = yield* archive.lastId
    return Stream.paginate(0n, (after) =>
      Effect.map(archive.page(after, upTo, PAGE_SIZE), (pets) => {
        const last = pets.at(-1)
        const isLast = last === undefined || pets.length < PAGE_SIZE || last.id >= upTo
        return [pets.length === 0 ? [] : [chunkOf(pets)], isLast ? Option.none() : Option.some(last.id)]
      })
    )
  })
)

const chunkOf = (pets: ReadonlyArray<Pet>): Chunk => ({
  text: pets.map((pet) => `${PetJson.encode(pet)}\n`).join(""),
  animals: pets.length
})
