/** Exports the host for web-standard servers: a `Request → Response` function. */
export { InvalidOption } from "../../core/options/InvalidOption.ts"
export type { Service } from "../../core/service/Service.ts"
export * as FetchHandler from "./FetchHandler.ts"
