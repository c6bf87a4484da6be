/** Decodes query parameters as they are declared; the OpenAPI document is generated from the same declarations. */
import * as Result from "effect/Result"
import * as ApiError from "../errors/ApiError.ts"
import type * as Json from "./Json.ts"
import * as QueryString from "./QueryString.ts"

/** The declaration of a query parameter: its documentation and its decoder. */
export interface QueryParameter<A> {
  readonly description: string
  /** Whether `decode` fails without a text; for the OpenAPI document. */
  readonly required?: true
  /** JSON Schema for the OpenAPI document. */
  readonly schema: Json.EncodableObject
  /** Decodes the text (`undefined` if the parameter is absent). Fails with a reason, such as "must be an integer". */
  readonly decode: (text: string | undefined) => Result.Result<A, string>
}

/** The declared parameters, by name. */
export interface QueryParameters {
  readonly [name: string]: QueryParameter<unknown>
}

/** The declaration of an operation without parameters. */
export type None = { readonly [name in never]: never }

/** The decoded values of parameters. */
export type Values<Parameters extends QueryParameters> = {
  readonly [name in keyof Parameters]: Parameters[name] extends QueryParameter<infer A> ? A : never
}

type InvalidParameter = ApiError.ApiError<"invalid_parameter">

/**
 * Decodes a query string. Unknown parameters are ignored, or rejected if `strict`. Fails with `invalid_parameter` and a
 * reason, which names the parameter only if it is declared. Malformed percent-encoding, repeated and unknown parameters
 * are reported before invalid values.
 */
export const decode = <Parameters extends QueryParameters>(
  parameters: Parameters,
  query: string,
  strict: boolean
): Result.Result<Values<Parameters>, InvalidParameter> => {
  const texts = textsOf(parameters, query, strict)
  if (Result.isFailure(texts)) return Result.fail(texts.failure)
  const values: { [name: string]: unknown } = {}
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = parameter.decode(texts.success.get(name))
    if (Result.isFailure(value)) return failInvalid(name, value.failure)
    values[name] = value.success
  }
  // The cast is safe: each value was decoded by the parameter of the same name.
  return Result.succeed(values as Values<Parameters>)
}

const noTexts: Result.Result<ReadonlyMap<string, string>, InvalidParameter> = Result.succeed(new Map())

const textsOf = (
  parameters: QueryParameters,
  query: string,
  strict: boolean
): Result.Result<ReadonlyMap<string, string>, InvalidParameter> => {
  if (query === "") return noTexts
  const pairs = QueryString.parse(query)
  if (pairs === undefined) {
    return Result.fail(
      ApiError.make("invalid_parameter", "The query string contains a malformed percent-encoding.")
    )
  }
  const texts = new Map<string, string>()
  for (const { name, value } of pairs) {
    if (Object.hasOwn(parameters, name)) {
      if (texts.has(name)) return failInvalid(name, "must not be repeated")
      texts.set(name, value)
    } else if (strict) {
      return Result.fail(
        ApiError.make("invalid_parameter", "The query string contains an unknown parameter.")
      )
    }
  }
  return Result.succeed(texts)
}

const failInvalid = (name: string, reason: string): Result.Result<never, InvalidParameter> =>
  Result.fail(ApiError.make("invalid_parameter", `${name}: ${reason}.`))
