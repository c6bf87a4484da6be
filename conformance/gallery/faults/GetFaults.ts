/** Backends with a fault in the retrieval of one animal. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import type { WireRequest, WireResponse } from "../../http/Wire.ts"
import type { Fault, Where } from "../Fault.ts"
import { found } from "../Found.ts"
import * as Rewrite from "../Rewrite.ts"

/** Sees another id than was asked for. */
const sees = (change: (segment: string) => string): Where => ({
  at: "http",
  transport: Rewrite.requests((request) => {
    const at = request.target.lastIndexOf("/") + 1
    return Rewrite.isGet(request)
      ? { ...request, target: request.target.slice(0, at) + change(request.target.slice(at)) }
      : request
  })
})

const says = (change: (response: WireResponse, request: WireRequest) => WireResponse): Where => ({
  at: "http",
  transport: Rewrite.answers((response, request) =>
    Rewrite.isGet(request) ? change(response, request) : response
  )
})

const error = (response: WireResponse, status: number, code: string): WireResponse =>
  Rewrite.withBody(
    Rewrite.withStatus(response, status),
    `{"code":"${code}","message":"It failed.","status":${status}}`
  )

const isPlain = ({ target }: WireRequest): boolean => /\/-?[0-9]{1,18}$/.test(target)

export const faults: ReadonlyArray<Fault> = [
  {
    id: "get.first-animal",
    does: "Answers every known id with the first animal.",
    breaks: "get.faithful",
    killedBy: "get.created",
    words: "} {id 1, name",
    where: {
      at: "http",
      pets: (real) => ({
        ...real,
        find: (id) =>
          Effect.flatMap(real.find(id), (found) =>
            Option.isSome(found) ? real.find(1n) : Effect.succeed(found)
          )
      })
    }
  },
  {
    id: "get.other-category",
    does: "Shows a single animal in category 0.",
    breaks: "get.faithful",
    killedBy: "get.created",
    words: "categoryId 0, available",
    where: {
      at: "http",
      pets: found(Option.map((pet) => new Pet(pet.id, { ...pet, categoryId: 0n })))
    }
  },
  {
    id: "get.sold-hidden",
    does: "Finds no animals that are sold.",
    breaks: "get.found",
    killedBy: "get.created",
    words: "200 with the Pet 404",
    where: {
      at: "http",
      pets: found(Option.filter(({ status }) => status !== "sold"))
    }
  },
  {
    id: "get.unknown-null",
    does: "Answers an unknown id with 200 and null.",
    breaks: "get.not-found",
    killedBy: "get.unknown",
    words: "404 with an Error body 200",
    where: says((response) =>
      response.status === 404 ? Rewrite.withBody(Rewrite.withStatus(response, 200), "null") : response
    )
  },
  {
    id: "get.made-up",
    does: "Makes up an animal for an unknown id.",
    breaks: "get.not-found",
    killedBy: "get.unknown",
    words: "404 with an Error body 200",
    where: {
      at: "http",
      pets: found((pet, id) =>
        pet.pipe(Option.orElseSome(() => new Pet(id, { name: "-", categoryId: 0n, status: "sold" })))
      )
    }
  },
  {
    id: "get.unknown-400",
    does: "Answers an unknown id with 400.",
    breaks: "get.not-found",
    killedBy: "get.unknown",
    words: "404 with an Error body 400",
    where: says((response) =>
      response.status === 404 ? error(response, 400, "invalid_parameter") : response
    )
  },
  {
    id: "get.malformed-500",
    does: "Fails within on an id that is no number.",
    breaks: "errors.no-5xx",
    killedBy: "get.no-integer",
    words: "400 or 404 with an Error body 500",
    where: says((response, request) => (isPlain(request) ? response : error(response, 500, "internal_error")))
  },
  {
    id: "get.leading-digits",
    does: "Reads an id as far as its digits go.",
    breaks: "get.not-found",
    killedBy: "get.no-integer",
    words: "400 or 404 with an Error body 200",
    where: sees((segment) => /^[0-9]+/.exec(segment)?.[0] ?? segment)
  },
  {
    id: "get.id-wraps",
    does: "Lets an id outside int64 run over.",
    breaks: "get.not-found",
    killedBy: "get.no-integer",
    words: "400 or 404 with an Error body 200",
    where: sees((segment) =>
      /^[0-9]+$/.test(segment) ? String(BigInt.asIntN(64, BigInt(segment))) : segment
    )
  },
  {
    id: "get.leading-zeros",
    does: "Takes 01 for 1.",
    breaks: "get.canonical-id",
    killedBy: "get.malformed",
    words: "not_found 200",
    where: sees((segment) => segment.replace(/^0+(?=[0-9])/, ""))
  },
  {
    id: "get.trims-id",
    does: "Ignores white space about an id.",
    breaks: "get.canonical-id",
    killedBy: "get.malformed",
    words: "not_found 200",
    where: sees((segment) => segment.replace(/^(?:%20)+|(?:%20|%0A)+$/g, ""))
  },
  {
    id: "get.malformed-400",
    does: "Answers an id that is no int64 with 400.",
    breaks: "get.malformed-id",
    killedBy: "get.malformed",
    words: "not_found 400",
    where: says((response, request) =>
      response.status === 404 && !isPlain(request) ? error(response, 400, "invalid_parameter") : response
    )
  },
  {
    id: "get.decodes-twice",
    does: "Decodes percent escapes twice.",
    breaks: "http.decoded-once",
    killedBy: "get.percent-encoded",
    words: "404 200, remaining",
    where: sees((segment) => segment.replaceAll("%25", "%"))
  },
  {
    id: "get.never-decodes",
    does: "Does not decode percent escapes.",
    breaks: "http.decoded-once",
    killedBy: "get.percent-encoded",
    words: "200 404, remaining",
    where: sees((segment) => segment.replaceAll("%", "%25"))
  }
]
