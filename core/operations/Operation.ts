/**
 * Creates the operations of the interface from records. Routing, 405 and `Allow`, `HEAD`, `OPTIONS`, validation,
 * deprecation headers and the OpenAPI document are derived from these records.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ApiKey } from "../access/ApiKey.ts"
import type { Cursor } from "../codec/Cursor.ts"
import type * as Json from "../codec/Json.ts"
import * as QueryParameters from "../codec/QueryParameters.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as IdempotencyKey from "../idempotency/IdempotencyKey.ts"
import type { Once } from "../idempotency/Once.ts"
import * as RunOnce from "../idempotency/RunOnce.ts"
import type { PetRepository } from "../ports/PetRepository.ts"
import type * as ResponseStore from "../ports/ResponseStore.ts"
import { addresses, type ServiceOptions } from "../service/ServiceOptions.ts"
import type { HostBusy } from "../service/ServiceRequest.ts"
import type { Header } from "../service/ServiceResponse.ts"

/** The JSON body of a request. */
export interface RequestBody<Body> {
  /** A noun phrase for the OpenAPI document, such as "The animal". */
  readonly description: string
  readonly schema: Json.EncodableObject
  readonly examples: Json.EncodableObject
  /** Decodes the body; fails with `invalid_json` or `invalid_body`. */
  readonly decode: (bytes: Uint8Array, strict: boolean) => Result.Result<Body, ApiError.ApiError>
}

/** A path parameter; the operation validates its text. */
export interface PathParameter {
  readonly description: string
  readonly schema: Json.EncodableObject
}

/** A header of a successful response. */
export interface ResponseHeader {
  readonly description: string
  /** `address` returns the URL of a path below the base path. */
  readonly example: (address: (path: string) => string) => string
}

/** The JSON body of a successful response. */
export interface ResponseBody {
  readonly schema: Json.EncodableObject
  readonly examples: Json.EncodableObject
}

type SuccessOf<Status extends number> = {
  readonly status: Status
  readonly description: string
  /** Additional headers, by their component name in the OpenAPI document; `Link-Next` is a `Link` header. */
  readonly headers?: { readonly [component: string]: ResponseHeader }
}

type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226

/** The successful response of an operation; it has no body if there is no `schema`. */
export type Success =
  | (SuccessOf<Exclude<SuccessStatus, 204 | 205>> & ResponseBody)
  | (SuccessOf<SuccessStatus> & { readonly [part in keyof ResponseBody]?: never })

/** The planned removal of an operation, and its replacement. */
export interface Removal {
  /** Returns the dates of the deprecation and the effect of the sunset. */
  readonly policy: (options: ServiceOptions) => Deprecation.Deprecation
  /** The path of the replacement. */
  readonly successor: string
}

type Pets = PetRepository["Service"]
type OptionalMethod = {
  [method in keyof Pets]-?: undefined extends Pets[method] ? method : never
}[keyof Pets]

/** The declarative part of an operation. */
export interface Description {
  /** `operationId` in the OpenAPI document. */
  readonly id: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The path below the base path; a segment `{name}` is a parameter. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Groups operations in the OpenAPI document; `animals` by default. */
  readonly tag?: string
  /** Schemas to which the schemas of the record refer as `#/components/schemas/NAME`, by name. */
  readonly schemas?: { readonly [name: string]: Json.EncodableObject }
  readonly pathParameters?: { readonly [name: string]: PathParameter }
  /** The optional method of the store that the operation needs; without it, the service has no such operation. */
  readonly needs?: OptionalMethod
  readonly success: Success
  /**
   * Error codes of this operation, in addition to the codes that every operation can return: of the service, or of the
   * option `errors`.
   */
  readonly errors?: ReadonlyArray<string>
  readonly removal?: Removal
  /** Number of requests as which a request with a valid key counts; 1 by default, at most the whole limits of the key. */
  readonly cost?: number
  /**
   * Makes the operation run to its end if the client disconnects, and logs its failure, because its effects cannot be
   * undone. Other operations are interrupted.
   */
  readonly isUninterruptible?: true
}

