/** An answer before the headers that all answers have in common. */
import * as ApiError from "../errors/ApiError.ts"
import { catalogue } from "../errors/ErrorCatalogue.ts"
import type { Header } from "./ServiceResponse.ts"

export interface Answer {
  readonly status: number
  /** Those of this answer only. */
  readonly headers: ReadonlyArray<Header>
  /** JSON text, or empty for none. */
  readonly body: string
  /** Bytes of `body` in UTF-8, where they are known already. */
  readonly bodyBytes: number | undefined
}

export const noHeaders: ReadonlyArray<Header> = []

export const make = (
  status: number,
  body: string,
  headers: ReadonlyArray<Header> = noHeaders,
  bodyBytes: number | undefined = undefined
): Answer => ({ status, headers, body, bodyBytes })

export const error = (failure: ApiError.ApiError, headers: ReadonlyArray<Header> = noHeaders): Answer =>
  make(catalogue[failure.code].status, ApiError.body(failure), headers)
