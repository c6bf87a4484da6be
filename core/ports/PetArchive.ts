/** Defines the port for the export and import of animals. Stores that only serve requests need not implement it. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Int64 } from "../domain/Int64.ts"
import type { Pet } from "../domain/Pet.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { ImportedPet } from "../transfer/ImportedPet.ts"
import type { ImportRecord, Position } from "../transfer/ImportRecord.ts"

/** Animals that are stored in one transaction. */
export interface Batch {
  readonly pets: ReadonlyArray<ImportedPet>
  /** Whether the animals keep their ids, which must be ascending; otherwise the store assigns ids. */
  readonly keepIds: boolean
  /** The update of the import's record, stored with the batch; `undefined` if the import is not recorded. */
  readonly step: ImportStep | undefined
}

/** An update of an import's record: moves its position. */
export interface ImportStep {
  readonly source: string
  readonly from: Position
  readonly to: Position
  /** Completion time in epoch milliseconds; `undefined` if the import is not complete. */
  readonly completedAt: number | undefined
}

/** Another import of the same source changed the record in the meantime. */
export class ImportMoved extends Data.TaggedError("ImportMoved")<{ readonly source: string }> {
  override get message(): string {
    return "another process is importing the same source"
  }
}

/** An id belongs to another animal. */
export class IdTaken extends Data.TaggedError("IdTaken")<{ readonly id: Int64 }> {
  override get message(): string {
    return `id: ${this.id} belongs to another animal in the database`
  }
}

/** Exports and imports animals, and stores the records of imports. */
export class PetArchive extends Context.Service<
  PetArchive,
  {
    /** Returns the largest id, or 0 if there are no animals. The result includes every acknowledged creation. */
    readonly lastId: Effect.Effect<Int64, StoreUnavailable>

    /** Returns at most `limit` animals with an id above `after` and at most `upTo`, by ascending id. */
    readonly page: (
      after: Int64,
      upTo: Int64,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Pet>, StoreUnavailable>

    /** Returns the record of an import, or `undefined` if the source has no record. */
    readonly findImport: (source: string) => Effect.Effect<ImportRecord | undefined, StoreUnavailable>

    /**
     * Creates the record of an import, with the position at the beginning. Replaces the record of a completed import
     * only if `again`, otherwise fails with `ImportMoved`.
     */
    readonly startImport: (
      source: string,
      keepIds: boolean,
      again: boolean
    ) => Effect.Effect<void, StoreUnavailable | ImportMoved>

    /** Ensures that later animals get ids above `id`, so that an import can store the ids up to `id` in batches. */
    readonly reserveIds: (id: Int64) => Effect.Effect<void, StoreUnavailable>

    /** Returns the ids among `pets` that belong to other animals. */
    readonly findTaken: (
      pets: ReadonlyArray<ImportedPet>
    ) => Effect.Effect<ReadonlyArray<Int64>, StoreUnavailable>

    /**
     * Stores all animals and moves the record in one transaction. Animals without ids get ascending ids. An animal that
     * the store already has with the same id and content is not stored again. Animals that are created later get larger
     * ids. Returns the number of new animals.
     */
    readonly store: (batch: Batch) => Effect.Effect<number, StoreUnavailable | ImportMoved | IdTaken>
  }
>()("animal-store/core/ports/PetArchive") {}
