/** Generates random cases: statuses, limits and lists. */
import * as fc from "fast-check"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Listing } from "../../evaluation/Catalogue.ts"

export const status = fc.constantFrom(...PetStatus.all)

export const optionalStatus = fc.option(status, { nil: undefined })

const limit = fc.oneof(
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 1, arbitrary: fc.constantFrom(undefined, 100) }
)

export const listing: fc.Arbitrary<Listing> = fc.record({ limit, status: optionalStatus })
