/** The store for programs without Effect. */
export { ApiKeyRevoked } from "../../core/access/ApiKey.ts"
export { ApiKeyUnknown, PlanInvalid } from "../../core/access/KeyLifecycle.ts"
export { InvalidOption } from "../../core/service/ServiceOptions.ts"
export { ListenFailed } from "../http-node/NodeServer.ts"
export {
  type AnimalStore,
  type AnimalStoreOptions,
  type IssuedApiKey,
  openAnimalStore
} from "./AnimalStore.ts"
export { InvalidDatabase } from "./Database.ts"
