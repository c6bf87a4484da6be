/** Implements `GET /pets` (contract §4.1), which returns one page of animals by ascending id. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as PetJson from "../codec/PetJson.ts"
import type * as QueryParameters from "../codec/QueryParameters.ts"
import * as Page from "../domain/Page.ts"
import * as PetStatus from "../domain/PetStatus.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as Operation from "./Operation.ts"
import * as Schemas from "./Schemas.ts"

const limit: QueryParameters.QueryParameter<number> = {
  description: "Maximum number of animals returned.",
  schema: {
    type: "integer",
    minimum: Page.limit.min,
    maximum: Page.limit.max,
    default: Page.limit.default
  },
  decode: (text) => {
    if (text === undefined) return Result.succeed(Page.limit.default)
    return /^[1-9][0-9]{0,2}$/.test(text) && Number(text) <= Page.limit.max
      ? Result.succeed(Number(text))
      : Result.fail(`must be an integer from ${Page.limit.min} to ${Page.limit.max}`)
  }
}

const status: QueryParameters.QueryParameter<PetStatus.PetStatus | undefined> = {
  description: "Restricts the result to animals with that availability status.",
  schema: Schemas.ref("PetStatus"),
  decode: (text) =>
    text === undefined || PetStatus.is(text) ? Result.succeed(text) : Result.fail(PetStatus.message)
}

const cursor: QueryParameters.QueryParameter<string | undefined> = {
  description:
    "The start of the page. Opaque: follow the URLs in `Link` headers instead of constructing cursors.",
  schema: { type: "string" },
  decode: Result.succeed
}

const invalidCursor = ApiError.make(
  "invalid_parameter",
  "cursor: must come from a Link header of the same list and filter."
)

/** The query parameters of `listPets`. */
export const parameters = { limit, status, cursor }

export const listPets = Operation.make({
  id: "listPets",
  method: "GET",
  path: "/pets",
  summary: "List all animals",
  description:
    "Returns animals by ascending id. If there are more animals than fit on the page, the `Link` header contains the " +
    "URL of the next page.",
  query: parameters,
  success: {
    status: 200,
    description: "One page of animals.",
    schema: Schemas.ref("Pets"),
    examples: { pets: Schemas.examples.pets },
    headers: {
      "Link-Next": {
        description: 'URL of the next page, with `rel="next"`; absent on the last page.',
        example: (address) =>
          `<${address("/pets")}?limit=${Page.limit.default}&cursor=00000000000000148f14e45fceea167a>; rel="next"`
      }
    }
  },
  maxResponseBytes: ({ limit }) => limit * PetJson.MAX_BYTES,
  run: Effect.fnUntraced(function* ({
    address,
    cursors,
    pets,
    query: { cursor, limit, status }
  }: Operation.Input<QueryParameters.Values<typeof parameters>, undefined>) {
    const after = cursor === undefined ? undefined : yield* cursors.decode(cursor, status)
    if (cursor !== undefined && after === undefined) return yield* Effect.fail(invalidCursor)

    // Reads one animal more than the page shows, to detect whether there is a next page.
    const animals = yield* pets.page({ status, after, limit: limit + 1 })
    const last = animals[limit - 1]
    if (animals.length <= limit || last === undefined) return { body: PetJson.encodeAll(animals) }

    const filter = status === undefined ? "" : `&status=${status}`
    const next = `${address("/pets")}?limit=${limit}${filter}&cursor=${yield* cursors.encode(last.id, status)}`
    return {
      body: PetJson.encodeAll(animals.slice(0, limit)),
      headers: [["Link", `<${next}>; rel="next"`]]
    }
  })
})
