/** Defines faults that store a new animal wrongly, or return a wrong response to its creation. */
import { text } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Creations from "../spoilers/Creations.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

const changesName = (change: (name: string) => string): Where =>
  AtHttp.pets(PetStores.changingInserted(({ name }) => ({ name: change(name) })))

export const faults: ReadonlyArray<Fault> = [
  fault("create.client-id", "Returns the id that the client sent instead of the assigned id.")
    .breaks("create.id-assigned")
    .by(
      AtHttp.responses({ to: Requests.isCreation, status: 201 }, (response, request) => {
        const id = /"id":\d+/.exec(text(request.body))?.[0]
        return Edit.rewritten((body) => (id === undefined ? body : body.replace(/"id":-?\d+/, id)))(response)
      })
    ),
  fault(
    "create.once-per-body",
    "Stores only one animal for two creations with the same body, and returns it twice."
  )
    .breaks("resources.id-unique")
    .by(AtHttp.transport(Creations.oncePerBody)),
  fault("create.stored-before-validated", "Stores an animal before it validates it.")
    .breaks("create.refused-unstored")
    .by(AtHttp.transport(Creations.storesAfter(400, (request) => request))),
  fault("create.stored-without-key", "Returns 401 for a creation without a key, but stores the animal.")
    .breaks("auth.refused-unstored")
    .by(
      AtHttp.transport((real, { keys }) =>
        Creations.storesAfter(401, (request) => Requests.withKey(request, keys.main))(real)
      )
    ),
  fault("create.counts-units", "Truncates names to 255 UTF-16 code units.")
    .breaks("create.name-length")
    .by(changesName((name) => name.slice(0, 255))),
  fault("create.unique-names", "Rejects a second animal with the same name.")
    .breaks("create.name-not-unique")
    .by(AtHttp.transport(Creations.uniqueNames)),
  fault("create.content-code-for-json", "Uses the code invalid_body for every invalid body.")
    .breaks("create.codes")
    .by(
      AtHttp.responses(
        { to: Requests.isCreation },
        Edit.rewritten((body) => body.replace("invalid_json", "invalid_body"))
      )
    )
]
