/** Defines faults in the retrieval of one animal. */
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the id before the server reads it. */
const readsId = (change: (id: string) => string): Where =>
  AtHttp.requests(Requests.isGet, (request) => ({
    ...request,
    target: request.target.replace(/[^/]*$/, change)
  }))

export const faults: ReadonlyArray<Fault> = [
  fault("get.made-up", "Returns a made-up sold animal for an unknown id.")
    .breaks("get.not-found")
    .by(
      AtHttp.pets(
        PetStores.changingFound((pet, id) =>
          Option.orElseSome(pet, () => new Pet(id, { name: "-", categoryId: 0n, status: "sold" }))
        )
      )
    ),
  fault("get.leading-digits", "Reads only the leading digits of an id.")
    .breaks("get.not-found")
    .by(readsId((id) => /^[0-9]+/.exec(id)?.[0] ?? id)),
  fault("get.id-wraps", "Wraps an id outside int64 to another id.")
    .breaks("get.not-found")
    .by(readsId((id) => (/^[0-9]+$/.test(id) ? String(BigInt.asIntN(64, BigInt(id))) : id))),
  fault("get.leading-zeros", "Accepts an id with leading zeros.")
    .breaks("get.canonical-id")
    .by(readsId((id) => id.replace(/^0+(?=[0-9])/, ""))),
  fault("get.decodes-twice", "Percent-decodes an id twice.")
    .breaks("http.decoded-once")
    .by(readsId((id) => id.replaceAll("%25", "%"))),
  fault("get.never-decodes", "Does not percent-decode an id.")
    .breaks("http.decoded-once")
    .by(readsId((id) => id.replaceAll("%", "%25")))
]
