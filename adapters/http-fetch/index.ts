/** The service on web-standard hosts. */
export type { Service } from "../../core/service/Service.ts"
export * as FetchHandler from "./FetchHandler.ts"
