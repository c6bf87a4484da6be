/** The gallery: every faulty backend. */
import type { Fault } from "./Fault.ts"
import * as ApiKeyStoreFaults from "./faults/ApiKeyStoreFaults.ts"
import * as AuthFaults from "./faults/AuthFaults.ts"
import * as BanFaults from "./faults/BanFaults.ts"
import * as ConcurrencyFaults from "./faults/ConcurrencyFaults.ts"
import * as CreateFaults from "./faults/CreateFaults.ts"
import * as DeprecationFaults from "./faults/DeprecationFaults.ts"
import * as ErrorFaults from "./faults/ErrorFaults.ts"
import * as GetFaults from "./faults/GetFaults.ts"
import * as LimitFaults from "./faults/LimitFaults.ts"
import * as ListFaults from "./faults/ListFaults.ts"
import * as PetRepositoryFaults from "./faults/PetRepositoryFaults.ts"
import * as RateLimitStoreFaults from "./faults/RateLimitStoreFaults.ts"

export const faults: ReadonlyArray<Fault> = [
  ...ListFaults.faults,
  ...CreateFaults.faults,
  ...GetFaults.faults,
  ...ErrorFaults.faults,
  ...AuthFaults.faults,
  ...LimitFaults.faults,
  ...BanFaults.faults,
  ...DeprecationFaults.faults,
  ...ConcurrencyFaults.faults,
  ...PetRepositoryFaults.faults,
  ...RateLimitStoreFaults.faults,
  ...ApiKeyStoreFaults.faults
]
