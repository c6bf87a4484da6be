/** Requests lists over HTTP, for laws about their parameters and pages (contract §4.1). */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text } from "../../http/Wire.ts"
import * as Conversation from "../../subjects/Conversation.ts"
import * as Creations from "./Creations.ts"

/** Returns the path and query of a list. */
export const pathOf = (query: string): string => (query === "" ? "/pets" : `/pets?${query}`)

/** Returns `&status=…` to append to a query; an empty string without a status. */
export const statusParameter = (status: PetStatus | undefined): string =>
  status === undefined ? "" : `&status=${status}`

/** Returns the animals in a response; fails unless it is 200 with a list. */
export const listOf = ({ request, response }: Exchange): Effect.Effect<ReadonlyArray<Animal>, Violation> =>
  Effect.mapError(
    Effect.fromResult(
      response.status === 200
        ? Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals)
        : Result.fail(Conversation.outcome(response))
    ),
    (actual) => new Violation({ expected: `200 with a bare array of animals to ${request.target}`, actual })
  )

/** Returns the animals in a response with status 200, and an empty array for any other status. */
export const listIfAccepted = (exchange: Exchange): Effect.Effect<ReadonlyArray<Animal>, Violation> =>
  exchange.response.status === 200 ? listOf(exchange) : Effect.succeed([])

/** The clauses that `expectSelected` checks. */
export const selectionClauses = ["list.status.filter", "list.distinct"] as const

/** Fails unless a list holds each animal once, and only animals with the status that `query` selects, if any. */
export const expectSelected = (
  animals: ReadonlyArray<Animal>,
  status: PetStatus | undefined,
  query: string
): Effect.Effect<void, Violation> => {
  const other = status === undefined ? undefined : animals.find((animal) => animal.status !== status)
  const seen = new Set<bigint>()
  const twice = animals.find(({ id }) => {
    if (seen.has(id)) return true
    seen.add(id)
    return false
  })
  return Effect.andThen(
    expect(
      other === undefined,
      `only ${status} animals in ${query}`,
      other === undefined ? "" : PetJson.line(other),
      "list.status.filter"
    ),
    expect(
      twice === undefined,
      `each animal once in ${query}`,
      twice === undefined ? "" : PetJson.line(twice),
      "list.distinct"
    )
  )
}

interface Known {
  /** All animals that the main key created, because two of them may have the same name, and any others. */
  readonly animals: ReadonlyArray<Animal>
  /** The prefix of the names that only this run creates. */
  readonly mark: string
}

/** Fails unless each animal that is known by its id or by its unique name has the known id, name and category. */
export const expectAgreement = (
  shown: ReadonlyArray<Animal>,
  { animals, mark }: Known,
  where: string,
  clause: "list.faithful" | "get.faithful" = "list.faithful"
): Effect.Effect<void, Violation> => {
  for (const [index, animal] of shown.entries()) {
    const known =
      animals.find(({ id }) => id === animal.id) ??
      // Other names, such as "abc", occur in each run, and in stores that already hold animals.
      (animal.name.startsWith(mark) ? animals.find(({ name }) => name === animal.name) : undefined)
    if (known !== undefined && !PetJson.isSameAnimal(known, animal)) {
      return expect(
        false,
        `number ${index + 1} of ${shown.length} in ${where} to be ${PetJson.line(known)}, as it was shown before`,
        PetJson.line(animal),
        clause
      )
    }
  }
  return Effect.void
}

/** Fetches the list with this query and returns its animals. */
export const list = (http: Http, query: string): Effect.Effect<ReadonlyArray<Animal>, Failure> =>
  Effect.flatMap(http.send({ path: pathOf(query) }), listOf)

/** Fails unless the query is rejected with 400 invalid_parameter. */
export const expectRejected = (http: Http, query: string): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.send({ path: pathOf(query) }), ({ response }) =>
    expect(
      response.status === 400 && ErrorBody.codeOf(response) === "invalid_parameter",
      `400 invalid_parameter to ?${query}`,
      Conversation.outcome(response)
    )
  )

/** Creates an animal for each status, in sequence. */
export const createAll = (
  http: Http,
  trial: Trial,
  statuses: ReadonlyArray<PetStatus | undefined>
): Effect.Effect<ReadonlyArray<Animal>, Failure> =>
  Effect.forEach(statuses, (status) => Creations.createOwn(http, trial, status))
