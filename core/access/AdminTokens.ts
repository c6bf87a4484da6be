/** Defines the tokens of administrators: keys of a kind and a store of their own, which open only the admin API. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { CountPer } from "../limits/CountPer.ts"
import { OwnPlans } from "../limits/OwnPlans.ts"
import { AdminTokenStore } from "../ports/AdminTokenStore.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { Realm } from "./Realm.ts"

/** The stores of the program keep no admin tokens, so the admin API is not available. */
export class AdminTokensUnsupported extends Data.TaggedError("AdminTokensUnsupported") {
  override get message(): string {
    return "these stores keep no admin tokens"
  }
}

/** What tokens open. */
const realm: Realm = {
  name: "admin",
  noun: "admin token",
  idPrefix: "adm_",
  secretPrefix: "asa_",
  info: {
    title: "Animal Store Admin API",
    summary: "API keys, their usage, and the last hour of the server.",
    description:
      "Does what the commands `animal-store keys` do. Every request needs an admin token, which `animal-store admin " +
      "token` issues. Every action is an event, whose actor is the name of the token."
  }
}

/** The plan of tokens. Its limits only bound a mistake, such as a script without a pause: a person does not reach them. */
export const PLAN = "Admin"

/**
 * Returns the services with which the programs for API keys, such as `KeyLifecycle.issue`, are those for tokens.
 *
 * @internal
 */
export const services = Effect.gen(function* () {
  const store = yield* AdminTokenStore
  if (store === undefined) return yield* new AdminTokensUnsupported()
  return Context.make(ApiKeyStore, store).pipe(
    Context.add(Realm, realm),
    Context.add(OwnPlans, { [PLAN]: { perMinute: 3_000, perDay: 1_000_000 } }),
    // A token may have the account of API keys, but not their usage and bans.
    Context.add(CountPer, "key")
  )
})

/** Runs a program on the tokens instead of the API keys. */
export const provide = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.flatMap(services, (context) => Effect.provideContext(program, context))
