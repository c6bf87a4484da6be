/** Reads the animal that a request created from its exchange. */
import * as Result from "effect/Result"
import type { Animal } from "./Animal.ts"
import type { Exchange } from "./Exchange.ts"
import * as PetJson from "./PetJson.ts"
import { text } from "./Wire.ts"

/** Returns the animal that a request created, as the response showed it; `undefined` for any other exchange. */
export const of = ({ request, response }: Exchange): Animal | undefined =>
  request.method === "POST" && response.status === 201
    ? Result.getOrUndefined(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animal))
    : undefined
