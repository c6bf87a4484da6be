/** Defines for whom requests with a valid key are counted: for the key, or for all keys of its account together. */
import * as Context from "effect/Context"
import * as Rule from "../options/Rule.ts"
import * as Caller from "./Caller.ts"

export type CountPer = "key" | "account"

/** Whether keys of one account share their usage and their ban; a key without an account counts for itself. */
export const CountPer = Context.Reference<CountPer>("animal-store/core/limits/CountPer", {
  defaultValue: () => "key"
})

export const rule = Rule.oneOf<CountPer>(["key", "account"])

/** The fields of an API key that decide where its requests are counted. */
export interface Counted {
  readonly id: string
  readonly account: string | undefined
}

/** Returns the state key under which the requests of a key are counted. */
export const callerOf = ({ account, id }: Counted, countPer: CountPer): string =>
  countPer === "key" || account === undefined ? Caller.ofKey(id) : Caller.ofAccount(account)

/** Returns the state key of the other setting, under which earlier requests may be counted; `undefined` if it is the same. */
export const otherCallerOf = ({ account, id }: Counted, countPer: CountPer): string | undefined => {
  if (account === undefined) return undefined
  return countPer === "key" ? Caller.ofAccount(account) : Caller.ofKey(id)
}
