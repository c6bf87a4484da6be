/** The store for programs that do not use Effect. */
export { type ApiKey, ApiKeyRevoked, type StoredSecret } from "../../core/access/ApiKey.ts"
export {
  ApiKeyUnknown,
  type IssueOptions,
  LabelInvalid,
  OverlapInvalid,
  PlanInvalid
} from "../../core/access/KeyLifecycle.ts"
export type { Deprecation } from "../../core/deprecation/Deprecation.ts"
export { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
export type { BanPolicy } from "../../core/limits/BanPolicy.ts"
export type { Plan, PlanName } from "../../core/limits/Plan.ts"
export { InvalidOption, type ServiceOptions } from "../../core/service/ServiceOptions.ts"
export type { FetchHandler, FetchHandlerOptions } from "../http-fetch/FetchHandler.ts"
export type { NodeListener } from "../http-node/NodeListener.ts"
export { ListenFailed, type NodeServerOptions } from "../http-node/NodeServer.ts"
export { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
export {
  type AnimalStore,
  type AnimalStoreOptions,
  type IssuedApiKey,
  openAnimalStore
} from "./AnimalStore.ts"
export { type DatabaseOptions, InvalidDatabase } from "./Database.ts"
