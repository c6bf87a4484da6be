/** Finds callers by the hashes of their keys, and caches them as long as animal-store does. */
import { hash } from "node:crypto"
import { type Caller, callers } from "../Catalogue.ts"
import * as MaybePromise from "./MaybePromise.ts"

const CACHED_MS = 5_000

/** Hashes an API key, so that the database does not contain it. */
const hashOf = (token: string): string => hash("sha256", token)

/** The keys of the catalogue as the databases store them. */
export const hashedCallers: ReadonlyArray<Caller & { readonly hash: string }> = [...callers].map(
  ([token, caller]) => ({ hash: hashOf(token), ...caller })
)

interface Cached {
  readonly caller: Caller
  readonly until: number
}

/** Returns a function from tokens to callers; `find` queries the database. */
export const make = (
  find: (hash: string) => MaybePromise.MaybePromise<Caller | undefined>
): ((token: string) => MaybePromise.MaybePromise<Caller | undefined>) => {
  // Unknown keys are not cached, so there are at most as many entries as keys.
  const cached = new Map<string, Cached>()
  return (token) => {
    const hash = hashOf(token)
    const known = cached.get(hash)
    if (known !== undefined && known.until > Date.now()) return known.caller
    return MaybePromise.map(find(hash), (caller) => {
      if (caller !== undefined) cached.set(hash, { caller, until: Date.now() + CACHED_MS })
      return caller
    })
  }
}
