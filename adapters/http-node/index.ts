/** The service on `node:http`. */
export { InvalidOption } from "../../core/options/InvalidOption.ts"
export type { Service } from "../../core/service/Service.ts"
export * as NodeListener from "./NodeListener.ts"
export * as NodeServer from "./NodeServer.ts"
