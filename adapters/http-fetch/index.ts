/** The service on web-standard hosts. */
export * as FetchHandler from "./FetchHandler.ts"
