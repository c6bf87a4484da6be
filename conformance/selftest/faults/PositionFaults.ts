/** Defines faults at the beginning of a list, in the first request of a key, and at the beginning of a minute. */
import type { Animal } from "../../http/Animal.ts"
import { header, headerValues } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Changes the first animal of each list. */
const changesFirst = (change: (animal: Animal) => Animal): Where =>
  Lists.changesAnimals((animals) => animals.map((animal, at) => (at === 0 ? change(animal) : animal)))

export const faults: ReadonlyArray<Fault> = [
  fault("list.first-as-doubles", "Rounds the category of the first animal of a list to a double.")
    .breaks("list.faithful", "list.positions", "as it was shown before")
    .by(changesFirst((animal) => ({ ...animal, categoryId: BigInt(Number(animal.categoryId)) }))),
  fault("list.first-escaped", "Escapes markup in the name of the first animal of a list.")
    .breaks("list.faithful", "list.positions", "as it was shown before")
    .by(changesFirst((animal) => ({ ...animal, name: animal.name.replaceAll("<", "&lt;") }))),
  fault("list.first-cut", "Truncates the name of the first animal of a list to 200 characters.")
    .breaks("list.faithful", "list.positions", "as it was shown before")
    .by(changesFirst((animal) => ({ ...animal, name: animal.name.slice(0, 200) }))),
  fault(
    "create.first-rejected",
    "Rejects, for each key, the first creation with a body of more than 200 bytes."
  )
    .breaks("create.returns-created", "list.positions", "the same result for two creations")
    .by(
      AtHttp.firstResponses(
        (request) => Requests.isCreation(request) && (request.body?.length ?? 0) > 200,
        (response) => (response.status === 201 ? Edit.error(400, "invalid_body")(response) : response)
      )
    ),
  fault("get.first-lost", "Returns 404 if the first request of a key with a small plan retrieves an animal.")
    .breaks("get.found", "limits.first-request", "the same status for two requests GET")
    .by(
      AtHttp.firstResponses(
        (request, { keys }) => Requests.hasKey(request, keys.tiny) || Requests.hasKey(request, keys.victim),
        (response, request) => (Requests.isGet(request) ? Edit.error(404, "not_found")(response) : response)
      )
    ),
  fault(
    "list.first-shifted",
    "Subtracts 1 from every id if the first request of a key with a small plan is a list."
  )
    .breaks("list.faithful", "history.unchanged", "categoryId")
    .by(
      AtHttp.firstResponses(
        (request, { keys }) => Requests.hasKey(request, keys.tiny),
        Lists.edit((animals) => animals.map((animal) => ({ ...animal, id: animal.id - 1n })))
      )
    ),
  fault(
    "cell.late-reset",
    "In the first second of each minute, sends an X-RateLimit-Reset that is 60 s too late."
  )
    .breaks("limits.reset-ahead", "product.time", "Reset at most 60 s ahead")
    .by(
      AtHttp.responses({}, (response, _request, world) =>
        world.now() % 60_000 >= 1_000
          ? response
          : Edit.header(
              "X-RateLimit-Reset",
              String(Number(header(response, "X-RateLimit-Reset")) + 60)
            )(response)
      )
    ),
  fault("cell.browser-id", "Sends browsers a wrong id for the first animal of a list.")
    .breaks("list.faithful", "product.list", "as it was shown before")
    .by(
      AtHttp.responses(
        {
          to: (request) =>
            Requests.isList(request) &&
            headerValues(request, "accept").some((field) => field.includes("xhtml")),
          status: 200
        },
        Edit.rewritten((body) => body.replace(/"id":(-?[0-9]+)/, '"id":$1000'))
      )
    )
]
