/** Helpers of the broken servers that were written from the contract alone. */
import * as Effect from "effect/Effect"
import { text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Where, World } from "../Fault.ts"
import type { Choices } from "../plain/Choices.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Puts a fault of the transport on a plain server. */
export const onPlain = (where: Where, choices: Partial<Choices> = {}): Where =>
  where.at === "port" || where.transport === undefined
    ? { at: "plain", choices }
    : { at: "plain", choices, transport: where.transport }

type To = (request: WireRequest, world: World) => boolean

export const ofTiny: To = (request, { keys }) => Requests.hasKey(request, keys.tiny)

export const both =
  (...all: ReadonlyArray<To>): To =>
  (request, world) =>
    all.every((each) => each(request, world))

/** Changes names in the responses to some requests. */
export const names = (to: To, change: (name: string) => string): Where =>
  AtHttp.responses(
    { to, status: (status) => status < 300 },
    Edit.rewritten((body) =>
      body.replace(
        /"name":("(?:[^"\\]|\\.)*")/g,
        (_, name: string) => `"name":${JSON.stringify(change(JSON.parse(name)))}`
      )
    )
  )

/** Changes the text of a created name before the server reads it. */
export const reads = (change: (body: string) => string): Where =>
  AtHttp.requests(Requests.isCreation, (request) => ({
    ...request,
    body: new TextEncoder().encode(change(text(request.body)))
  }))

/** Treats requests for which `isAdmitted` as if they had the main key. */
export const admits = (
  isAdmitted: (credential: string, key: string, request: WireRequest, world: World) => boolean
): Where =>
  AtHttp.requests(
    (request, world) => isAdmitted(Requests.credentials(request)[0] ?? "", world.keys.main, request, world),
    (request, { keys }) => Requests.withKey(request, keys.main)
  )

/** Changes the response by another response of the server, which `other` asks for. */
export const instead = (
  isReplaced: (response: WireResponse, request: WireRequest, world: World) => boolean,
  other: (request: WireRequest, world: World) => WireRequest
): Where =>
  AtHttp.transport(
    (real, world) => (request) =>
      Effect.flatMap(real(request), (response) =>
        isReplaced(response, request, world) ? real(other(request, world)) : Effect.succeed(response)
      )
  )

/** Changes responses from the moment on at which `begins` is true of a response. */
export const after = (
  begins: (response: WireResponse, request: WireRequest, world: World) => boolean,
  edit: Edit.Edit,
  to: To = () => true
): Where =>
  AtHttp.transport((real, world) => {
    let hasBegun = false
    return (request) =>
      Effect.map(real(request), (response) => {
        const changed = hasBegun && to(request, world) ? edit(response, request, world) : response
        hasBegun ||= begins(response, request, world)
        return changed
      })
  })
