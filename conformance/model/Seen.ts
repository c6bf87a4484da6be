/** Defines a response together with what its request asked for, as the laws of the model see it. */
import * as Result from "effect/Result"
import { isOfService } from "../http/ByService.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import type { WireResponse } from "../http/Wire.ts"
import type { Exchange, Key } from "./Exchange.ts"
import type { Asked } from "./Request.ts"

export interface Seen {
  readonly exchange: Exchange & { readonly response: WireResponse }
  readonly asked: Asked
  readonly status: number
  /** The valid key with which the request was admitted or denied, as far as the response shows. */
  readonly key: Key | undefined
}

export const make = (exchange: Seen["exchange"], asked: Asked): Seen => {
  const { status } = exchange.response
  // A denial does not show whether an open credential was taken for the key.
  const isHidden = status === 401 || (asked.caller.is === "open" && (status === 429 || status === 403))
  return { exchange, asked, status, key: isHidden ? undefined : asked.caller.key }
}

/** Whether the service itself certainly responded, and not the HTTP implementation before it. */
export const isByService = ({ exchange }: Seen): boolean => isOfService(exchange)

/** Whether the response has an Error body, which no HTTP implementation knows. */
export const isError = ({ exchange }: Seen): boolean => Result.isSuccess(ErrorBody.of(exchange.response))

/** Whether whatever responded knows the contract. */
export const isByContract = (seen: Seen): boolean => isByService(seen) || isError(seen)

/** Whether the contract describes the request, whether or not its values are valid. */
export const isDescribed = ({ asked: { isPlain, operation } }: Seen): boolean =>
  isPlain && operation.is !== "none"

/** Whether the response denies the request because of a limit or a ban. */
export const isDenial = ({ status }: Seen): boolean => status === 429 || status === 403

export const isSuccess = ({ status }: Seen): boolean => status >= 200 && status < 300
