/** Defines faults in the retrieval of one animal. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import type { WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the id before the server reads it. */
const readsId = (change: (id: string) => string): Where =>
  AtHttp.requests(Requests.isGet, (request) => ({
    ...request,
    target: request.target.replace(/[^/]*$/, change)
  }))

const ifUnknown = (edit: Edit.Edit): Where => AtHttp.responses({ to: Requests.isGet, status: 404 }, edit)

const isMalformed = (request: WireRequest): boolean =>
  Requests.isGet(request) && !/\/-?[0-9]{1,18}$/.test(request.target)

export const faults: ReadonlyArray<Fault> = [
  fault("get.first-animal", "Returns the first animal for every known id.")
    .breaks("get.faithful", "get.created", "} {id 1, name")
    .by(
      AtHttp.pets(
        PetStores.replacingFind((id, real) =>
          Effect.flatMap(real.find(id), (pet) => (Option.isSome(pet) ? real.find(1n) : Effect.succeed(pet)))
        )
      )
    ),
  fault("get.other-category", "Shows category 0 for every retrieved animal.")
    .breaks("get.faithful", "get.created", "categoryId 0, available")
    .by(
      AtHttp.pets(PetStores.changingFound(Option.map((pet) => new Pet(pet.id, { ...pet, categoryId: 0n }))))
    ),
  fault("get.sold-hidden", "Does not find sold animals.")
    .breaks("get.found", "get.created", "200 with the Pet 404")
    .by(AtHttp.pets(PetStores.changingFound(Option.filter(({ status }) => status !== "sold")))),
  fault("get.unknown-null", "Returns 200 and null for an unknown id.")
    .breaks("get.not-found", "get.unknown", "404 with an Error body 200")
    .by(ifUnknown(Edit.replace(200, "null"))),
  fault("get.made-up", "Returns a made-up sold animal for an unknown id.")
    .breaks("get.not-found", "get.unknown", "404 with an Error body 200")
    .by(
      AtHttp.pets(
        PetStores.changingFound((pet, id) =>
          Option.orElseSome(pet, () => new Pet(id, { name: "-", categoryId: 0n, status: "sold" }))
        )
      )
    ),
  fault("get.unknown-400", "Returns 400 for an unknown id.")
    .breaks("get.not-found", "get.unknown", "404 with an Error body 400")
    .by(ifUnknown(Edit.error(400, "invalid_parameter"))),
  fault("get.malformed-500", "Returns 500 for an id that is not a number.")
    .breaks("errors.no-5xx", "get.no-integer", "400 or 404 with an Error body 500")
    .by(AtHttp.responses({ to: isMalformed }, Edit.error(500, "internal_error"))),
  fault("get.leading-digits", "Reads only the leading digits of an id.")
    .breaks("get.not-found", "get.no-integer", "400 or 404 with an Error body 200")
    .by(readsId((id) => /^[0-9]+/.exec(id)?.[0] ?? id)),
  fault("get.id-wraps", "Wraps an id outside int64 to another id.")
    .breaks("get.not-found", "get.no-integer", "400 or 404 with an Error body 200")
    .by(readsId((id) => (/^[0-9]+$/.test(id) ? String(BigInt.asIntN(64, BigInt(id))) : id))),
  fault("get.leading-zeros", "Accepts an id with leading zeros.")
    .breaks("get.canonical-id", "get.malformed", "not_found 200")
    .by(readsId((id) => id.replace(/^0+(?=[0-9])/, ""))),
  fault("get.trims-id", "Ignores white space around an id.")
    .breaks("get.canonical-id", "get.malformed", "not_found 200")
    .by(readsId((id) => id.replace(/^(?:%20)+|(?:%20|%0A)+$/g, ""))),
  fault("get.malformed-400", "Returns 400 for an id that is not an int64.")
    .breaks("get.malformed-id", "get.malformed", "not_found 400")
    .by(AtHttp.responses({ to: isMalformed, status: 404 }, Edit.error(400, "invalid_parameter"))),
  fault("get.decodes-twice", "Percent-decodes an id twice.")
    .breaks("http.decoded-once", "get.percent-encoded", "404 200, remaining")
    .by(readsId((id) => id.replaceAll("%25", "%"))),
  fault("get.never-decodes", "Does not percent-decode an id.")
    .breaks("http.decoded-once", "get.percent-encoded", "200 404, remaining")
    .by(readsId((id) => id.replaceAll("%", "%25")))
]
