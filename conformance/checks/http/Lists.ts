/** Lists over HTTP, for laws about their parameters and pages (contract §4.1). */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import { expect, type Failure, Violation } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import * as Conversation from "../../http/Conversation.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text } from "../../http/Wire.ts"
import type { Animal } from "../Catalogue.ts"
import type { Http } from "../Http.ts"

/** Path and query of a list. */
export const pathOf = (query: string): string => (query === "" ? "/pets" : `/pets?${query}`)

/** What follows in a query that has a parameter already. */
export const statusParameter = (status: PetStatus | undefined): string =>
  status === undefined ? "" : `&status=${status}`

/** The animals of an answer that must be a list. */
export const listOf = ({ request, response }: Exchange): Effect.Effect<ReadonlyArray<Animal>, Violation> =>
  Effect.mapError(
    Effect.fromResult(
      response.status === 200
        ? Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals)
        : Result.fail(Conversation.outcome(response))
    ),
    (actual) => new Violation({ expected: `200 with a bare array of animals to ${request.target}`, actual })
  )

/** The animals of an answer that may also be a refusal: then none. */
export const listOrRefusal = (exchange: Exchange): Effect.Effect<ReadonlyArray<Animal>, Violation> =>
  exchange.response.status === 200 ? listOf(exchange) : Effect.succeed([])

/** The animals of a list with this query. */
export const list = (http: Http, query: string): Effect.Effect<ReadonlyArray<Animal>, Failure> =>
  Effect.flatMap(http.send({ path: pathOf(query) }), listOf)

/** The query must be refused as a wrong parameter. */
export const refused = (http: Http, query: string): Effect.Effect<void, Failure> =>
  Effect.flatMap(http.send({ path: pathOf(query) }), ({ response }) =>
    expect(
      response.status === 400 && ErrorBody.codeOf(response) === "invalid_parameter",
      `400 invalid_parameter to ?${query}`,
      Conversation.outcome(response)
    )
  )

/** Creates an animal of each status. */
export const createAll = (
  http: Http,
  trial: Trial,
  statuses: ReadonlyArray<PetStatus | undefined>
): Effect.Effect<ReadonlyArray<Animal>, Failure> => {
  const [categoryId = 1n] = http.facts.categories === "any" ? [] : http.facts.categories
  return Effect.forEach(statuses, (status) => http.create({ name: trial.name(), categoryId, status }))
}
