/** Defines operations of a host, which stand beside the operations of the contract. */
import * as Plan from "../../core/limits/Plan.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import type { Caller } from "../../core/service/HostRoute.ts"
import type { OperationError } from "./OperationError.ts"
import type { Pets } from "./Pets.ts"
import * as Validator from "./Validator.ts"

/** The names of the parameters in a path such as `/orders/{orderId}`. */
type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never

/** What `run` of an operation receives. */
export interface OperationInput<
  Path extends string = string,
  Query = unknown,
  Body = unknown,
  Code extends string = string
> {
  /** The parameters of the path, percent-decoded. */
  readonly params: { readonly [name in ParameterOf<Path>]: string }
  /** The validated query; `undefined` without a validator. */
  readonly query: Query
  /** The validated body; `undefined` without a validator. */
  readonly body: Body
  readonly caller: Caller
  /** Returns the value of a request header; several values are joined by `, `. */
  readonly header: (name: string) => string | undefined
  /** The animals, without a key and without a count. */
  readonly pets: Pets
  /** Arrival time in epoch milliseconds. */
  readonly now: number
  /** Creates an error to throw, which becomes the response; the default message is the meaning of the code. */
  readonly error: (code: Code, message?: string) => OperationError
}

/** What `run` of an operation returns: `body` if the response has one. */
export type OperationOutput<Body = unknown> = {
  /** The status, from 200 to 299; by default the status of `success`. */
  readonly status?: number | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
} & (Body extends undefined ? { readonly body?: undefined } : { readonly body: Body })

/** An operation of a host. */
export interface OperationDefinition<
  Path extends string,
  Query extends Validator.Validator | undefined,
  Body extends Validator.Validator | undefined,
  Response extends Validator.Validator | undefined,
  Code extends string
> {
  /** `operationId` in the OpenAPI document: letters, digits and underscores. */
  readonly id: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The path below the base path; a segment `{name}` is a parameter. */
  readonly path: Path
  readonly summary?: string | undefined
  readonly description?: string | undefined
  /** Validates an object with the query parameters, which are texts. */
  readonly query?: Query
  /** Validates the JSON body. Not for GET. */
  readonly body?: Body
  /** The successful response. */
  readonly success: {
    /** From 200 to 299; by default 200, or 204 without `body`. */
    readonly status?: number | undefined
    /** Validates the body that `run` returns; the response has what it returns. */
    readonly body?: Response
    readonly description?: string | undefined
  }
  /** The codes of the errors that `run` throws: of the service, or of the option `errors`. */
  readonly errors?: ReadonlyArray<Code>
  /** Number of requests as which a request with a valid key counts, at most the whole limits of the key; 1 by default. */
  readonly cost?: number | undefined
  /**
   * Obey `Idempotency-Key`: `run` is called at most once for each key, and later requests with the key get its response
   * for 24 hours. An `error` that it throws frees the key, so that a retry calls it again. Not for GET.
   */
  readonly idempotent?: boolean | undefined
  /** Runs the operation. Throws an `error` for a response with its code; anything else that it throws is a 500. */
  readonly run: (
    input: OperationInput<Path, Validator.OutputOf<Query>, Validator.OutputOf<Body>, Code>
  ) => Result<Validator.InputOf<Response>> | Promise<Result<Validator.InputOf<Response>>>
}

/** The result of a function without a `return`. */
type Nothing = ReturnType<() => void>

type Result<Body> = OperationOutput<Body> | (Body extends undefined ? Nothing : never)

/** An operation of a host, for the option `operations`; `defineOperation` creates it. */
export type OwnOperation = Omit<
  OperationDefinition<
    string,
    Validator.Validator | undefined,
    Validator.Validator | undefined,
    Validator.Validator | undefined,
    string
  >,
  "run"
> & { readonly run: (input: never) => unknown }

/**
 * Defines an operation. The types of `run` follow from the path, the validators and the codes.
 *
 * @example
 * ```ts
 * const getOrder = defineOperation({
 *   id: "getOrder",
 *   method: "GET",
 *   path: "/orders/{orderId}",
 *   success: { body: Order },
 *   errors: ["order_unknown"],
 *   run: async ({ params, error }) => {
 *     const order = await orders.find(params.orderId)
 *     if (order === undefined) throw error("order_unknown")
 *     return { body: order }
 *   }
 * })
 * ```
 */
export const defineOperation = <
  const Path extends string,
  const Query extends Validator.Validator | undefined = undefined,
  const Body extends Validator.Validator | undefined = undefined,
  const Response extends Validator.Validator | undefined = undefined,
  const Code extends string = never
>(
  definition: OperationDefinition<Path, Query, Body, Response, Code>
): OwnOperation => definition

const validator = Rule.make(Validator.isValidator, "must be a Standard Schema validator or a JSON Schema")

const isCodes = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((code) => typeof code === "string")

const status = Rule.integer({ min: 200, max: 299 })

const rules: Options.Rules<OwnOperation> = {
  id: Rule.text,
  method: Rule.oneOf(["GET", "POST", "PUT", "PATCH", "DELETE"]),
  path: Rule.text,
  summary: Rule.text,
  description: Rule.text,
  query: validator,
  body: validator,
  success: Options.partial<OwnOperation["success"]>({ status, body: validator, description: Rule.text }),
  errors: Rule.make(isCodes, "must be an array of codes"),
  cost: Rule.integer(Plan.bounds),
  idempotent: Rule.boolean,
  run: Rule.callback()
}

const required = ["id", "method", "path", "success", "run"] as const

const operationRule = Options.partial<OwnOperation>(rules)

const reasonFor = (operation: unknown, index: number): string | undefined => {
  const given: { readonly id?: unknown } = Object(operation)
  const name = typeof given.id === "string" ? given.id : `operation ${index + 1}`
  if (!operationRule.isValid(operation)) return `${name}: ${operationRule.reasonFor(operation)}`
  if (operation.idempotent && operation.method === "GET") return `${name}: idempotent is not for GET`
  if (operation.body !== undefined && operation.method === "GET") return `${name}: body is not for GET`
  const missing = required.find((field) => operation[field] === undefined)
  return missing === undefined ? undefined : `${name}: must have the field ${missing}`
}

const errorOf = (value: unknown): string | undefined =>
  Array.isArray(value)
    ? value.map(reasonFor).find((reason) => reason !== undefined)
    : "must be an array of operations"

/** A rule for the option `operations`. */
export const rule: Rule.Rule<ReadonlyArray<OwnOperation>> = {
  isValid: (value): value is ReadonlyArray<OwnOperation> => errorOf(value) === undefined,
  reasonFor: (value) => errorOf(value) ?? "must be an array of operations"
}