/** The input of an operation: a validated request, and the services that it can use. */
export interface Input<Query, Body> {
  /** The path parameters, percent-decoded. */
  readonly path: { readonly [name: string]: string }
  readonly query: Query
  readonly body: Body
  /** The query as sent, without the question mark, for operations that decode it themselves. */
  readonly queryText: string
  /** The key of the caller. */
  readonly key: ApiKey
  /** Returns the value of a request header by its lower-case name; several values are joined by `, `. */
  readonly header: (name: string) => string | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly options: ServiceOptions
  /** Returns the URL of a path below the base path: absolute if `publicBaseUrl` is set, otherwise a path. */
  readonly address: (path: string) => string
  readonly pets: PetRepository["Service"]
  readonly cursors: Cursor["Service"]
  /** Present if the request has an `Idempotency-Key`, the operation a `fingerprint`, and the store `insertOnce`. */
  readonly once: Once | undefined
}

/** The output of an operation. */
export interface Output {
  /** The status, from 200 to 299, if it is not the one of the record. */
  readonly status?: number | undefined
  /** JSON text; it is not sent if the record declares a response without a body. */
  readonly body?: string
  readonly headers?: ReadonlyArray<Header>
}

/** The output of an operation with this response: one with a `schema` has a body. */
export type OutputOf<Response extends Success> = Response extends ResponseBody
  ? Output & { readonly body: string }
  : Output

/** The errors with which an operation can fail. */
export type Failure = ApiError.ApiError | StoreUnavailable

/** The record from which `make` creates an operation. */
export interface Definition<
  Parameters extends QueryParameters.QueryParameters,
  Body,
  Response extends Success = Success
> extends Description {
  readonly success: Response
  readonly query?: Parameters
  readonly body?: RequestBody<Body>
  /**
   * Makes the operation support `Idempotency-Key`; its `run` must then obey `once`, and send
   * `Idempotency-Replayed: true` if an earlier request was executed. Returns a string that identifies the body: requests
   * with the same key and the same string count as the same request.
   */
  readonly fingerprint?: (body: Body) => string
  /**
   * Makes the service store the response of the operation for `Idempotency-Key`, so that its `run` need not obey `once`:
   * for an operation whose effects are not in the database. It then runs at most once for each key.
   */
  readonly storesResponse?: true
  /**
   * Returns the maximum number of bytes of the response's body. The operation then runs only when the host has room for
   * it; declare it if the body can be larger than some kilobytes.
   */
  readonly maxResponseBytes?: (query: QueryParameters.Values<Parameters>) => number
  /**
   * Runs the operation. Use `Effect.fnUntraced` instead of `Effect.gen` in its body: V8 creates hidden objects for
   * every generator function, and with one function per request, garbage collection copied a hundred times more data.
   */
  readonly run: (
    input: Input<QueryParameters.Values<Parameters>, Body>
  ) => Effect.Effect<OutputOf<Response>, Failure>
}

/** A routed request before validation. */
export interface Unvalidated {
  /** The path parameters, percent-decoded. */
  readonly path: { readonly [name: string]: string }
  /** The query without the question mark. */
  readonly query: string
  /** The path of the host before the base path. */
  readonly prefix: string
  /** Epoch milliseconds. */
  readonly now: number
  /** The API key; without one, no operation runs. */
  readonly key: ApiKey | undefined
  header(name: string): string | undefined
  /** The `Idempotency-Key` header, if the operation obeys it on this service. */
  readonly idempotencyKey: string | undefined
  /** Waits until the host has room for a response of so many bytes; `undefined` if it has room now. */
  readonly room: (bytes: number) => Effect.Effect<void, HostBusy> | undefined
}

/** What a service provides to run its operations. */
export interface Runtime extends Pick<Input<never, never>, "options" | "address" | "pets" | "cursors"> {
  /** Where responses are stored for `Idempotency-Key`, if the store can store them. */
  readonly responses: ResponseStore.Methods | undefined
  /** Returns the fingerprint of a text. */
  readonly hash: (text: string) => Effect.Effect<string>
}

