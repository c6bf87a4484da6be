/** The second half of the pipeline, for admitted requests: route, method, content, validation, operation. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import type { PageQuery } from "../domain/Page.ts"
import { jsonOf, type Pet } from "../domain/Pet.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { createPet } from "../operations/CreatePet.ts"
import { getPet } from "../operations/GetPet.ts"
import { listPets } from "../operations/ListPets.ts"
import * as Immediate from "../ports/Immediate.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import * as Cursor from "../validation/Cursor.ts"
import * as ListPetsParameters from "../validation/ListPetsParameters.ts"
import * as NewPetBody from "../validation/NewPetBody.ts"
import * as Answer from "./Answer.ts"
import type { Route } from "./Route.ts"
import * as ServiceOptions from "./ServiceOptions.ts"
import type { BodyConsumed, BodyTooLarge, ServiceRequest } from "./ServiceRequest.ts"
import type { Header } from "./ServiceResponse.ts"

/** Why an operation has no answer of its own. */
export type Failure = ApiError.ApiError | StoreUnavailable

export const make = Effect.fnUntraced(function* (options: ServiceOptions.ServiceOptions) {
  const pets = yield* PetRepository
  const cursor = yield* Cursor.make(
    options.cursorKey ??
      (yield* Cursor.SharedKey) ??
      (yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(32)))
  )
  const petsAddress = ServiceOptions.petsAddress(options)

  const list = (query: string): Effect.Effect<Answer.Answer, Failure> => {
    const parameters = ListPetsParameters.decode(query, options.strict)
    if (Result.isFailure(parameters)) return Effect.fail(parameters.failure)
    const { cursor: sent, limit, status } = parameters.success
    if (sent === undefined) return page({ limit, status, after: undefined })
    return Effect.flatMapEager(cursor.decode(sent, status), (after) =>
      after === undefined ? Effect.fail(foreignCursor) : page({ limit, status, after })
    )
  }

  const page = (asked: PageQuery): Effect.Effect<Answer.Answer, Failure> =>
    Effect.flatMapEager(Immediate.start(listPets(pets, asked)), ({ next, pets }) => {
      const { bytes, text } = jsonOf(pets)
      return next === undefined
        ? Effect.succeed(Answer.make(200, text, Answer.noHeaders, bytes))
        : Effect.mapEager(cursor.encode(next, asked.status), (sent) =>
            Answer.make(200, text, linkTo(sent, asked), bytes)
          )
    })

  // Kept for each limit, like the cursors: most lists are first pages. A cursor is that of one filter only.
  const latestLinks: Array<{ readonly next: string; readonly headers: ReadonlyArray<Header> } | undefined> =
    []

  const linkTo = (next: string, { limit, status }: PageQuery): ReadonlyArray<Header> => {
    const latest = latestLinks[limit]
    if (latest?.next === next) return latest.headers
    const filter = status === undefined ? "" : `&status=${status}`
    const link = `<${petsAddress}?limit=${limit}${filter}&cursor=${next}>; rel="next"`
    const headers: ReadonlyArray<Header> = [["Link", link]]
    latestLinks[limit] = { next, headers }
    return headers
  }

  const create = (
    request: ServiceRequest,
    query: string,
    now: number
  ): Effect.Effect<Answer.Answer, Failure | BodyTooLarge | BodyConsumed> => {
    if (request.header("content-encoding") !== undefined) return Effect.succeed(unsupportedCoding)
    if (!isJson(request.header("content-type"))) return Effect.succeed(unsupportedType)
    return Effect.flatMapEager(
      Immediate.start(request.body(options.maxBodyBytes)),
      (bytes): Effect.Effect<Answer.Answer, Failure> => {
        const parameters = ListPetsParameters.decodeNone(query, options.strict)
        if (Result.isFailure(parameters)) return Effect.fail(parameters.failure)
        const body = NewPetBody.decode(bytes, options.strict)
        if (Result.isFailure(body)) return Effect.fail(body.failure)
        return Effect.mapEager(Immediate.start(createPet(pets, body.success)), (pet) => created(pet, now))
      }
    )
  }

  const created = (pet: Pet, now: number): Answer.Answer => {
    const findable = Deprecation.phaseAt(options.getPetDeprecation, now) !== "removed"
    return Answer.make(201, pet.json, findable ? [["Location", `${petsAddress}/${pet.id}`]] : [])
  }

  const get = (petId: string, query: string, now: number): Effect.Effect<Answer.Answer, Failure> => {
    const parameters = ListPetsParameters.decodeNone(query, options.strict)
    if (Result.isFailure(parameters)) return Effect.fail(parameters.failure)
    const found = getPet(pets, petId, options.getPetDeprecation, now)
    return Effect.mapEager(Immediate.start(found), (pet) =>
      Answer.make(200, pet.json, Answer.noHeaders, pet.jsonBytes)
    )
  }

  /** Answers an admitted request at `now`; fails only when a store does or the host broke the rules. */
  return (
    route: Route | undefined,
    request: ServiceRequest,
    query: string,
    now: number
  ): Effect.Effect<Answer.Answer, Failure | BodyTooLarge | BodyConsumed> => {
    switch (route?.operation) {
      case "listPets":
        return list(query)
      case "createPet":
        return create(request, query, now)
      case "getPet":
        return get(route.petId, query, now)
      case undefined:
        return Effect.succeed(
          route === undefined ? unknownResource : unsupportedMethod(route, request.method)
        )
    }
  }
})

const foreignCursor = ApiError.make(
  "invalid_parameter",
  "cursor: must come from a Link header of the same list and filter."
)

/** JSON in UTF-8. Parameters may be empty: `application/json; ;charset=utf-8` (RFC 9110 §5.6.6). */
const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined &&
  /^application\/json(?:[ \t]*;)*(?:(?<=;)[ \t]*charset=(?:utf-8|"utf-8")(?:[ \t]*;)*)?[ \t]*$/i.test(
    contentType
  )

const unknownResource = Answer.error(ApiError.make("not_found"))

const unsupportedType = Answer.error(ApiError.make("unsupported_media_type"), [
  ["Accept", "application/json"]
])

const unsupportedCoding = Answer.error(ApiError.make("unsupported_media_type"), [
  ["Accept-Encoding", "identity"]
])

const unsupportedMethod = ({ resource }: Route, method: string): Answer.Answer =>
  method === "OPTIONS"
    ? Answer.make(204, "", [["Allow", resource.allow]])
    : Answer.error(ApiError.make("method_not_allowed"), [["Allow", resource.allow]])
