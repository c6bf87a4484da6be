/** Defines faults that list too many or too few animals, or read the parameters of a list wrongly. */
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as Pages from "../spoilers/Pages.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("list.limit-ignored", "Ignores the limit, and lists all animals.")
    .breaks("pets.page.limit", "list.limit", "1 sold animals 2 animals")
    .by(AtPort.pets(PetStores.changingQuery(() => ({ limit: PetStores.everything.limit })))),
  fault("list.limit-plus-one", "Lists one animal more than requested.")
    .breaks("pets.page.limit", "list.limit", "1 sold animals 2 animals")
    .by(AtPort.pets(PetStores.changingQuery(({ limit }) => ({ limit: limit + 1 })))),
  fault("list.limit-minus-one", "Lists one animal fewer than requested.")
    .breaks("pets.page.full", "list.limit", "at least 1 0 animals")
    .by(AtPort.pets(PetStores.changingQuery(({ limit }) => ({ limit: limit - 1 })))),
  fault("list.limit-one-means-two", "Lists two animals for a limit of 1.")
    .breaks("list.limit.maximum-returned", "list.limit", "at most 1 sold animals 2 animals")
    .by(Lists.readsLimit(/^1$/, () => 2)),
  fault("list.default-10", "Uses 10 as the default limit.")
    .breaks("list.limit.default-fills", "list.limit.default", "because more exist 10")
    .by(Lists.defaultLimit("10")),
  fault("list.default-10-of-available", "Uses 10 as the default limit of lists with the status available.")
    .breaks(
      "list.limit.default-fills",
      "list.limit.default",
      "20 available in a list without a limit, because more exist 10"
    )
    .by(Lists.defaultLimit("10", "available")),
  fault("list.default-10-of-sold", "Uses 10 as the default limit of lists with the status sold.")
    .breaks(
      "list.limit.default-fills",
      "list.limit.default",
      "20 sold in a list without a limit, because more exist 10"
    )
    .by(Lists.defaultLimit("10", "sold")),
  fault("list.default-100-of-pending", "Uses 100 as the default limit of lists with the status pending.")
    .breaks(
      "list.limit.default",
      "list.limit.default",
      "20 pending in a list without a limit, because more exist 21"
    )
    .by(Lists.defaultLimit("100", "pending")),
  fault("list.default-100", "Uses 100 as the default limit.")
    .breaks("list.limit.default", "list.limit.default", "because more exist 21")
    .by(Lists.defaultLimit("100")),
  fault("list.ninety-at-most", "Lists at most 90 animals, even for a limit of 100.")
    .breaks("list.complete", "list.limit.full", "90 after 10 more were created")
    .by(Lists.readsLimit(/^/, (limit) => (Number(limit) > 90 ? 90 : undefined))),
  fault(
    "list.short-from-fifty",
    "Omits every third animal from lists of more than 50 animals, unless the limit is 100."
  )
    .breaks("list.complete", "list.limit.full", "99 animals 66")
    .by(
      Lists.changesAnimals((animals, request) =>
        animals.length > 50 && Requests.listParameter(request, "limit") !== "100"
          ? animals.filter((_animal, index) => index % 3 !== 0)
          : animals
      )
    ),
  fault("list.largest-limit-rejected", "Rejects a limit of 100.")
    .breaks("list.limit.accepted", "list.limit.accepted", "limit=100 400")
    .by(Lists.readsLimit(/^100$/, () => 101)),
  fault("list.two-digits-only", "Reads only the first two digits of a limit, so that 100 becomes 10.")
    .breaks("list.complete", "list.limit.full", "10 after 90 more were created")
    .by(Lists.readsLimit(/^.{3,}$/, (limit) => Number(limit.slice(0, 2)))),
  fault("list.more-than-100", "Accepts a limit above 100 and lists that many animals.")
    .breaks("list.limit.ceiling", "list.limit.ceiling", "?limit=101 101")
    .by(AtHttp.transport(Pages.server({ ceiling: 1_000 }))),
  fault("list.zero-means-all", "Lists all animals for a limit of 0.")
    .breaks("list.limit.ceiling", "list.limit.ceiling", "?limit=0 10")
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
  fault("list.limit-101-clamped", "Clamps a limit above 100 to 100.")
    .breaks("list.limit.range", "list.limit.range", "?limit=101 200")
    .by(Lists.readsLimit(/^/, (limit) => (Number(limit) > 100 ? 100 : undefined))),
  fault("list.limit-zero-clamped", "Clamps a limit of 0 to 1.")
    .breaks("list.limit.range", "list.limit.range", "?limit=0 200")
    .by(Lists.readsLimit(/^0$/, () => 1)),
  fault("list.limit-negative-clamped", "Clamps a negative limit to 1.")
    .breaks("list.limit.range", "list.limit.range", "?limit=-1 200")
    .by(Lists.readsLimit(/^-[0-9]/, () => 1)),
  fault("list.limit-wraps", "Truncates a limit to 32 bits, so that a huge limit becomes valid.")
    .breaks("list.limit.range", "list.limit.range", "?limit=4294967297 200")
    .by(Lists.readsLimit(/^[0-9]{10,18}$/, (limit) => Number(BigInt.asIntN(32, BigInt(limit))))),
  fault("list.limit-leading-zeros", "Accepts a limit with leading zeros.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=05 200")
    .by(Lists.readsLimit(/^0+[1-9]/)),
  fault("list.limit-plus-sign", "Accepts a limit with a plus sign.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=%2B5 200")
    .by(Lists.readsLimit(/^\+[1-9][0-9]*$/)),
  fault("list.limit-trimmed", "Accepts a limit with spaces around it.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=+5 200")
    .by(Lists.readsLimit(/^\s+[1-9]|[0-9]\s+$/)),
  fault(
    "list.limit-line-end",
    "Accepts a limit that ends with a line feed, as the anchor $ of a regular expression does."
  )
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=5%0A 200")
    .by(Lists.readsLimit(/^[1-9][0-9]?\n$/)),
  fault("list.limit-exponent", "Accepts a limit with an exponent.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=1e1 200")
    .by(Lists.readsLimit(/^[1-9]e[0-9]$/i)),
  fault("list.limit-fraction", "Accepts a limit with a fraction and truncates it.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=1.0 200")
    .by(Lists.readsLimit(/^[1-9][0-9]*\.[0-9]+$/, (limit) => Math.trunc(Number(limit)))),
  fault("list.limit-hexadecimal", "Accepts a hexadecimal limit.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=0x10 200")
    .by(Lists.readsLimit(/^0x[0-9a-f]+$/i)),
  fault("list.limit-trailing-text", "Ignores the letters after the digits of a limit, as parseInt does.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=10abc 200")
    .by(Lists.readsLimit(/^[1-9][0-9]*[a-z]+$/, (limit) => Number.parseInt(limit, 10))),
  fault("list.limit-empty", "Treats an empty limit as absent.")
    .breaks("list.limit.syntax", "list.limit.syntax", "400 invalid_parameter to ?limit= 200")
    .by(Lists.readsLimit(/^$/, () => 20)),
  fault(
    "list.limit-foreign-digits",
    "Accepts a limit in digits of other scripts, as \\d does in some languages."
  )
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=%EF%BC%95 200")
    .by(Lists.readsLimit(/^\p{Nd}$/u, (limit) => Number(limit.normalize("NFKC")) || 5)),
  fault("list.limit-decoded-twice", "Percent-decodes a limit twice.")
    .breaks("list.limit.syntax", "list.limit.syntax", "?limit=%255 200")
    .by(Lists.readsLimit(/^%[0-9]/, () => 5)),
  fault("list.limit-garbage-is-default", "Treats a limit that is not a number as absent.")
    .breaks("list.limit.syntax", "list.limit.syntax", "400 invalid_parameter to ?limit=true 200")
    .by(Lists.readsLimit(/^[^0-9]+$/, () => 20)),
  fault("list.limit-repeated", "Uses the first of several limits.")
    .breaks("list.limit.repeated", "list.limit.repeated", "limit=5&limit=5 200")
    .by(Lists.readsLimit(/^/)),
  fault("list.parameters-undecoded", "Rejects percent-encoding in a query.")
    .breaks(
      "list.limit.accepted",
      "list.parameters.decoded",
      "200 with a bare array of animals to /v1/pets?limit=%31 400"
    )
    .by(
      AtHttp.requests(
        (request) => Requests.isList(request) && request.target.includes("%"),
        (request) => Requests.withParameter(request, "limit", "%")
      )
    ),
  fault("list.parameters-any-case", "Ignores the case of parameter names.")
    .breaks("list.unknown-parameters", "list.unknown-parameters", "?Limit=1 ids 1")
    .by(
      AtHttp.requests(Requests.isList, (request) => {
        const lowered = new URLSearchParams()
        for (const [name, value] of Requests.parameters(request)) lowered.append(name.toLowerCase(), value)
        return Requests.withParameters(request, lowered)
      })
    ),
  fault("list.unknown-parameters-rejected", "Rejects unknown parameters.")
    .breaks(
      "list.unknown-parameters",
      "list.unknown-parameters",
      "200 with a bare array of animals to /v1/pets?colour=red 400"
    )
    .by(AtHttp.options({ strict: true })),
  fault("list.parameter-code", "Rejects an invalid parameter with the code for an invalid body.")
    .breaks("list.parameter-code", "list.limit.range", "400 invalid_parameter to ?limit=0 400")
    .by(
      AtHttp.responses(
        { to: Requests.isList, status: 400 },
        Edit.members((error) => ({ ...error, code: "invalid_body" }))
      )
    )
]
