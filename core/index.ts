/**
 * Exports the public API of the core, for storage adapters, hosts, and programs that embed the service. Modules of
 * functions are exported under their own name (`RateLimit.step`); types and services are exported separately, so that
 * declarations of other programs can name them.
 */
export { Actor } from "./access/Actor.ts"
export * as AdminTokens from "./access/AdminTokens.ts"
export { type ApiKey, ApiKeyRevoked, type StoredSecret } from "./access/ApiKey.ts"
export { type Expiry, ExpiryInvalid } from "./access/Expiry.ts"
export * as KeyChange from "./access/KeyChange.ts"
export type { KeyAction, KeyEvent, ValueChange } from "./access/KeyEvent.ts"
export * as KeyLifecycle from "./access/KeyLifecycle.ts"
export { ApiKeyUnknown } from "./access/KeyLifecycle.ts"
export * as KeyStatus from "./access/KeyStatus.ts"
export { type Metadata, MetadataInvalid } from "./access/Metadata.ts"
export * as Cursor from "./codec/Cursor.ts"
export type { Encodable, EncodableObject } from "./codec/Json.ts"
export type { None, QueryParameter, QueryParameters, Values } from "./codec/QueryParameters.ts"
export type { Deprecation } from "./deprecation/Deprecation.ts"
export type { Int64 } from "./domain/Int64.ts"
export type { NewPet } from "./domain/NewPet.ts"
export type { PageQuery } from "./domain/Page.ts"
export { Pet } from "./domain/Pet.ts"
export type { PetStatus } from "./domain/PetStatus.ts"
export { ApiError, make as makeApiError } from "./errors/ApiError.ts"
export * as ErrorCatalogue from "./errors/ErrorCatalogue.ts"
export type { OwnErrors } from "./errors/OwnErrors.ts"
export { StoreUnavailable } from "./errors/StoreUnavailable.ts"
export type { Once, Outcome as OnceOutcome } from "./idempotency/Once.ts"
export { BanPolicy } from "./limits/BanPolicy.ts"
export * as Caller from "./limits/Caller.ts"
export { CountPer } from "./limits/CountPer.ts"
export type { DailyQuota } from "./limits/DailyQuota.ts"
export { OwnPlans } from "./limits/OwnPlans.ts"
export type { Plan, PlanName } from "./limits/Plan.ts"
export * as RateLimit from "./limits/RateLimit.ts"
export type { TokenBucket } from "./limits/TokenBucket.ts"
export type { Usage } from "./limits/Usage.ts"
export {
  type Definition as OperationDefinition,
  type Description as OperationDescription,
  type Failure as OperationFailure,
  type Input as OperationInput,
  make as makeOperation,
  type Operation,
  type Output as OperationOutput,
  type OutputOf as OperationOutputOf,
  type PathParameter,
  type Removal,
  type RequestBody,
  type ResponseBody,
  type ResponseHeader,
  type Runtime as OperationRuntime,
  type Success,
  type Unvalidated
} from "./operations/Operation.ts"
export { all as operations } from "./operations/Operations.ts"
export { InvalidOption } from "./options/InvalidOption.ts"
export { AdminTokenStore } from "./ports/AdminTokenStore.ts"
export { ApiKeyStore, type KeyUpdate } from "./ports/ApiKeyStore.ts"
export { PetRepository } from "./ports/PetRepository.ts"
export { make as makeRateLimitStore, RateLimitStore, type Step } from "./ports/RateLimitStore.ts"
export { Readiness } from "./ports/Readiness.ts"
export { type Claim as ResponseClaim, ResponseStore } from "./ports/ResponseStore.ts"
export { type Exchange, ResponseObserver } from "./service/Exchange.ts"
export type { Caller as HostCaller, HostResponse, HostRoute } from "./service/HostRoute.ts"
export * as Service from "./service/Service.ts"
export type { ServiceOptions } from "./service/ServiceOptions.ts"
export {
  BodyConsumed,
  BodyTooLarge,
  HostBusy,
  type Scheme,
  type ServiceRequest
} from "./service/ServiceRequest.ts"
export type { Header, ServiceResponse } from "./service/ServiceResponse.ts"
export { type StaticFile, StaticFiles } from "./service/StaticFiles.ts"
