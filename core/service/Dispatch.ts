/** The second half of the pipeline, for admitted requests: route, method, content, validation, operation. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import { createPet } from "../operations/CreatePet.ts"
import { getPet } from "../operations/GetPet.ts"
import { listPets } from "../operations/ListPets.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import * as Cursor from "../validation/Cursor.ts"
import * as ListPetsParameters from "../validation/ListPetsParameters.ts"
import * as NewPetBody from "../validation/NewPetBody.ts"
import * as Answer from "./Answer.ts"
import type { Route } from "./Route.ts"
import * as ServiceOptions from "./ServiceOptions.ts"
import type { BodyConsumed, BodyTooLarge, ServiceRequest } from "./ServiceRequest.ts"

type Failure = ApiError.ApiError | StoreUnavailable

export const make = Effect.fnUntraced(function* (options: ServiceOptions.ServiceOptions) {
  const pets = yield* PetRepository
  const cursor = yield* Cursor.make(
    options.cursorKey ??
      (yield* Cursor.SharedKey) ??
      (yield* SecureRandom.SecureRandom.use((random) => random.randomBytes(32)))
  )
  const petsAddress = ServiceOptions.petsAddress(options)

  const list = Effect.fnUntraced(function* (query: string): Effect.fn.Return<Answer.Answer, Failure> {
    const parameters = yield* Effect.fromResult(ListPetsParameters.decode(query, options.strict))
    const { limit, status } = parameters
    const after =
      parameters.cursor === undefined ? undefined : yield* cursor.decode(parameters.cursor, status)
    if (parameters.cursor !== undefined && after === undefined) {
      return yield* Effect.fail(
        ApiError.make(
          "invalid_parameter",
          "cursor: must come from a Link header of the same list and filter."
        )
      )
    }
    const page = yield* listPets(pets, { limit, status, after })
    const body = `[${page.pets.map((pet) => pet.json).join(",")}]`
    if (page.next === undefined) return Answer.make(200, body)
    const next = yield* cursor.encode(page.next, status)
    const filter = status === undefined ? "" : `&status=${status}`
    return Answer.make(200, body, [
      ["Link", `<${petsAddress}?limit=${limit}${filter}&cursor=${next}>; rel="next"`]
    ])
  })

  const create = Effect.fnUntraced(function* (
    request: ServiceRequest,
    query: string,
    now: number
  ): Effect.fn.Return<Answer.Answer, Failure | BodyTooLarge | BodyConsumed> {
    const coding = request.header("content-encoding")
    if (coding !== undefined) return unsupportedCoding
    if (!isJson(request.header("content-type"))) return unsupportedType
    const bytes = yield* request.body(options.maxBodyBytes)
    yield* Effect.fromResult(ListPetsParameters.decodeNone(query, options.strict))
    const pet = yield* createPet(pets, yield* Effect.fromResult(NewPetBody.decode(bytes, options.strict)))
    const findable = Deprecation.phaseAt(options.getPetDeprecation, now) !== "removed"
    return Answer.make(201, pet.json, findable ? [["Location", `${petsAddress}/${pet.id}`]] : [])
  })

  const get = (petId: string, query: string, now: number): Effect.Effect<Answer.Answer, Failure> => {
    const parameters = ListPetsParameters.decodeNone(query, options.strict)
    if (Result.isFailure(parameters)) return Effect.fail(parameters.failure)
    return Effect.map(getPet(pets, petId, options.getPetDeprecation, now), (pet) =>
      Answer.make(200, pet.json)
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

const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined &&
  /^application\/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*$/i.test(contentType)

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
