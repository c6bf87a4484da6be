/** Defines faults that store a new animal wrongly, or return a wrong response to its creation. */
import { text } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Creations from "../spoilers/Creations.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the response to a successful creation. */
const onCreated = (edit: Edit.Edit): Where => AtHttp.responses({ to: Requests.isCreation, status: 201 }, edit)

const changesName = (change: (name: string) => string): Where =>
  AtHttp.pets(PetStores.changingInserted(({ name }) => ({ name: change(name) })))

const changesCategory = (change: (category: bigint) => bigint): Where =>
  AtHttp.pets(PetStores.changingInserted(({ categoryId }) => ({ categoryId: change(categoryId) })))

export const faults: ReadonlyArray<Fault> = [
  fault("create.not-stored", "Returns 201 for a creation, but does not store the animal.")
    .breaks("get.found", "get.created", "200 with the Pet 404")
    .by(AtHttp.pets(Creations.neverStored)),
  fault("create.lower-cases-name", "Stores the name of a creation in lower case.")
    .breaks("create.returns-created", "create.created", "the animal as sent")
    .by(changesName((name) => name.toLowerCase())),
  fault("create.ignores-status", "Stores every new animal as available.")
    .breaks("create.status-kept", "create.created", "the animal as sent")
    .by(AtHttp.pets(PetStores.changingInserted(() => ({ status: "available" })))),
  fault("create.returns-200", "Returns 200 for a creation.")
    .breaks("create.status-201", "create.created", "201 with the Pet 200")
    .by(onCreated(Edit.status(200))),
  fault("create.returns-empty", "Returns 201 without a body.")
    .breaks("create.returns-created", "create.created", 'not JSON: ""')
    .by(onCreated(Edit.body(""))),
  fault("create.category-as-text", "Shows the category of a new animal as a JSON string.")
    .breaks("resources.pet-types", "create.created", "categoryId is not an int64")
    .by(onCreated(Edit.rewritten((body) => body.replace(/"categoryId":(-?\d+)/, '"categoryId":"$1"')))),
  fault("create.without-id", "Omits the id from the response to a creation.")
    .breaks("create.id-assigned", "create.created", "id is not an int64")
    .by(onCreated(Edit.rewritten((body) => body.replace(/"id":-?\d+,/, "")))),
  fault("create.category-as-double", "Parses the category of a creation as a double.")
    .breaks("create.int64-exact", "catalogue.category-exact", "categoryId -9223372036854775808, pending")
    .by(changesCategory((category) => BigInt.asIntN(64, BigInt(Number(category))))),
  fault("create.category-int32", "Truncates the category of a creation to 32 bits.")
    .breaks("create.int64-exact", "catalogue.category-exact", "categoryId -1, pending")
    .by(changesCategory((category) => BigInt.asIntN(32, category))),
  fault("create.returns-422", "Returns 422 instead of 400 for an invalid creation.")
    .breaks("errors.listed-statuses", "create.required", "400 with an Error body 422")
    .by(
      AtHttp.responses({ to: Requests.isCreation, status: 400 }, (response) =>
        Edit.status(422)(Edit.members((error) => ({ ...error, status: 422n }))(response))
      )
    ),
  fault("create.client-id", "Returns the id that the client sent instead of the assigned id.")
    .breaks("create.id-assigned", "create.own-id", "that was sent")
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
    .breaks("resources.id-unique", "create.twice", "second animal with the same body the id")
    .by(AtHttp.transport(Creations.oncePerBody)),
  fault("create.stored-before-validated", "Stores an animal before it validates it.")
    .breaks("create.refused-unstored", "create.refused-stores-nothing", "no animal of a rejected creation")
    .by(AtHttp.transport(Creations.storesAfter(400, (request) => request))),
  fault("create.stored-without-key", "Returns 401 for a creation without a key, but stores the animal.")
    .breaks("auth.refused-unstored", "create.unauthorized-stores-nothing", "no animal of a rejected creation")
    .by(
      AtHttp.transport((real, { keys }) =>
        Creations.storesAfter(401, (request) => Requests.withKey(request, keys.main))(real)
      )
    ),
  fault("create.drops-emoji", "Removes emoji from names.")
    .breaks("create.name-exact", "catalogue.name-exact", "as it was created")
    .by(changesName((name) => name.replace(/\p{Extended_Pictographic}/gu, ""))),
  fault("create.trims-name", "Removes white space around the name of a creation.")
    .breaks("create.name-exact", "catalogue.name-exact", "as it was created")
    .by(changesName((name) => name.trim())),
  fault("create.normalizes-name", "Normalizes the name of a creation to Unicode NFC.")
    .breaks("create.name-exact", "catalogue.name-exact", "as it was created")
    .by(changesName((name) => name.normalize("NFC"))),
  fault("create.escapes-html", "Escapes names as HTML before it stores them.")
    .breaks("create.name-exact", "catalogue.name-exact", "&lt;b>")
    .by(changesName((name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;"))),
  fault("create.counts-units", "Truncates names to 255 UTF-16 code units.")
    .breaks("create.name-length", "create.longest-name", "the animal as sent")
    .by(changesName((name) => name.slice(0, 255))),
  fault("create.unique-names", "Rejects a second animal with the same name.")
    .breaks("create.name-not-unique", "create.same-name", "201 with the Pet 400")
    .by(AtHttp.transport(Creations.uniqueNames)),
  fault("create.shows-unknown-members", "Returns an unknown member of the body with the new animal.")
    .breaks("create.unknown-fields", "create.unknown-members", "categoryId, status, colour")
    .by(
      AtHttp.responses(
        {
          to: (request) => Requests.isCreation(request) && text(request.body).includes('"colour"'),
          status: 201
        },
        Edit.members((pet) => ({ ...pet, colour: "red" }))
      )
    ),
  fault("create.json-code-for-content", "Uses the code invalid_json for every invalid body.")
    .breaks("create.codes", "create.codes-of-content", "of code invalid_body 400")
    .by(
      AtHttp.responses(
        { to: Requests.isCreation },
        Edit.rewritten((body) => body.replace("invalid_body", "invalid_json"))
      )
    ),
  fault("create.content-code-for-json", "Uses the code invalid_body for every invalid body.")
    .breaks("create.codes", "create.codes-of-syntax", "of code invalid_json 400")
    .by(
      AtHttp.responses(
        { to: Requests.isCreation },
        Edit.rewritten((body) => body.replace("invalid_json", "invalid_body"))
      )
    ),
  fault("create.no-address", "Omits Location from the response to a creation.")
    .breaks("create.location", "create.address", "no Location")
    .by(AtHttp.responses({ to: Requests.isCreation }, Edit.without("location"))),
  fault("create.wrong-address", "Sends the path of the list as the Location of a new animal.")
    .breaks("create.location", "create.address", "Location: /v1/pets/")
    .by(onCreated(Edit.header("Location", "/v1/pets")))
]
