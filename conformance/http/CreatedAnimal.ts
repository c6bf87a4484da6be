/** Reads, from an exchange, the animal that its request created or deleted. */
import * as Result from "effect/Result"
import { isSuccess } from "../../core/service/ServiceResponse.ts"
import type { Animal } from "./Animal.ts"
import type { Exchange } from "./Exchange.ts"
import * as PetJson from "./PetJson.ts"
import { text } from "./Wire.ts"

/**
 * Returns the animal that a request created, as the response showed it; `undefined` for any other exchange, or if only
 * the beginning of the body is stored.
 */
export const of = ({ request, response }: Pick<Exchange, "request" | "response">): Animal | undefined =>
  request.method === "POST" && response.status === 201 && response.cut === undefined
    ? Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal))
    : undefined

/** Returns the id of the animal that a request deleted, as in its path; `undefined` for any other exchange. */
export const deletedIdOf = ({ request, response }: Exchange): string | undefined =>
  request.method === "DELETE" && isSuccess(response.status)
    ? /\/pets\/([0-9]+)$/.exec(request.target)?.[1]
    : undefined
