/** Defines realms: what the keys of one kind open. In another realm, their secrets are malformed. */
import * as Context from "effect/Context"

/** A realm, and what its keys are called. */
export interface Realm {
  /** The `realm` of challenges (RFC 9110 §11.5). */
  readonly name: "animals" | "admin"
  /** What messages call a key. */
  readonly noun: "API key" | "admin token"
  /** The beginning of the ids of keys. */
  readonly idPrefix: "key_" | "adm_"
  /** The beginning of secrets. */
  readonly secretPrefix: "ast_" | "asa_"
  /** The `info` of the OpenAPI document, without what all documents have in common. */
  readonly info: { readonly title: string; readonly summary: string; readonly description: string }
}

/** The realm of the contract. */
export const animals: Realm = {
  name: "animals",
  noun: "API key",
  idPrefix: "key_",
  secretPrefix: "ast_",
  info: {
    title: "Animal Store Service",
    summary: "A store's catalogue of animals.",
    description:
      "Lists, adds and retrieves the animals in a store. Every request needs an API key and counts against the " +
      "limits of its plan; every response states how much is left."
  }
}

/** The realm of the service and of the keys in the `ApiKeyStore` of the context; that of the contract by default. */
export const Realm = Context.Reference<Realm>("animal-store/core/access/Realm", {
  defaultValue: () => animals
})

/** Returns what messages call a stored key with this id. */
export const nounOf = (id: string): Realm["noun"] => (id.startsWith("adm_") ? "admin token" : "API key")

/** Returns a text about API keys as a text about the keys of the realm. */
export const inWordsOf = ({ noun }: Realm, text: string): string =>
  text.replaceAll("API key", noun).replaceAll("API_KEY", noun.replace(" ", "_").toUpperCase())
