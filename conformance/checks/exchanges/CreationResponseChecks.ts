/** A law about every response to a creation, whichever check sent it and with whichever key (contract §4.2). */
import * as Result from "effect/Result"
import type { Draft } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text } from "../../http/Wire.ts"
import type { AmbientCheck } from "../AmbientCheck.ts"
import { about, describedAs, ofLevel, violation } from "./ExchangeLaws.ts"

/** A server that accepts such a name has no reason to change it. */
const isPlainName = (name: string): boolean => /^[A-Za-z0-9]{1,128}$/.test(name)

/** Returns the animal in the request; `undefined` if a server may read it in another way, or may change its name. */
const sentBy = ({ request }: Exchange): Draft | undefined => {
  const body = text(request.body)
  // Which one counts of two members with the same name is open (RFC 8259 §4).
  const isOnce = (name: string, min: number) => {
    const { length } = body.split(`"${name}"`)
    return length - 1 >= min && length - 1 <= 1
  }
  if (!isOnce("name", 1) || !isOnce("categoryId", 1) || !isOnce("status", 0)) return undefined
  // The fields of a request are read like those of an animal, which has an id.
  const read = Result.flatMap(PetJson.parse(body), (value) => PetJson.animal({ ...Object(value), id: 0n }))
  return Result.isSuccess(read) && isPlainName(read.success.name) ? read.success : undefined
}

export const checks: ReadonlyArray<AmbientCheck> = ofLevel("spec", [
  {
    id: "every.creation-as-sent",
    law: "Every creation returns the name, category and status that were sent, if the name has only ASCII letters and digits.",
    clauses: ["create.returns-created", "create.status-kept", "create.int64-exact"],
    ...about(
      (exchange) => {
        if (exchange.response.status !== 201 || describedAs(exchange) !== "create") return undefined
        const returned = Result.flatMap(PetJson.parse(text(exchange.response.body)), PetJson.animal)
        const sent = sentBy(exchange)
        return sent && Result.isSuccess(returned) ? { sent, returned: returned.success } : undefined
      },
      ({ returned, sent: { categoryId, name, status } }) => {
        const expected = { id: returned.id, name, categoryId, status: status ?? returned.status }
        const [wanted, got] = [PetJson.line(expected), PetJson.line(returned)]
        return wanted === got ? undefined : violation(wanted, got)
      }
    )
  }
])