/** An operation, as the service runs it. */
export interface Operation extends Description {
  readonly query: QueryParameters.QueryParameters
  readonly body: RequestBody<unknown> | undefined
  /** Whether the operation supports `Idempotency-Key`. */
  readonly isIdempotent: boolean
  /** Whether the service stores its response for `Idempotency-Key`. */
  readonly storesResponse?: true
  /** Runs the operation, unless the request is invalid (400) or the operation is removed (404 or 410). */
  readonly execute: (
    request: Unvalidated,
    body: Uint8Array | undefined,
    runtime: Runtime
  ) => Effect.Effect<Output, Failure | HostBusy>
}

/** Returns whether an operation obeys `Idempotency-Key` on a service with these options. */
export const isIdempotentOn = (
  { isIdempotent }: Pick<Operation, "isIdempotent">,
  { idempotencyKeys }: Pick<ServiceOptions, "idempotencyKeys">
): boolean => isIdempotent && idempotencyKeys

/** Creates an operation from its definition. */
export const make = <
  const Parameters extends QueryParameters.QueryParameters = QueryParameters.None,
  Body = undefined,
  const Response extends Success = Success
>(
  definition: Definition<Parameters, Body, Response>
): Operation => {
  const parameters: QueryParameters.QueryParameters = definition.query ?? {}
  return {
    ...definition,
    query: parameters,
    body: definition.body,
    isIdempotent: definition.fingerprint !== undefined,
    execute: (request, bytes, { address, cursors, hash, options, pets, responses }) => {
      const { idempotencyKey, key, now, path } = request
      if (key === undefined) return Effect.fail(ApiError.make("missing_api_key"))
      const onceKey = idempotencyKey === undefined ? none : IdempotencyKey.parse(idempotencyKey)
      if (Result.isFailure(onceKey)) return Effect.fail(onceKey.failure)
      const query = QueryParameters.decode(parameters, request.query, options.strict)
      if (Result.isFailure(query)) return Effect.fail(query.failure)
      const body = decodeBody(definition.body, bytes, options.strict)
      if (Result.isFailure(body)) return Effect.fail(body.failure)
      const rejection = definition.removal && Deprecation.rejectionAt(definition.removal.policy(options), now)
      if (rejection !== undefined) return Effect.fail(rejection)
      // The casts are safe: the definition decoded these values, and without a body `Body` is `undefined`.
      const values = query.success as QueryParameters.Values<Parameters>
      const content = body.success as Body
      const input = {
        path,
        query: values,
        body: content,
        queryText: request.query,
        key,
        header: (name: string) => request.header(name),
        now,
        options,
        address: request.prefix === "" ? address : addresses(options, request.prefix),
        pets,
        cursors,
        once: undefined
      }
      if (definition.fingerprint !== undefined && onceKey.success !== undefined) {
        const once = { caller: key.id, key: onceKey.success, now }
        const identity = definition.fingerprint(content)
        if (definition.storesResponse === undefined || responses === undefined) {
          return Effect.flatMap(hash(identity), (fingerprint) =>
            definition.run({ ...input, once: { ...once, fingerprint } })
          )
        }
        // Keys are shared by all such operations, so the whole request is identified.
        const whole = JSON.stringify([definition.id, path, request.query, identity])
        return Effect.flatMap(hash(whole), (fingerprint) =>
          RunOnce.run(responses, { ...once, fingerprint }, definition.run(input))
        )
      }
      const waiting = definition.maxResponseBytes && request.room(definition.maxResponseBytes(values))
      return waiting === undefined
        ? definition.run(input)
        : Effect.flatMap(waiting, () => definition.run(input))
    }
  }
}

const none = Result.succeed(undefined)

const decodeBody = <Body>(
  body: RequestBody<Body> | undefined,
  bytes: Uint8Array | undefined,
  strict: boolean
): Result.Result<Body | undefined, ApiError.ApiError> =>
  body === undefined || bytes === undefined ? none : body.decode(bytes, strict)
