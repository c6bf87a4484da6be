/** Lists all checks of the suite. */
import type { AmbientCheck } from "./AmbientCheck.ts"
import type { Check } from "./Check.ts"
import * as CatalogueChecks from "./catalogue/CatalogueChecks.ts"
import * as ClosingChecks from "./catalogue/ClosingChecks.ts"
import * as ConcurrencyChecks from "./catalogue/ConcurrencyChecks.ts"
import * as ListChecks from "./catalogue/ListChecks.ts"
import * as NameChecks from "./catalogue/NameChecks.ts"
import * as AnimalHistoryChecks from "./exchanges/AnimalHistoryChecks.ts"
import * as CreationResponseChecks from "./exchanges/CreationResponseChecks.ts"
import * as ErrorChecks from "./exchanges/ErrorChecks.ts"
import * as HeaderChecks from "./exchanges/HeaderChecks.ts"
import * as LimitHistoryChecks from "./exchanges/LimitHistoryChecks.ts"
import * as RateLimitHeaderChecks from "./exchanges/RateLimitHeaderChecks.ts"
import * as StandardRateLimitChecks from "./exchanges/StandardRateLimitChecks.ts"
import * as AuthChecks from "./http/AuthChecks.ts"
import * as CreateChecks from "./http/CreateChecks.ts"
import * as CreateRejectionChecks from "./http/CreateRejectionChecks.ts"
import * as FirstRequestChecks from "./http/FirstRequestChecks.ts"
import * as GetChecks from "./http/GetChecks.ts"
import * as ListParameterChecks from "./http/ListParameterChecks.ts"
import * as PositionChecks from "./http/PositionChecks.ts"
import * as ProtocolChecks from "./http/ProtocolChecks.ts"
import * as RemovalChecks from "./http/RemovalChecks.ts"
import * as UnstoredCreationChecks from "./http/UnstoredCreationChecks.ts"
import * as AnonymousChecks from "./limits/AnonymousChecks.ts"
import * as BanChecks from "./limits/BanChecks.ts"
import * as BucketChecks from "./limits/BucketChecks.ts"
import * as DurationChecks from "./limits/DurationChecks.ts"
import * as MeterChecks from "./limits/MeterChecks.ts"
import * as NeverBannedChecks from "./limits/NeverBannedChecks.ts"
import * as ApiKeyConcurrencyChecks from "./ports/ApiKeyConcurrencyChecks.ts"
import * as ApiKeyStoreChecks from "./ports/ApiKeyStoreChecks.ts"
import * as KeyEventChecks from "./ports/KeyEventChecks.ts"
import * as OutageChecks from "./ports/OutageChecks.ts"
import * as PetConcurrencyChecks from "./ports/PetConcurrencyChecks.ts"
import * as PetOnceChecks from "./ports/PetOnceChecks.ts"
import * as PetPageChecks from "./ports/PetPageChecks.ts"
import * as PetRepositoryChecks from "./ports/PetRepositoryChecks.ts"
import * as RateLimitConcurrencyChecks from "./ports/RateLimitConcurrencyChecks.ts"
import * as RateLimitCountChecks from "./ports/RateLimitCountChecks.ts"
import * as RateLimitStoreChecks from "./ports/RateLimitStoreChecks.ts"
import * as BanProductChecks from "./product/BanProductChecks.ts"
import * as CreationProductChecks from "./product/CreationProductChecks.ts"
import * as RequestProductChecks from "./product/RequestProductChecks.ts"
import * as TimeProductChecks from "./product/TimeProductChecks.ts"

/** All checks. Those of a profile run in this order: checks that need a store with few animals come first. */
export const checks: ReadonlyArray<Check> = [
  ...CatalogueChecks.empty,
  ...PositionChecks.checks,
  ...FirstRequestChecks.checks,
  ...CatalogueChecks.checks,
  ...ListChecks.checks,
  ...NameChecks.checks,
  ...GetChecks.checks,
  ...UnstoredCreationChecks.checks,
  ...CreationProductChecks.checks,
  ...CreateRejectionChecks.checks,
  ...CreateChecks.checks,
  ...ListParameterChecks.checks,
  ...ProtocolChecks.checks,
  ...RequestProductChecks.checks,
  ...PetRepositoryChecks.checks,
  ...PetPageChecks.checks,
  ...PetConcurrencyChecks.checks,
  ...PetOnceChecks.checks,
  ...RateLimitStoreChecks.checks,
  ...RateLimitConcurrencyChecks.checks,
  ...RateLimitCountChecks.checks,
  ...ApiKeyStoreChecks.checks,
  ...ApiKeyConcurrencyChecks.checks,
  ...KeyEventChecks.checks,
  ...OutageChecks.checks,
  ...AuthChecks.checks,
  ...MeterChecks.checks,
  ...DurationChecks.checks,
  ...TimeProductChecks.checks,
  ...BucketChecks.checks,
  ...AnonymousChecks.checks,
  ...ConcurrencyChecks.checks,
  ...BanChecks.checks,
  ...BanProductChecks.checks,
  ...NeverBannedChecks.checks,
  ...RemovalChecks.checks,
  ...TimeProductChecks.closing,
  ...ClosingChecks.checks
]

/** Checks of every exchange, which run after all others. */
export const ambientChecks: ReadonlyArray<AmbientCheck> = [
  ...ErrorChecks.checks,
  ...RateLimitHeaderChecks.checks,
  ...HeaderChecks.checks,
  ...StandardRateLimitChecks.checks,
  ...CreationResponseChecks.checks,
  ...AnimalHistoryChecks.checks,
  ...LimitHistoryChecks.checks
]
