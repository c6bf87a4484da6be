/** Collects all faults: every faulty backend that the suite must reject. */
import type { Fault } from "./Fault.ts"
import * as AnonymousFaults from "./faults/AnonymousFaults.ts"
import * as ApiKeyStoreFaults from "./faults/ApiKeyStoreFaults.ts"
import * as AuthFaults from "./faults/AuthFaults.ts"
import * as BanFaults from "./faults/BanFaults.ts"
import * as CatalogueFaults from "./faults/CatalogueFaults.ts"
import * as CellFaults from "./faults/CellFaults.ts"
import * as ConcurrencyFaults from "./faults/ConcurrencyFaults.ts"
import * as CreateBodyFaults from "./faults/CreateBodyFaults.ts"
import * as CreateFaults from "./faults/CreateFaults.ts"
import * as DenialFaults from "./faults/DenialFaults.ts"
import * as DeprecationFaults from "./faults/DeprecationFaults.ts"
import * as ErrorFaults from "./faults/ErrorFaults.ts"
import * as GetFaults from "./faults/GetFaults.ts"
import * as HistoryFaults from "./faults/HistoryFaults.ts"
import * as KeyEventFaults from "./faults/KeyEventFaults.ts"
import * as LimitCountingFaults from "./faults/LimitCountingFaults.ts"
import * as LimitHeaderFaults from "./faults/LimitHeaderFaults.ts"
import * as ListFaults from "./faults/ListFaults.ts"
import * as ListLimitFaults from "./faults/ListLimitFaults.ts"
import * as PagingFaults from "./faults/PagingFaults.ts"
import * as PetOnceFaults from "./faults/PetOnceFaults.ts"
import * as PetPageFaults from "./faults/PetPageFaults.ts"
import * as PetRepositoryFaults from "./faults/PetRepositoryFaults.ts"
import * as PositionFaults from "./faults/PositionFaults.ts"
import * as ProtocolFaults from "./faults/ProtocolFaults.ts"
import * as RateLimitReadFaults from "./faults/RateLimitReadFaults.ts"
import * as RateLimitStoreFaults from "./faults/RateLimitStoreFaults.ts"
import * as RetryAfterFaults from "./faults/RetryAfterFaults.ts"
import * as StandardRateLimitFaults from "./faults/StandardRateLimitFaults.ts"
import * as WindowFaults from "./faults/WindowFaults.ts"

export const faults: ReadonlyArray<Fault> = [
  ...ListLimitFaults.faults,
  ...ListFaults.faults,
  ...PagingFaults.faults,
  ...CatalogueFaults.faults,
  ...CreateFaults.faults,
  ...CreateBodyFaults.faults,
  ...GetFaults.faults,
  ...ErrorFaults.faults,
  ...ProtocolFaults.faults,
  ...AuthFaults.faults,
  ...LimitHeaderFaults.faults,
  ...StandardRateLimitFaults.faults,
  ...LimitCountingFaults.faults,
  ...RetryAfterFaults.faults,
  ...DenialFaults.faults,
  ...WindowFaults.faults,
  ...AnonymousFaults.faults,
  ...BanFaults.faults,
  ...DeprecationFaults.faults,
  ...ConcurrencyFaults.faults,
  ...HistoryFaults.faults,
  ...CellFaults.faults,
  ...PetRepositoryFaults.faults,
  ...PetPageFaults.faults,
  ...RateLimitStoreFaults.faults,
  ...RateLimitReadFaults.faults,
  ...ApiKeyStoreFaults.faults,
  ...KeyEventFaults.faults,
  ...PetOnceFaults.faults,
  ...PositionFaults.faults
]
