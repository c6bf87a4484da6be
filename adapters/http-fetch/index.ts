/** The service on web-standard hosts. */
export { InvalidOption } from "../../core/options/InvalidOption.ts"
export type { Service } from "../../core/service/Service.ts"
export * as FetchHandler from "./FetchHandler.ts"
