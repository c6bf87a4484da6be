/** Implements the catalogue for a subject over HTTP. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Catalogue, Listing } from "../evaluation/Catalogue.ts"
import { type Failure, postponed, Violation } from "../evaluation/Outcome.ts"
import type { Trial } from "../evaluation/Trial.ts"
import type { Animal, Draft } from "../http/Animal.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import type { Exchange } from "../http/Exchange.ts"
import * as PetJson from "../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import { text } from "../http/Wire.ts"
import * as Conversation from "./Conversation.ts"

/** Decodes the body of a response; fails with a `Violation` if the status or the body is not as expected. */
const decodeBody = <A>(
  exchange: Exchange,
  status: number,
  description: string,
  clauses: { readonly status: ClauseSlug; readonly body: ClauseSlug },
  decode: (value: unknown) => Result.Result<A, string>
): Effect.Effect<A, Violation> => {
  const { response } = exchange
  const decoded =
    response.status === status
      ? Result.flatMap(PetJson.parse(text(response.body)), decode)
      : Result.fail(Conversation.outcome(response))
  return Effect.mapError(
    Effect.fromResult(decoded),
    (actual) =>
      new Violation({
        expected: `${status} with ${description}`,
        actual,
        clause: response.status === status ? clauses.body : clauses.status
      })
  )
}

/** Returns the path and query of a list request. */
export const listPath = ({ limit, status }: Listing): string => {
  const parameters = [
    ...(limit === undefined ? [] : [`limit=${limit}`]),
    ...(status === undefined ? [] : [`status=${status}`])
  ]
  return parameters.length === 0 ? "/pets" : `/pets?${parameters.join("&")}`
}

/** A hint for rejected creations, because the contract lets a server accept only certain categories. */
const CATEGORY_HINT = "(if the server accepts only certain categories, declare them with --category)"

/** Creates an animal over a conversation; `categories` are the declared categories of the subject. */
export const create = (
  { sendPaced }: Conversation.Conversation,
  categories: "any" | ReadonlyArray<bigint>,
  draft: Draft,
  trial: Trial
): Effect.Effect<Animal, Failure> =>
  Effect.flatMap(
    sendPaced({ method: "POST", path: "/pets", json: PetJson.draft(draft) }, trial),
    (exchange) =>
      Effect.mapError(
        decodeBody(
          exchange,
          201,
          "the created Pet",
          { status: "create.status-201", body: "create.returns-created" },
          PetJson.animal
        ),
        (violation) =>
          exchange.response.status === 400 && categories === "any"
            ? new Violation({ ...violation, actual: `${violation.actual} ${CATEGORY_HINT}` })
            : violation
      )
  )

/**
 * Creates a function that returns the animals that the main key of a conversation has created so far and not deleted, as
 * the responses showed them. It parses each response only once.
 */
export const trackCreated = ({ exchanges }: Conversation.Conversation): (() => ReadonlyArray<Animal>) => {
  const created: Array<Animal> = []
  let parsed = 0
  return () => {
    for (const exchange of exchanges.slice(parsed)) {
      // A server may have a catalogue for each key, although ids are unique (§2).
      const animal = exchange.key === "main" ? CreatedAnimal.of(exchange) : undefined
      if (animal !== undefined) created.push(animal)
      const deletedId = CreatedAnimal.deletedIdOf(exchange)
      const index = deletedId === undefined ? -1 : created.findIndex(({ id }) => String(id) === deletedId)
      if (index >= 0) created.splice(index, 1)
    }
    parsed = exchanges.length
    return [...created]
  }
}

/** Creates the catalogue of one evaluation; `categories` are the declared categories of the subject. */
export const make = (
  conversation: Conversation.Conversation,
  categories: "any" | ReadonlyArray<bigint>,
  trial: Trial
): Catalogue => ({
  isShared: true,
  categoryOf: (wanted) =>
    categories === "any"
      ? wanted
      : (categories[Number(BigInt.asUintN(32, wanted)) % categories.length] ?? wanted),
  create: (draft) => create(conversation, categories, draft, trial),
  list: (listing) =>
    Effect.flatMap(conversation.sendPaced({ path: listPath(listing) }, trial), (exchange) =>
      decodeBody(
        exchange,
        200,
        "an array of Pet",
        { status: "list.status-200", body: "list.array" },
        PetJson.animals
      )
    ),
  get: Effect.fnUntraced(function* (id: bigint): Effect.fn.Return<Option.Option<Animal>, Failure> {
    const exchange = yield* conversation.sendPaced({ path: `/pets/${id}` }, trial)
    const { status } = exchange.response
    const isRemovalNear = exchange.receivedAt >= REMOVAL_BEGINS
    if (status !== 200 && isRemovalNear) {
      return yield* postponed("by the server's date GET /pets/{petId} is removed, or soon will be")
    }
    if (status === 404) return Option.none()
    return Option.some(
      yield* decodeBody(
        exchange,
        200,
        "the Pet, or 404",
        { status: "get.found", body: "get.faithful" },
        PetJson.animal
      )
    )
  })
})
