/** Finds the caller of a request by the token in its `Authorization` header. */
import { type Caller, callers } from "../Catalogue.ts"

const SCHEME = "Bearer "

export const callerOf = (authorization: string | undefined): Caller | undefined =>
  authorization?.startsWith(SCHEME) ? callers.get(authorization.slice(SCHEME.length)) : undefined
