/** Reads, from an exchange, the animal that its request created. */
import * as Result from "effect/Result"
import type { Animal } from "./Animal.ts"
import * as PetJson from "./PetJson.ts"
import { text, type WireRequest, type WireResponse } from "./Wire.ts"

/** Returns the animal that a request created, as the response showed it; `undefined` for any other exchange. */
export const of = ({
  request,
  response
}: {
  readonly request: Pick<WireRequest, "method">
  readonly response: WireResponse
}): Animal | undefined =>
  request.method === "POST" && response.status === 201
    ? Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal))
    : undefined
