/** Describes the interface of a service where it depends on who its callers are: its document and its credentials. */
import * as Context from "effect/Context"
import type { Prefix } from "../access/ApiKeySecret.ts"
import type * as Json from "../codec/Json.ts"
import { catalogue } from "../errors/ErrorCatalogue.ts"
import * as Plan from "../limits/Plan.ts"
import * as Schemas from "../operations/Schemas.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"

/** What differs between the interface of the animals and another one that the same pipeline serves. */
export interface Interface {
  /** The `info` of the OpenAPI document, without what all documents have in common. */
  readonly info: (options: ServiceOptions) => {
    readonly title: string
    readonly summary: string
    readonly description: string
  }
  readonly credential: {
    readonly prefix: Prefix
    /** The `realm` of challenges. */
    readonly realm: string
    /** The messages of the two errors with status 401. */
    readonly messages: { readonly [code in "missing_api_key" | "invalid_api_key"]: string }
    /** The description of the security scheme. */
    readonly description: string
  }
  /** The plans that its document names, besides those of the operator. */
  readonly plans: { readonly [name: string]: Plan.Plan | undefined }
  /** Returns the schemas of its document, besides those of the operations. */
  readonly schemas: (options: ServiceOptions) => Json.EncodableObject
}

/** The interface of the contract. */
export const animals: Interface = {
  info: ({ strict }) => ({
    title: "Animal Store Service",
    summary: "A store's catalogue of animals.",
    description:
      "Lists, adds and retrieves the animals in a store. Every request needs an API key and counts against the " +
      "limits of its plan; every response states how much is left. Unknown query parameters and body fields " +
      `are ${strict ? "rejected" : "ignored"}.`
  }),
  credential: {
    prefix: "ast_",
    realm: "animals",
    messages: {
      missing_api_key: catalogue.missing_api_key.meaning,
      invalid_api_key: catalogue.invalid_api_key.meaning
    },
    description: "The API key, sent as `Authorization: Bearer <API_KEY>`."
  },
  plans: Plan.standard,
  schemas: Schemas.make
}

/** The interface of the service; that of the contract by default. */
export const Interface = Context.Reference<Interface>("animal-store/core/service/Interface", {
  defaultValue: () => animals
})
