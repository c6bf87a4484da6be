/** Exports the hosts for `node:http`: a listener and a server. */
export { InvalidOption } from "../../core/options/InvalidOption.ts"
export type { Service } from "../../core/service/Service.ts"
export * as NodeListener from "./NodeListener.ts"
export * as NodeServer from "./NodeServer.ts"
