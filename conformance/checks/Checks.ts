/** All checks, in the order in which they are listed. */
import type { AmbientCheck } from "./Ambient.ts"
import type { Check } from "./Check.ts"
import * as ConcurrencyChecks from "./catalogue/ConcurrencyChecks.ts"
import * as ListChecks from "./catalogue/ListChecks.ts"
import * as EveryExchange from "./EveryExchange.ts"
import * as AuthChecks from "./http/AuthChecks.ts"
import * as CreateBodyChecks from "./http/CreateBodyChecks.ts"
import * as GetChecks from "./http/GetChecks.ts"
import * as ListParameterChecks from "./http/ListParameterChecks.ts"
import * as ProtocolChecks from "./http/ProtocolChecks.ts"
import * as RemovalChecks from "./http/RemovalChecks.ts"
import * as AnonymousChecks from "./limits/AnonymousChecks.ts"
import * as BanChecks from "./limits/BanChecks.ts"
import * as BucketChecks from "./limits/BucketChecks.ts"
import * as DurationChecks from "./limits/DurationChecks.ts"
import * as MeterChecks from "./limits/MeterChecks.ts"
import * as ApiKeyStoreChecks from "./ports/ApiKeyStoreChecks.ts"
import * as OutageChecks from "./ports/OutageChecks.ts"
import * as PetRepositoryChecks from "./ports/PetRepositoryChecks.ts"
import * as RateLimitStoreChecks from "./ports/RateLimitStoreChecks.ts"

/** Within a profile they run in this order: what needs few animals in the store comes first. */
export const checks: ReadonlyArray<Check> = [
  ...ListChecks.checks,
  ...GetChecks.checks,
  ...CreateBodyChecks.checks,
  ...ListParameterChecks.checks,
  ...ProtocolChecks.checks,
  ...PetRepositoryChecks.checks,
  ...RateLimitStoreChecks.checks,
  ...ApiKeyStoreChecks.checks,
  ...OutageChecks.checks,
  ...AuthChecks.checks,
  ...MeterChecks.checks,
  ...DurationChecks.checks,
  ...BucketChecks.checks,
  ...AnonymousChecks.checks,
  ...ConcurrencyChecks.checks,
  ...BanChecks.checks,
  ...RemovalChecks.checks
]

/** Checks of every exchange, after all others. */
export const ambientChecks: ReadonlyArray<AmbientCheck> = EveryExchange.checks
