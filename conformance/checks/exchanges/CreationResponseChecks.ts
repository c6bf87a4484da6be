/** A law about every response to a creation, whichever check sent it and with whichever key (contract §4.2). */
import * as Result from "effect/Result"
import type { Draft } from "../../http/Animal.ts"
import * as CreatedAnimal from "../../http/CreatedAnimal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text } from "../../http/Wire.ts"
import type { AmbientCheck } from "../AmbientCheck.ts"
import { about, describedAs, ofLevel, violation } from "./ExchangeLaws.ts"

/** Whether a server that accepts the name has no reason to change it. */
const mustBeKept = (name: string): boolean => /^[A-Za-z0-9]{1,128}$/.test(name)

/** Returns the animal in the request; `undefined` if a server may read it in another way. */
const sentBy = ({ request }: Exchange): Draft | undefined => {
  const body = text(request.body)
  // RFC 8259 §4 leaves open which of two members with the same name counts, also if one is written with escapes.
  const plain = body.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16))
  )
  const count = (name: string) => plain.split(`"${name}"`).length - 1
  if (count("name") !== 1 || count("categoryId") !== 1 || count("status") > 1) return undefined
  // The fields of a request are read like those of an animal, which has an id.
  return Result.getOrUndefined(
    Result.flatMap(PetJson.parse(body), (value) => PetJson.animal({ ...Object(value), id: 0n }))
  )
}

export const checks: ReadonlyArray<AmbientCheck> = ofLevel("spec", [
  {
    id: "every.creation-as-sent",
    law: "Every creation returns the category and status that were sent, and a name of at most 128 ASCII letters and digits as sent.",
    clauses: ["create.returns-created", "create.status-kept", "create.int64-exact"],
    ...about(
      (exchange) => {
        const returned = describedAs(exchange) === "create" ? CreatedAnimal.of(exchange) : undefined
        const sent = returned && sentBy(exchange)
        return returned && sent && { sent, returned }
      },
      ({ returned, sent: { categoryId, name, status } }) => {
        const expected = {
          id: returned.id,
          name: mustBeKept(name) ? name : returned.name,
          categoryId,
          status: status ?? returned.status
        }
        const [wanted, got] = [PetJson.line(expected), PetJson.line(returned)]
        return wanted === got ? undefined : violation(wanted, got)
      }
    )
  }
])
