/** Defines the outsiders that break contract §2 and §4 in lists, or in the encoding of animals. */
import * as Effect from "effect/Effect"
import { text } from "../../http/Wire.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"
import { type Outsider, outsider } from "./Outsider.ts"
import { changesAnimal, isSingle } from "./Single.ts"

const isDouble = (value: bigint): boolean => BigInt(Number(value)) === value

export const outsiders: ReadonlyArray<Outsider> = [
  outsider(
    "fifty-at-most",
    "4.1",
    "Lists at most 50 animals, even for a larger limit.",
    Lists.changesAnimals((all) => all.slice(0, 50))
  ),
  outsider("default-25", "4.1", "Uses 25 as the default limit.", Lists.defaultLimit("25")),
  outsider(
    "default-10-with-status",
    "4.1",
    "Uses 10 as the default limit of lists with a status filter.",
    AtHttp.requests(
      (request) =>
        Requests.listParameter(request, "status") !== null &&
        Requests.listParameter(request, "limit") === null,
      (request) => Requests.withParameter(request, "limit", "10")
    )
  ),
  outsider(
    "limit-after-status",
    "4.1",
    "Ignores a limit that comes after the status in the query.",
    AtHttp.requests(
      ({ target }) => /[?&]status=[^&]*&.*limit=/.test(target),
      (request) => Requests.withParameter(request, "limit", undefined)
    )
  ),
  outsider(
    "limit-100-rejected",
    "4.1",
    "Rejects a limit of 100.",
    AtHttp.responses(
      { to: (request) => Requests.listParameter(request, "limit") === "100", status: 200 },
      Edit.error(400, "invalid_parameter")
    )
  ),
  outsider(
    "limit-of-two-digits",
    "4.1",
    "Reads only the first digit of a limit.",
    Lists.readsLimit(/^[1-9][0-9]$/, (limit) => Number(limit[0]))
  ),
  outsider(
    "sold-with-pending",
    "4.1",
    "Lists pending animals among the sold ones.",
    AtHttp.pets((real) => ({
      ...real,
      page: (query) =>
        query.status === "sold"
          ? Effect.map(real.page({ ...query, status: undefined }), (pets) =>
              pets.filter(({ status }) => status !== "available")
            )
          : real.page(query)
    }))
  ),
  outsider(
    "no-pending",
    "4.1",
    "Returns an empty list for the status pending.",
    Lists.changesAnimals((all, request) =>
      Requests.listParameter(request, "status") === "pending" ? [] : all
    )
  ),
  outsider(
    "filter-after-limit",
    "4.1",
    "Applies the limit before the status filter.",
    AtHttp.pets((real) => ({
      ...real,
      page: (query) =>
        Effect.map(real.page({ ...query, status: undefined }), (pets) =>
          pets.filter(({ status }) => query.status === undefined || status === query.status)
        )
    }))
  ),
  outsider(
    "wrapped-when-filtered",
    "2",
    "Wraps a list with a status filter in an object.",
    AtHttp.responses(
      { to: (request) => Requests.listParameter(request, "status") !== null, status: 200 },
      Edit.rewritten((body) => `{"items":${body}}`)
    )
  ),
  outsider(
    "empty-as-null",
    "2",
    "Returns null instead of an empty list.",
    AtHttp.responses(
      { to: Requests.isList, status: 200 },
      Edit.rewritten((body) => (body === "[]" ? "null" : body))
    )
  ),
  outsider(
    "empty-as-404",
    "4.1",
    "Returns 404 for a status that no animal has.",
    AtHttp.responses({ to: Requests.isList, status: 200 }, (response) =>
      text(response.body) === "[]" ? Edit.error(404, "not_found")(response) : response
    )
  ),
  outsider(
    "ids-as-text-in-lists",
    "2",
    "Sends ids as strings in lists.",
    Lists.changesAnimals((all) => all.map((animal) => ({ ...animal, id: String(animal.id) })))
  ),
  outsider(
    "large-categories-as-text",
    "2",
    "Sends a categoryId beyond 2^53 as a string.",
    changesAnimal(isSingle, (animal) =>
      isDouble(animal.categoryId) ? animal : { ...animal, categoryId: String(animal.categoryId) }
    )
  ),
  outsider(
    "categories-as-doubles-in-lists",
    "2",
    "Rounds categoryId to a double in lists.",
    Lists.changesAnimals((all) =>
      all.map((animal) => ({ ...animal, categoryId: BigInt(Number(animal.categoryId)) }))
    )
  ),
  outsider(
    "names-of-64-in-lists",
    "2",
    "Truncates names to 64 characters in lists.",
    Lists.changesAnimals((all) => all.map((animal) => ({ ...animal, name: animal.name.slice(0, 64) })))
  ),
  outsider(
    "names-trimmed-when-stored",
    "2",
    "Removes spaces around names.",
    AtHttp.pets(PetStores.changingInserted(({ name }) => ({ name: name.trim() || name }))),
    "Constraints on names are not shown."
  ),
  outsider(
    "emoji-as-question-mark",
    "2",
    "Replaces characters beyond the basic plane with question marks in retrievals.",
    changesAnimal(Requests.isGet, (animal) => ({
      ...animal,
      name: animal.name.replace(/[\u{10000}-\u{10ffff}]/gu, "?")
    }))
  ),
  outsider(
    "twice-when-many",
    "4.1",
    "Lists the last animal twice when there are more than five.",
    Lists.changesAnimals((all) =>
      all.length > 5 ? [...all.slice(0, -2), ...all.slice(-1), ...all.slice(-1)] : all
    )
  ),
  outsider(
    "no-category-zero",
    "4.1",
    "Omits animals of category 0 from lists.",
    Lists.changesAnimals((all) => all.filter(({ categoryId }) => categoryId !== 0n))
  ),
  outsider(
    "no-negative-categories",
    "4.1",
    "Omits animals of negative categories from lists.",
    Lists.changesAnimals((all) => all.filter(({ categoryId }) => categoryId >= 0n))
  ),
  outsider(
    "quotes-unescaped",
    "1",
    "Does not escape quotation marks in lists.",
    AtHttp.responses(
      { to: Requests.isList, status: 200 },
      Edit.rewritten((body) => body.replaceAll('\\"', '"'))
    )
  )
]
