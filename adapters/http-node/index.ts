/** The service on `node:http`. */
export * as NodeListener from "./NodeListener.ts"
export * as NodeServer from "./NodeServer.ts"
