/** The query of `GET /pets` (contract §4.1): text → limit, status and cursor. */
import * as Result from "effect/Result"
import * as Page from "../domain/Page.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as QueryString from "./QueryString.ts"

/** The parameters of `GET /pets`, with defaults filled in. */
export interface ListPetsParameters {
  readonly limit: number
  readonly status: PetStatus.PetStatus | undefined
  /** As sent; `Cursor` tells what it means. */
  readonly cursor: string | undefined
}

/** The query parameters that `GET /pets` knows. */
export const names = ["limit", "status", "cursor"] as const

const defaults: ListPetsParameters = { limit: Page.limit.default, status: undefined, cursor: undefined }

type Failure = ApiError.ApiError<"invalid_parameter">

/**
 * Reads a query string. Parameters with other names are ignored, or refused when `strict`; fails with
 * `invalid_parameter` naming the parameter and the reason.
 */
export const decode = (query: string, strict: boolean): Result.Result<ListPetsParameters, Failure> => {
  if (query === "") return Result.succeed(defaults)
  const values = valuesOf(query, names, strict)
  if (Result.isFailure(values)) return Result.fail(values.failure)
  const { cursor, limit, status } = values.success
  if (status !== undefined && !PetStatus.is(status)) return invalid("status", PetStatus.message)
  if (limit !== undefined && !(/^[1-9][0-9]{0,2}$/.test(limit) && Number(limit) <= Page.limit.max)) {
    return invalid("limit", `must be an integer from ${Page.limit.min} to ${Page.limit.max}`)
  }
  return Result.succeed({ limit: limit === undefined ? Page.limit.default : Number(limit), status, cursor })
}

/** Checks the query of an operation that takes no parameter: well encoded and, when `strict`, without any. */
export const decodeNone = (query: string, strict: boolean): Result.Result<unknown, Failure> =>
  query === "" ? Result.succeed(undefined) : valuesOf(query, [], strict)

const valuesOf = <const Name extends string>(
  query: string,
  known: ReadonlyArray<Name>,
  strict: boolean
): Result.Result<{ readonly [name in Name]?: string }, Failure> => {
  const parameters = QueryString.parse(query)
  if (parameters === undefined) {
    return Result.fail(
      ApiError.make("invalid_parameter", "The query string has a malformed percent-encoding.")
    )
  }
  const values: { [name in Name]?: string } = {}
  for (const { name, value } of parameters) {
    const parameter = known.find((candidate) => candidate === name)
    if (parameter !== undefined) {
      if (values[parameter] !== undefined) return invalid(parameter, "must not be given twice")
      values[parameter] = value
    } else if (strict) {
      return Result.fail(ApiError.make("invalid_parameter", "The query string has an unknown parameter."))
    }
  }
  return Result.succeed(values)
}

const invalid = (name: string, reason: string): Result.Result<never, Failure> =>
  Result.fail(ApiError.make("invalid_parameter", `${name}: ${reason}.`))
