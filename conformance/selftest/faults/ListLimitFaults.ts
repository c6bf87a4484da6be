/** Defines faults that list too many or too few animals, or read the parameters of a list wrongly. */
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as Pages from "../spoilers/Pages.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("list.limit-plus-one", "Lists one animal more than requested.")
    .breaks("list.limit.maximum-returned")
    .by(AtPort.pets(PetStores.changingQuery(({ limit }) => ({ limit: limit + 1 })))),
  fault("list.more-than-100", "Accepts a limit above 100 and lists that many animals.")
    .breaks("list.limit.ceiling")
    .by(AtHttp.transport(Pages.server({ ceiling: 1_000 }))),
  fault("list.zero-means-all", "Lists all animals for a limit of 0.")
    .breaks("list.limit.ceiling")
    .by(
      AtHttp.transport((real) => {
        const large = Pages.server({ ceiling: 1_000 })(real)
        return (request) => {
          if (!Requests.isList(request)) return large(request)
          const isZero = Requests.listParameter(request, "limit") === "0"
          return isZero ? large(Requests.withParameter(request, "limit", "1000")) : real(request)
        }
      })
    ),
  fault(
    "list.limit-line-end",
    "Accepts a limit that ends with a line feed, as the anchor $ of a regular expression does."
  )
    .breaks("list.limit.syntax")
    .by(Lists.readsLimit(/^[1-9][0-9]?\n$/)),
  fault("list.limit-trailing-text", "Ignores the letters after the digits of a limit, as parseInt does.")
    .breaks("list.limit.syntax")
    .by(Lists.readsLimit(/^[1-9][0-9]*[a-z]+$/, (limit) => Number.parseInt(limit, 10))),
  fault(
    "list.limit-foreign-digits",
    "Accepts a limit in digits of other scripts, as \\d does in some languages."
  )
    .breaks("list.limit.syntax")
    .by(Lists.readsLimit(/^\p{Nd}$/u, (limit) => Number(limit.normalize("NFKC")) || 5)),
  fault("list.limit-decoded-twice", "Percent-decodes a limit twice.")
    .breaks("list.limit.syntax")
    .by(Lists.readsLimit(/^%[0-9]/, () => 5)),
  fault("list.limit-repeated", "Uses the first of several limits.")
    .breaks("list.limit.repeated")
    .by(Lists.readsLimit(/^/)),
  fault("list.parameters-any-case", "Ignores the case of parameter names.")
    .breaks("list.unknown-parameters")
    .by(
      AtHttp.requests(Requests.isList, (request) => {
        const lowered = new URLSearchParams()
        for (const [name, value] of Requests.parameters(request)) lowered.append(name.toLowerCase(), value)
        return Requests.withParameters(request, lowered)
      })
    )
]
