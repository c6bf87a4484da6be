/** Exports the store for programs that do not use Effect. */
export { AdminTokensUnsupported } from "../../core/access/AdminTokens.ts"
export { type ApiKey, ApiKeyRevoked, type StoredSecret } from "../../core/access/ApiKey.ts"
export { type Expiry, ExpiryInvalid } from "../../core/access/Expiry.ts"
export type { KeyChange } from "../../core/access/KeyChange.ts"
export type { KeyAction, KeyEvent, ValueChange } from "../../core/access/KeyEvent.ts"
export {
  AccountInvalid,
  ApiKeyUnknown,
  type IssueOptions,
  LabelInvalid,
  OverlapInvalid,
  PlanInvalid,
  RotationUnfinished
} from "../../core/access/KeyLifecycle.ts"
export type { KeyStatus, ListOptions as ListKeysOptions } from "../../core/access/KeyStatus.ts"
export { type Metadata, MetadataInvalid } from "../../core/access/Metadata.ts"
export type { Deprecation } from "../../core/deprecation/Deprecation.ts"
export type { Pet } from "../../core/domain/Pet.ts"
export type { PetStatus } from "../../core/domain/PetStatus.ts"
export type { OwnErrors } from "../../core/errors/OwnErrors.ts"
export { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
export type { BanPolicy } from "../../core/limits/BanPolicy.ts"
export type { Plan, PlanName } from "../../core/limits/Plan.ts"
export type { Usage } from "../../core/limits/Usage.ts"
export { InvalidOption } from "../../core/options/InvalidOption.ts"
export type { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
export type { PetRepository } from "../../core/ports/PetRepository.ts"
export type { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
export type { Exchange } from "../../core/service/Exchange.ts"
export type { Caller, GuardOptions } from "../../core/service/HostRoute.ts"
export type { ServiceOptions } from "../../core/service/ServiceOptions.ts"
export type { Admission } from "../http-fetch/Admission.ts"
export type { FetchHandler, FetchHandlerOptions } from "../http-fetch/FetchHandler.ts"
export type { Guard } from "../http-node/Guard.ts"
export type { NodeListener } from "../http-node/NodeListener.ts"
export { ListenFailed, type NodeServerOptions } from "../http-node/NodeServer.ts"
export type { FieldValue, LogEvent, LogLevel, LogThreshold } from "../log/LogEvent.ts"
export type { LogFormatName } from "../log/LogFormat.ts"
export { RedisUnusable } from "../redis/RedisUnusable.ts"
export { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
export type { SeriesValue as MetricSeries, Snapshot as MetricsSnapshot } from "../telemetry/Snapshot.ts"
export { type AnimalStore, openAnimalStore } from "./AnimalStore.ts"
export type { AnimalStoreOptions } from "./AnimalStoreOptions.ts"
export type { CloseOptions, RotateOptions } from "./Arguments.ts"
export { type DatabaseOptions, InvalidDatabase } from "./Database.ts"
export type { IssuedApiKey, Keys } from "./Keys.ts"
export type { ObservationOptions, OtlpOptions } from "./ObservationOptions.ts"
export { OperationError } from "./OperationError.ts"
export {
  defineOperation,
  type OperationDefinition,
  type OperationInput,
  type OwnOperation
} from "./OwnOperation.ts"
export type { ListOptions, Pets } from "./Pets.ts"
export * as Stores from "./PromiseStores.ts"
