/** Collects the faults that are written by hand: those that no generated mutant expresses. */
import type { Fault } from "./Fault.ts"
import * as ApiKeyStoreFaults from "./faults/ApiKeyStoreFaults.ts"
import * as BanFaults from "./faults/BanFaults.ts"
import * as CreationFaults from "./faults/CreationFaults.ts"
import * as CredentialFaults from "./faults/CredentialFaults.ts"
import * as LimitFaults from "./faults/LimitFaults.ts"
import * as ListFaults from "./faults/ListFaults.ts"
import * as PetRepositoryFaults from "./faults/PetRepositoryFaults.ts"
import * as ProtocolFaults from "./faults/ProtocolFaults.ts"
import * as RateLimitStoreFaults from "./faults/RateLimitStoreFaults.ts"
import * as StoreFaults from "./faults/StoreFaults.ts"

export const faults: ReadonlyArray<Fault> = [
  ...ListFaults.faults,
  ...CreationFaults.faults,
  ...CredentialFaults.faults,
  ...ProtocolFaults.faults,
  ...LimitFaults.faults,
  ...BanFaults.faults,
  ...StoreFaults.faults,
  ...PetRepositoryFaults.faults,
  ...RateLimitStoreFaults.faults,
  ...ApiKeyStoreFaults.faults
]
